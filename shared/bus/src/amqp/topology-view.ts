import { errorCode } from '@bubbles/kernel/errors.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import type { Channel, ChannelModel } from 'amqplib';
import { type EventDefinition, queueName } from '../bus.ts';
import { deadQueueName, EVENTS_EXCHANGE } from '../operations/topology.ts';
import { closeQuietly, listenTo } from './connection.ts';

/** AMQP reply code for a missing exchange or queue. */
export const NOT_FOUND = 404;

/** Describes the exchange or queue that an event lacks; null when none is missing. Uses its own channel, because a failed check closes it. */
export const missingPart = async (model: ChannelModel, { type, consumers }: EventDefinition, log: Log): Promise<string | null> => {
  const channel = listenTo(await model.createChannel(), log);
  let part = `the exchange ${EVENTS_EXCHANGE}`;
  try {
    await channel.checkExchange(EVENTS_EXCHANGE);
    for (const consumer of consumers) {
      part = `the queue ${queueName(consumer, type)}`;
      await channel.checkQueue(queueName(consumer, type));
    }
  } catch (error) {
    if (errorCode(error) === NOT_FOUND) return part;
    throw error;
  }
  closeQuietly(channel, log);
  return null;
};

/** Number of messages in the dead-letter queue of each consumer. */
export const countDeadLetters = async (
  model: ChannelModel,
  consumers: readonly string[],
  log: Log,
): Promise<ReadonlyMap<string, number>> => {
  const counts = new Map<string, number>();
  const channel = listenTo(await model.createChannel(), log);
  for (const consumer of new Set(consumers)) counts.set(consumer, (await channel.checkQueue(deadQueueName(consumer))).messageCount);
  closeQuietly(channel, log);
  return counts;
};

/** State of a queue: consumed or not, and whether the broker lacks it. */
export const createQueueView = (queue: string, log: Log) => {
  const part = `the queue ${queue}`;
  let consuming: Channel | null = null;
  let isMissing = false;
  return {
    isConsumed: () => consuming !== null,
    missing: () => (isMissing ? part : null),
    /** Records the result of starting to consume, and the later end of the channel. */
    async during(channel: Channel, starting: Promise<void>) {
      try {
        await starting;
      } catch (error) {
        if (errorCode(error) === NOT_FOUND && !isMissing) log.error('topology is older than this release, run its job', { missing: part });
        isMissing = errorCode(error) === NOT_FOUND;
        throw error;
      }
      isMissing = false;
      consuming = channel;
      channel.once('close', () => {
        if (consuming === channel) consuming = null;
      });
    },
  };
};
