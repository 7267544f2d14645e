import type { Clock } from '@bubbles/kernel/clock.ts';
import { backoffMs } from '@bubbles/kernel/concurrency.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import type { ConsumeMessage } from 'amqplib';
import { type EventHandler, queueName } from '../bus.ts';
import { DELIVERY_LIMIT, faultReason, type HandlerResult, handleMessage } from '../cloud-event.ts';
import { ORIGIN_HEADER, REASON_HEADER } from '../operations/dead-letters.ts';
import { deadQueueName, QUEUES_EXCHANGE } from '../operations/topology.ts';
import type { Publisher } from './publisher.ts';

/** What the broker is told: `ack`, the message is done; `reject`, its handler failed; `wait`, nothing yet, the message is kept for another try. */
export type Disposition = 'ack' | 'reject' | 'wait';

export interface ReceivedMessage {
  readonly message: ConsumeMessage;
  /** On the monotonic clock. */
  readonly receivedAt: number;
}

interface MessageHandlerOptions {
  readonly consumer: string;
  readonly eventHandler: EventHandler;
  /** Publishes copies of messages: dead letters, and messages that were kept too long. */
  readonly publisher: Pick<Publisher, 'publish'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly jitter: () => number;
  /** Ends every wait. */
  readonly signal: AbortSignal;
  readonly onBackoffEnd: () => void;
}

/** Handles the messages of one consumer. While it backs off, because something that the consumer needs is away, no message may be handed to it. */
export interface MessageHandler {
  /** Notes a delivery; its time is when the message came. */
  receive(message: ConsumeMessage): ReceivedMessage;
  /** Never rejects. */
  handle(received: ReceivedMessage): Promise<Disposition>;
  isBackingOff(): boolean;
  /** From the first message that has to wait until one that need not, also while the next try runs. */
  isUnavailable(): boolean;
}

/** A message that was redelivered this often may be what ends the process that handles it. */
const SUSPECT_DELIVERIES = 2;
/** A fault is tried again after at most this long. */
const MAX_RETRY_MS = 1000;
/** Well below the half hour after which the broker takes an unacknowledged message back and counts a delivery. */
const MAX_KEPT_MS = 10 * 60_000;
/** All headers of a message have 64 KiB. */
const MAX_REASON_LENGTH = 1000;

const deliveryCount = ({ properties }: ConsumeMessage): number => Number(properties.headers?.['x-delivery-count'] ?? 0);

export const isPoisonSuspect = (message: ConsumeMessage): boolean =>
  message.fields.redelivered && deliveryCount(message) >= SUSPECT_DELIVERIES;

export const createMessageHandler = (options: MessageHandlerOptions): MessageHandler => {
  const { consumer, eventHandler, publisher, clock, log, jitter, signal } = options;
  const queue = queueName(consumer, eventHandler.event.type);
  const sleep = (ms: number) => clock.sleepUntil(new Date(clock.now().getTime() + ms), 'poll', signal);
  const onEnd = () => !signal.aborted && options.onBackoffEnd();
  const backoff = createBackoff({ queue, log, sleep, delayMs: (failures) => backoffMs(failures, jitter), onEnd });

  /** Acknowledges the message once the broker holds a copy of it at the end of another queue, or of the same. */
  const moveTo = async (routingKey: string, { content, properties }: ConsumeMessage, headers: Readonly<Record<string, string>>) => {
    const messageId = String(properties.messageId);
    try {
      await publisher.publish({ exchange: QUEUES_EXCHANGE, routingKey, body: content, messageId, mandatory: true, headers });
      return 'ack';
    } catch (error) {
      backoff.begin(error);
      return 'wait';
    }
  };
  const deadLetter = async (message: ConsumeMessage, reason: string): Promise<Disposition> => {
    const headers = { [REASON_HEADER]: reason.slice(0, MAX_REASON_LENGTH), [ORIGIN_HEADER]: queue };
    const disposition = await moveTo(deadQueueName(consumer), message, headers);
    if (disposition === 'ack') {
      backoff.reset();
      eventHandler.onDeadLetter?.();
      log.error('message dead-lettered', { queue, messageId: message.properties.messageId, reason });
    }
    return disposition;
  };
  /** A copy at the end of the queue starts with no deliveries and is kept from then on. */
  const postpone = ({ message, receivedAt }: ReceivedMessage, error: unknown): Disposition | Promise<Disposition> => {
    backoff.begin(error);
    return clock.monotonic() - receivedAt < MAX_KEPT_MS ? 'wait' : moveTo(queue, message, {});
  };
  const retry = async (message: ConsumeMessage, error: unknown): Promise<Disposition> => {
    const faults = deliveryCount(message) + 1;
    log.warn('event handler failed', { queue, messageId: message.properties.messageId, faults, error });
    if (faults > DELIVERY_LIMIT) return deadLetter(message, faultReason(error));
    backoff.reset();
    await sleep(backoffMs(faults, jitter, MAX_RETRY_MS));
    return 'reject';
  };

  const settle = (received: ReceivedMessage, result: HandlerResult): Disposition | Promise<Disposition> => {
    const { message } = received;
    if (result.kind === 'unavailable') return postpone(received, result.error);
    if (result.kind === 'unreadable') return deadLetter(message, result.reason);
    if (result.kind === 'fault') return retry(message, result.error);
    backoff.reset();
    return 'ack';
  };

  return {
    isBackingOff: backoff.isOn,
    isUnavailable: backoff.hasFailures,
    receive(message) {
      eventHandler.onDelivery?.(message.fields.redelivered);
      return { message, receivedAt: clock.monotonic() };
    },
    handle: (received) => handleMessage(eventHandler, received.message.content, (result) => settle(received, result)),
  };
};

interface BackoffOptions {
  readonly queue: string;
  readonly log: Log;
  readonly sleep: (ms: number) => Promise<void>;
  readonly delayMs: (failures: number) => number;
  readonly onEnd: () => void;
}

/** Longer with each failure in a row; begun once, however many messages fail together. */
const createBackoff = ({ queue, log, sleep, delayMs, onEnd }: BackoffOptions) => {
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
    hasFailures: () => failures > 0,
    begin(error: unknown) {
      if (on) return;
      const ms = delayMs(failures);
      failures += 1;
      log.warn('consumer unavailable, backing off', { queue, failures, delayMs: ms, error });
      void wait(ms);
    },
    reset() {
      if (!on) failures = 0;
    },
  };
};
