import type { Clock } from '@bubbles/kernel/clock.ts';
import { backoffMs } from '@bubbles/kernel/concurrency.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import type { ConsumeMessage } from 'amqplib';
import { faultReason, handleMessage } from './amqp/handle-message.ts';
import type { MessageCopies } from './amqp/message-copies.ts';
import { DELIVERY_LIMIT, queueName } from './amqp/queues.ts';
import type { EventHandler } from './bus.ts';

/** What the broker is told: `ack`, done with it; `reject`, its handler failed; `wait` tells nothing, the message is kept for another try. */
export type Disposition = 'ack' | 'reject' | 'wait';

export interface ReceivedMessage {
  readonly message: ConsumeMessage;
  /** On the monotonic clock. */
  readonly receivedAt: number;
}

export interface MessageHandlerOptions {
  readonly eventHandler: EventHandler;
  readonly copies: MessageCopies;
  readonly clock: Clock;
  readonly log: Log;
  readonly jitter: () => number;
  /** Ends every wait. */
  readonly signal: AbortSignal;
  readonly onBackoffEnd: () => void;
}

/** The handler of a consumer with its backoff: while the consumer itself is in trouble nothing is handed to it. */
export interface MessageHandler {
  /** Never rejects. */
  handle(received: ReceivedMessage): Promise<Disposition>;
  isBackingOff(): boolean;
}

/** Redelivered this often, a message may be what ends the process that holds it. */
const SUSPECT_DELIVERIES = 2;
/** A fault is tried again after at most this long. */
const MOST_RETRY_MS = 1000;
/** Well below the half hour after which the broker takes an unacknowledged message back and counts a delivery. */
const MOST_HELD_MS = 10 * 60_000;

const deliveryCount = ({ properties }: ConsumeMessage): number => Number(properties.headers?.['x-delivery-count'] ?? 0);

export const isPoisonSuspect = (message: ConsumeMessage): boolean =>
  message.fields.redelivered && deliveryCount(message) >= SUSPECT_DELIVERIES;

export const createMessageHandler = (options: MessageHandlerOptions): MessageHandler => {
  const { eventHandler, copies, clock, log, jitter, signal } = options;
  const { consumer, event } = eventHandler;
  const queue = queueName(consumer, event.type);
  const sleep = (ms: number) => clock.sleepUntil(new Date(clock.now().getTime() + ms), 'poll', signal);
  const backoff = consumerBackoff({ queue, log, jitter, sleep, onEnd: () => !signal.aborted && options.onBackoffEnd() });

  const ackOnceCopied = async (copy: Promise<void>): Promise<Disposition> => {
    try {
      await copy;
      return 'ack';
    } catch (error) {
      backoff.begin(error);
      return 'wait';
    }
  };
  const deadLetter = (message: ConsumeMessage, reason: string) => ackOnceCopied(copies.deadLetter({ consumer, queue, message, reason }));
  /** A copy at the end of the queue begins with no deliveries and no time held. */
  const postpone = ({ message, receivedAt }: ReceivedMessage, error: unknown): Disposition | Promise<Disposition> => {
    backoff.begin(error);
    return clock.monotonic() - receivedAt < MOST_HELD_MS ? 'wait' : ackOnceCopied(copies.requeue(queue, message));
  };
  const retry = async (message: ConsumeMessage, error: unknown): Promise<Disposition> => {
    const faults = deliveryCount(message) + 1;
    log.warn('event handler failed', { queue, message: message.properties.messageId, faults, error });
    if (faults > DELIVERY_LIMIT) return deadLetter(message, faultReason(error));
    await sleep(backoffMs(faults, jitter, MOST_RETRY_MS));
    return 'reject';
  };

  return {
    isBackingOff: backoff.isOn,
    async handle(received) {
      const { message } = received;
      const result = await handleMessage(eventHandler, message.content);
      if (result.kind === 'unavailable') return postpone(received, result.error);
      backoff.reset();
      if (result.kind === 'unreadable') return deadLetter(message, result.reason);
      if (result.kind === 'fault') return retry(message, result.error);
      return 'ack';
    },
  };
};

interface BackoffOptions {
  readonly queue: string;
  readonly log: Log;
  readonly jitter: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  readonly onEnd: () => void;
}

/** Longer with each failure in a row; begun once, however many messages meet the same trouble. */
const consumerBackoff = ({ queue, log, jitter, sleep, onEnd }: BackoffOptions) => {
  let failures = 0;
  let on = false;
  const wait = async (ms: number) => {
    on = true;
    await sleep(ms);
    on = false;
    onEnd();
  };
  return {
    isOn: () => on,
    begin(error: unknown) {
      if (on) return;
      const delayMs = backoffMs(failures, jitter);
      failures += 1;
      log.warn('consumer unavailable, backing off', { queue, failures, delayMs, error });
      void wait(delayMs);
    },
    reset() {
      if (!on) failures = 0;
    },
  };
};
