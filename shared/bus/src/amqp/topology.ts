import type { Clock } from '@bubbles/kernel/clock.ts';
import type { Channel } from 'amqplib';
import type { EventDefinition } from '../bus.ts';
import { DELIVERY_LIMIT, deadQueueName, EVENTS_EXCHANGE, queueName } from './queues.ts';
import { withChannel } from './with-channel.ts';

export interface TopologyOptions {
  readonly url: string;
  readonly definitions: readonly EventDefinition[];
  readonly clock: Clock;
}

/** A quorum queue younger than a second does not survive a crash of its node. */
const SETTLING_MS = 2000;

/** What no consumer ever comes for must not fill the disk: beyond it the publisher is refused and keeps the event. */
const MOST_WAITING = 1_000_000;
const MOST_DEAD = 100_000;
/** Looking at a dead letter returns it; that must never use up its deliveries. */
const DEAD_DELIVERY_LIMIT = 1_000_000;

/**
 * The exchange, and for each consumer its queues, their bindings and its dead-letter queue. Safe to repeat. The limits are arguments and not a
 * policy, so that no queue is ever without them and the job needs nothing but AMQP: they mean the same on RabbitMQ 3.10 and 4.x. A policy can still
 * tighten them; other arguments need a queue of another name.
 */
export const declareTopology = ({ url, definitions, clock }: TopologyOptions): Promise<void> =>
  withChannel(url, async (channel) => {
    await channel.assertExchange(EVENTS_EXCHANGE, 'topic', { durable: true });
    for (const { type, consumers } of definitions) for (const consumer of consumers) await declareQueue(channel, consumer, type);
    await clock.sleepUntil(new Date(clock.now().getTime() + SETTLING_MS), 'due');
  });

/** One consumer's queue of one type, bound to the exchange, with the dead-letter queue behind it. */
export const declareQueue = async (channel: Channel, consumer: string, type: string): Promise<void> => {
  const dead = deadQueueName(consumer);
  const queue = queueName(consumer, type);
  await channel.assertQueue(dead, {
    durable: true,
    arguments: {
      'x-queue-type': 'quorum',
      'x-delivery-limit': DEAD_DELIVERY_LIMIT,
      'x-max-length': MOST_DEAD,
      'x-overflow': 'reject-publish',
    },
  });
  await channel.assertQueue(queue, {
    durable: true,
    arguments: {
      'x-queue-type': 'quorum',
      'x-delivery-limit': DELIVERY_LIMIT,
      'x-max-length': MOST_WAITING,
      'x-overflow': 'reject-publish',
      'x-dead-letter-exchange': '',
      'x-dead-letter-routing-key': dead,
      'x-dead-letter-strategy': 'at-least-once',
    },
  });
  await channel.bindQueue(queue, EVENTS_EXCHANGE, type);
};
