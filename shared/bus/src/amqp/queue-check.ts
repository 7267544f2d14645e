import type { Log } from '@bubbles/kernel/log.ts';
import type { ChannelModel } from 'amqplib';
import { BusUnavailable, type EventDefinition } from '../bus.ts';
import { listenTo } from './amqp-connection.ts';
import { queueName } from './queues.ts';

export interface QueueCheck {
  /** Rejects with `BusUnavailable` while the queue of a listed consumer does not exist. Asks the broker once a type. */
  require(definition: EventDefinition): Promise<void>;
  /** Of one type, or of all. */
  forget(type?: string): void;
}

export const queueCheck = (up: () => Promise<ChannelModel>, log: Log): QueueCheck => {
  const checked = new Map<string, Promise<void>>();

  /** On a channel of its own, which a missing queue closes. */
  const ask = async ({ type, consumers }: EventDefinition): Promise<void> => {
    const channel = listenTo(await (await up()).createChannel(), log);
    for (const consumer of consumers) await channel.checkQueue(queueName(consumer, type));
    await channel.close();
  };
  const check = async (definition: EventDefinition): Promise<void> => {
    try {
      await ask(definition);
    } catch (error) {
      checked.delete(definition.type);
      throw new BusUnavailable(`a queue of ${definition.type} is missing`, error);
    }
  };
  return {
    require(definition) {
      const asked = checked.get(definition.type) ?? (definition.consumers.length === 0 ? Promise.resolve() : check(definition));
      checked.set(definition.type, asked);
      return asked;
    },
    forget(type) {
      if (type === undefined) checked.clear();
      else checked.delete(type);
    },
  };
};
