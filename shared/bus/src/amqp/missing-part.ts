import { errorCode } from '@bubbles/kernel/errors.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import type { ChannelModel } from 'amqplib';
import { type EventDefinition, queueName } from '../bus.ts';
import { EVENTS_EXCHANGE } from '../operations/topology.ts';
import { closeQuietly, listenTo } from './connection.ts';

/** The reply code of AMQP for an exchange or a queue that does not exist. */
export const NOT_FOUND = 404;

/** What the topology of the broker lacks for an event, in words; null when nothing. On a channel of its own, which a missing part closes. */
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
