import type { ConfirmChannel, GetMessage } from 'amqplib';
import { lastQueueOf, ORIGIN_HEADER, REASON_HEADER } from './message-copies.ts';
import { deadQueueName } from './queues.ts';
import { withChannel } from './with-channel.ts';

export interface RedriveOptions {
  readonly url: string;
  readonly consumer: string;
  /** At most so many; all that are there when absent. */
  readonly limit?: number;
}

export interface Redriven {
  readonly moved: number;
  /** Dead letters that do not say where they were, or whose queue is gone: they stay. */
  readonly kept: number;
}

/** Sends a consumer's dead letters back to the queues they came from, as if they had never been delivered. */
export const redrive = ({ url, consumer, limit = Number.POSITIVE_INFINITY }: RedriveOptions): Promise<Redriven> =>
  withChannel(url, (channel) => moveAll(channel, deadQueueName(consumer), limit));

const moveAll = async (channel: ConfirmChannel, dead: string, limit: number): Promise<Redriven> => {
  const { messageCount } = await channel.checkQueue(dead);
  const kept: GetMessage[] = [];
  const most = Math.min(messageCount, limit);
  let moved = 0;
  while (moved + kept.length < most) {
    const message = await channel.get(dead);
    if (message === false) break;
    if (await sendBack(channel, message)) {
      channel.ack(message);
      moved += 1;
    } else kept.push(message);
  }
  for (const message of kept) channel.nack(message, false, true);
  return { moved, kept: kept.length };
};

/** False when the queue that the message came from is not known or gone. */
const sendBack = async (channel: ConfirmChannel, { properties, content }: GetMessage): Promise<boolean> => {
  const origin = lastQueueOf(properties.headers ?? {});
  if (origin === null) return false;
  const routed = Promise.withResolvers<boolean>();
  const onReturn = () => routed.resolve(false);
  channel.once('return', onReturn);
  const { messageId, contentType } = properties;
  const options = { persistent: true, mandatory: true, messageId, contentType, headers: livingHeaders(properties.headers ?? {}) };
  channel.publish('', origin, content, options, (error) => (error ? routed.reject(error) : routed.resolve(true)));
  try {
    return await routed.promise;
  } finally {
    channel.off('return', onReturn);
  }
};

/** Deaths and deliveries are over: kept, they would count against the message again. */
const livingHeaders = (headers: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !isOfDeath(name)));

const isOfDeath = (name: string): boolean =>
  name === REASON_HEADER || name === ORIGIN_HEADER || name === 'x-delivery-count' || /^x-(first-|last-)?death/.test(name);
