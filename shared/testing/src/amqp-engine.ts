import { type AmqpBusOptions, amqpBus } from '@bubbles/bus/amqp/amqp.ts';
import { REASON_HEADER } from '@bubbles/bus/amqp/message-copies.ts';
import { deadQueueName, queueName } from '@bubbles/bus/amqp/queues.ts';
import { declareTopology } from '@bubbles/bus/amqp/topology.ts';
import type { Bus, EventDefinition } from '@bubbles/bus/bus.ts';
import { systemClock } from '@bubbles/kernel/clock.ts';
import { type ChannelModel, connect } from 'amqplib';
import type { BuriedMessage, BusEngine } from './bus-contract.ts';
import { SILENT_LOG } from './http.ts';

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
    const bus = amqpBus({ url, service: 'tested-service', clock, log: SILENT_LOG, jitter: () => 0, ...options });
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

const readDeadLetters = async (operator: ChannelModel, consumer: string): Promise<readonly BuriedMessage[]> => {
  const channel = await operator.createChannel();
  const letters: BuriedMessage[] = [];
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
