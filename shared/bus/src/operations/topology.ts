import type { Clock } from '@bubbles/kernel/clock.ts';
import { errorCode } from '@bubbles/kernel/errors.ts';
import { type Channel, type ConfirmChannel, connect } from 'amqplib';
import { BusUnavailable, type EventDefinition, queueName } from '../bus.ts';
import { DELIVERY_LIMIT } from '../cloud-event.ts';

/** Names are a contract of publishers, consumers, the topology job and operators. */
export const EVENTS_EXCHANGE = 'bubbles.events';
/**
 * Routes messages to one queue by its name. The default exchange would do the same, but the right to write to it opens every queue; on a topic exchange
 * the routing keys of a user can be limited.
 */
export const QUEUES_EXCHANGE = 'bubbles.queues';

/** One dead-letter queue for each consumer, with messages of all its event types. */
export const deadQueueName = (consumer: string): string => `${consumer}.dead`;

interface TopologyOptions {
  readonly url: string;
  readonly definitions: readonly EventDefinition[];
  readonly clock: Clock;
}

/** A quorum queue younger than a second does not survive a crash of its node. */
const SETTLING_MS = 2000;

/** A queue that no consumer empties must not fill the disk: beyond this length the publisher is refused and keeps the event. */
const MAX_QUEUE_LENGTH = 1_000_000;
const MAX_DEAD_LETTERS = 100_000;
/** Listing a dead letter returns it to its queue, which counts as a delivery; that must never use up its deliveries. */
const DEAD_DELIVERY_LIMIT = 1_000_000;

/**
 * Declares the exchanges, and for each consumer its queues, their bindings and its dead-letter queue. Safe to repeat. The limits are queue arguments, not
 * a policy, so that no queue is ever without them and the job needs nothing but AMQP: they mean the same on RabbitMQ 3.10 and 4.x. A policy can tighten
 * them; other arguments need a queue of another name.
 */
export const declareTopology = ({ url, definitions, clock }: TopologyOptions): Promise<void> =>
  withChannel(url, async (channel) => {
    for (const exchange of [EVENTS_EXCHANGE, QUEUES_EXCHANGE]) await channel.assertExchange(exchange, 'topic', { durable: true });
    for (const { type, consumers } of definitions) for (const consumer of consumers) await declareQueue(channel, consumer, type);
    await clock.sleepUntil(new Date(clock.now().getTime() + SETTLING_MS), 'due');
  });

/** Declares a consumer's queue of one type, bound to the exchange, with the dead-letter queue behind it. */
export const declareQueue = async (channel: Channel, consumer: string, type: string): Promise<void> => {
  const dead = deadQueueName(consumer);
  const queue = queueName(consumer, type);
  await channel.assertQueue(dead, {
    durable: true,
    arguments: {
      'x-queue-type': 'quorum',
      'x-delivery-limit': DEAD_DELIVERY_LIMIT,
      'x-max-length': MAX_DEAD_LETTERS,
      'x-overflow': 'reject-publish',
    },
  });
  await channel.assertQueue(queue, {
    durable: true,
    arguments: {
      'x-queue-type': 'quorum',
      'x-delivery-limit': DELIVERY_LIMIT,
      'x-max-length': MAX_QUEUE_LENGTH,
      'x-overflow': 'reject-publish',
      'x-dead-letter-exchange': '',
      'x-dead-letter-routing-key': dead,
      'x-dead-letter-strategy': 'at-least-once',
    },
  });
  for (const name of [dead, queue]) await channel.bindQueue(name, QUEUES_EXCHANGE, name);
  await channel.bindQueue(queue, EVENTS_EXCHANGE, type);
};

export interface BrokerFault {
  readonly text: string;
  /** Waiting does not help: settings or rights must change. */
  readonly isRefusal: boolean;
}

/** Describes for an operator why a connection to `url` could not be opened or was lost. */
export const brokerFault = (error: unknown, url: string): BrokerFault => {
  const { host, pathname } = new URL(url);
  const message = Error.isError(error) ? error.message : String(error);
  if (/ACCESS.REFUSED/.test(message)) return { text: `the broker at ${host} refuses the user or the password`, isRefusal: true };
  // amqplib hides the broker's reply here: https://github.com/amqp-node/amqplib/blob/main/lib/connection.js ("Expected ConnectionOpenOk").
  if (message.includes('Expected ConnectionOpenOk; got <ConnectionClose')) {
    const vhost = decodeURIComponent(pathname.slice(1)) || '/';
    return { text: `the broker at ${host} has no vhost '${vhost}', or this user may not use it`, isRefusal: true };
  }
  return { text: `the broker at ${host} is out of reach: ${errorCode(error) ?? message}`, isRefusal: false };
};

const CONNECT_LIMIT_MS = 10_000;

/** A connection for one operation of a job or an operator: a failure rejects, and nothing is retried. */
export const withChannel = async <T>(url: string, work: (channel: ConfirmChannel) => Promise<T>): Promise<T> => {
  const connection = await connect(url, { noDelay: true, timeout: CONNECT_LIMIT_MS }).catch((error: unknown) => {
    throw new BusUnavailable(brokerFault(error, url).text, error);
  });
  // The call that fails rejects with the same error.
  connection.on('error', () => undefined);
  try {
    const channel = await connection.createConfirmChannel();
    channel.on('error', () => undefined);
    const result = await work(channel);
    // The close of the connection would drop the last acknowledgements: https://github.com/amqp-node/amqplib/issues/637
    await channel.close();
    return result;
  } finally {
    await connection.close();
  }
};
