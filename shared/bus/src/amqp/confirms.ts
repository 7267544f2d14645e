import type { Clock } from '@bubbles/kernel/clock.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import type { ConfirmChannel, Options } from 'amqplib';
import { BusUnavailable, type PublishOutcome } from '../bus.ts';
import { CLOUD_EVENT_TYPE } from '../cloud-event.ts';

export interface OutgoingMessage {
  readonly exchange: string;
  readonly routingKey: string;
  readonly body: Buffer;
  readonly messageId: string;
  /** Whether a message that reaches no queue is refused. */
  readonly mandatory: boolean;
  readonly headers?: Readonly<Record<string, unknown>>;
}

interface ConfirmsOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** How long the broker may take to confirm, not counting the time while it accepts no messages. */
  readonly limitMs: number;
  readonly isBlocked: () => boolean;
  /** Called with a channel on which a confirm does not come in time. */
  readonly giveUp: (channel: ConfirmChannel) => void;
}

interface Confirms {
  /** Sends at once; `confirmed` rejects with `BusUnavailable`. When not `flowing`, the write buffer is full: the next message waits for `drain`. */
  send(channel: ConfirmChannel, message: OutgoingMessage): { readonly flowing: boolean; readonly confirmed: Promise<void> };
  /** The broker returns a message that it cannot route before it confirms that message. */
  returned(correlationId: unknown): void;
  stop(): void;
}

interface Pending {
  readonly channel: ConfirmChannel;
  /** On the stopwatch, which stands still while the broker accepts no messages. */
  readonly since: number;
  wasReturned: boolean;
  refuse(reason: string, outcome: Exclude<PublishOutcome, 'confirmed'>, cause?: unknown): void;
}

const CHECK_INTERVAL_MS = 1000;

export const createConfirms = ({ clock, log, limitMs, isBlocked, giveUp }: ConfirmsOptions): Confirms => {
  const pending = new Map<string, Pending>();
  const stopping = new AbortController();
  const tickMs = Math.min(CHECK_INTERVAL_MS, limitMs);
  let serial = 0;
  let stopwatchMs = 0;
  let watching = false;

  /** A queue without a leader never confirms. Whether the broker has those messages is unknown then; a new channel starts without them. */
  const watch = async () => {
    watching = true;
    while (pending.size > 0 && !stopping.signal.aborted) {
      const before = clock.monotonic();
      await clock.sleepUntil(new Date(clock.now().getTime() + tickMs), 'poll', stopping.signal);
      if (!isBlocked()) stopwatchMs += clock.monotonic() - before;
      const [oldest] = pending.values();
      if (oldest && stopwatchMs - oldest.since >= limitMs) abandon(oldest.channel);
    }
    watching = false;
  };
  const abandon = (channel: ConfirmChannel) => {
    log.error('broker does not confirm', { pending: pending.size, waitedMs: limitMs });
    for (const message of [...pending.values()]) message.refuse('the broker did not confirm in time', 'timeout');
    giveUp(channel);
  };

  return {
    send(channel, message) {
      serial += 1;
      const id = String(serial);
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const refuse: Pending['refuse'] = (reason, outcome, cause) => {
        pending.delete(id);
        reject(new BusUnavailable(reason, cause, outcome));
      };
      const state: Pending = { channel, since: stopwatchMs, wasReturned: false, refuse };
      const answer = (error: unknown) => {
        if (error) return refuse('the broker did not take the message', 'failed', error);
        if (state.wasReturned) return refuse(`no queue takes ${message.routingKey}`, 'returned');
        pending.delete(id);
        resolve();
      };
      const flowing = channel.publish(message.exchange, message.routingKey, message.body, optionsOf(message, id), answer);
      pending.set(id, state);
      if (!watching) void watch();
      return { flowing, confirmed: promise };
    },
    returned(correlationId) {
      const message = pending.get(String(correlationId));
      if (message) message.wasReturned = true;
    },
    stop: () => stopping.abort(),
  };
};

const optionsOf = ({ messageId, mandatory, headers }: OutgoingMessage, correlationId: string): Options.Publish => ({
  persistent: true,
  contentType: CLOUD_EVENT_TYPE,
  messageId,
  correlationId,
  mandatory,
  ...(headers && { headers }),
});
