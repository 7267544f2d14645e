import type { ConfirmChannel, GetMessage } from 'amqplib';
import { deadQueueName, QUEUES_EXCHANGE, withChannel } from './topology.ts';

/** Why the message was dead-lettered, and the queue that it was in: an operator reads both, `redrive` the second. */
export const REASON_HEADER = 'x-bubbles-reason';
export const ORIGIN_HEADER = 'x-bubbles-queue';

interface DeadLetter {
  readonly messageId: string;
  /** The queue that it was in; null when no header says. */
  readonly queue: string | null;
  /** Empty for a message that the broker itself dead-lettered. */
  readonly reason: string;
  readonly body: string;
}

interface ListDeadLettersOptions {
  readonly url: string;
  readonly consumer: string;
  readonly limit: number;
}

/** The oldest dead letters of a consumer, which stay where they are. */
export const listDeadLetters = ({ url, consumer, limit }: ListDeadLettersOptions): Promise<readonly DeadLetter[]> =>
  withChannel(url, async (channel) => {
    const letters: DeadLetter[] = [];
    while (letters.length < limit) {
      const message = await channel.get(deadQueueName(consumer));
      if (message === false) break;
      const { headers = {}, messageId } = message.properties;
      letters.push({
        messageId: String(messageId),
        queue: lastQueueOf(headers),
        reason: String(headers[REASON_HEADER] ?? ''),
        body: message.content.toString(),
      });
    }
    // Closing the channel returns them to the queue.
    return letters;
  });

interface RedriveOptions {
  readonly url: string;
  readonly consumer: string;
  /** How many at most; all when absent. */
  readonly limit?: number;
}

interface Redriven {
  readonly moved: number;
  /** Dead letters that stay: no header names their queue, or the queue is gone. */
  readonly kept: number;
}

/** Sends a consumer's dead letters back to the queues that they came from, as if they had never been delivered. */
export const redrive = ({ url, consumer, limit = Number.POSITIVE_INFINITY }: RedriveOptions): Promise<Redriven> =>
  withChannel(url, async (channel) => {
    const dead = deadQueueName(consumer);
    const { messageCount } = await channel.checkQueue(dead);
    const kept: GetMessage[] = [];
    let moved = 0;
    while (moved + kept.length < Math.min(messageCount, limit)) {
      const message = await channel.get(dead);
      if (message === false) break;
      if (await sendBack(channel, message)) {
        channel.ack(message);
        moved += 1;
      } else kept.push(message);
    }
    for (const message of kept) channel.nack(message, false, true);
    return { moved, kept: kept.length };
  });

/** False when the queue that the message came from is unknown or gone. */
const sendBack = async (channel: ConfirmChannel, { properties, content }: GetMessage): Promise<boolean> => {
  const headers: Readonly<Record<string, unknown>> = properties.headers ?? {};
  const origin = lastQueueOf(headers);
  if (origin === null) return false;
  const routed = Promise.withResolvers<boolean>();
  const onReturn = () => routed.resolve(false);
  channel.once('return', onReturn);
  const { messageId, contentType } = properties;
  const options = { persistent: true, mandatory: true, messageId, contentType, headers: withoutDeath(headers) };
  channel.publish(QUEUES_EXCHANGE, origin, content, options, (error) => (error ? routed.reject(error) : routed.resolve(true)));
  try {
    return await routed.promise;
  } finally {
    channel.off('return', onReturn);
  }
};

const lastQueueOf = (headers: Readonly<Record<string, unknown>>): string | null => {
  const origin = headers[ORIGIN_HEADER] ?? headers['x-first-death-queue'];
  return typeof origin === 'string' ? origin : null;
};

/** Earlier deaths and deliveries would count against the message again. */
const withoutDeath = (headers: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !isOfDeath(name)));

const isOfDeath = (name: string): boolean =>
  name === REASON_HEADER || name === ORIGIN_HEADER || name === 'x-delivery-count' || /^x-(first-|last-)?death/.test(name);
