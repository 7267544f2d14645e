import { systemClock } from '@bubbles/kernel/clock.ts';
import { SILENT_LOG } from '@bubbles/testing/http.ts';
import { type ChannelModel, connect } from 'amqplib';
import { type AmqpBusOptions, createAmqpBus } from '../src/amqp/amqp.ts';
import { type Bus, type EventDefinition, queueName } from '../src/bus.ts';
import { REASON_HEADER } from '../src/operations/dead-letters.ts';
import { deadQueueName, declareTopology } from '../src/operations/topology.ts';
import type { BusEngine, DeadLetteredMessage } from './bus-contract.ts';

export interface AmqpEngine extends BusEngine {
  /** A connection of the test's own, for what no service may do. */
  readonly operator: ChannelModel;
  connectWith(options: Partial<AmqpBusOptions>): Bus;
}

/** A RabbitMQ that is there already, with queues for these events that end with the test. */
export const startAmqpEngine = async (url: string, definitions: readonly EventDefinition[]): Promise<AmqpEngine> => {
  const clock = systemClock();
  await declareTopology({ url, definitions, clock });
  const operator = await connect(url, { noDelay: true });
  operator.on('error', () => undefined);
  const buses: Bus[] = [];
  const connectWith = (options: Partial<AmqpBusOptions>): Bus => {
    const bus = createAmqpBus({ url, service: 'tested-service', clock, log: SILENT_LOG, jitter: () => 0, ...options });
    buses.push(bus);
    return bus;
  };
  return {
    operator,
    connectWith,
    connect: () => connectWith({}),
    deadLetters: (consumer) => readDeadLetters(operator, consumer),
    async stop() {
      await Promise.all(buses.map((bus) => bus.close()));
      await deleteQueues(url, definitions);
      await operator.close().catch(() => undefined);
    },
  };
};

const readDeadLetters = async (operator: ChannelModel, consumer: string): Promise<readonly DeadLetteredMessage[]> => {
  const channel = await operator.createChannel();
  const letters: DeadLetteredMessage[] = [];
  for (let message = await channel.get(deadQueueName(consumer)); message; message = await channel.get(deadQueueName(consumer))) {
    letters.push({ reason: String(message.properties.headers?.[REASON_HEADER] ?? ''), body: message.content.toString() });
  }
  // Closing gives them back.
  await channel.close();
  return letters;
};

const deleteQueues = async (url: string, definitions: readonly EventDefinition[]): Promise<void> => {
  const connection = await connect(url, { noDelay: true });
  const channel = await connection.createChannel();
  for (const { type, consumers } of definitions) {
    for (const consumer of consumers) {
      await channel.deleteQueue(queueName(consumer, type));
      await channel.deleteQueue(deadQueueName(consumer));
    }
  }
  await connection.close();
};
