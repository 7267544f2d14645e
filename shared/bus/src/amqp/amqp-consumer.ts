import type { Clock } from '@bubbles/kernel/clock.ts';
import { aborted, inFlight } from '@bubbles/kernel/concurrency.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import type { Channel, ChannelModel } from 'amqplib';
import type { EventHandler } from '../bus.ts';
import { createMessageHandler } from '../message-handler.ts';
import { superviseChannel } from './amqp-channel.ts';
import { type AmqpConnection, listenTo } from './amqp-connection.ts';
import { type Consumption, createConsumption } from './consumption.ts';
import type { MessageCopies } from './message-copies.ts';
import { queueName } from './queues.ts';
import { declareQueue } from './topology.ts';

export interface ConsumerOptions {
  readonly eventHandler: EventHandler;
  readonly connection: AmqpConnection;
  readonly copies: MessageCopies;
  readonly clock: Clock;
  readonly log: Log;
  readonly jitter: () => number;
  /** Unacknowledged messages at the same time. */
  readonly prefetch: number;
}

export interface Consumer {
  /** Resolves when no handler runs; what waits for the backoff to end is not waited for. */
  idle(): Promise<void>;
  /** How many messages wait in the queue for this consumer; none while it backs off or has lost the broker. */
  waiting(): Promise<number>;
  /** Takes no more and waits for its handlers, no longer than until `deadline` aborts. */
  stop(deadline: AbortSignal): Promise<void>;
  /** After `stop`; that what was handled is acknowledged. */
  close(deadline: AbortSignal): Promise<void>;
}

export function amqpConsumer({ eventHandler, connection, copies, prefetch, ...shared }: ConsumerOptions): Consumer {
  const { log } = shared;
  const queue = queueName(eventHandler.consumer, eventHandler.event.type);
  const stopping = new AbortController();
  const running = inFlight();
  const onBackoffEnd = () => consumption?.resume();
  const handler = createMessageHandler({ ...shared, eventHandler, copies, signal: stopping.signal, onBackoffEnd });
  let consumption: Consumption | null = null;
  let wasCancelled = false;

  const consume = async (channel: Channel, model: ChannelModel) => {
    if (wasCancelled) wasCancelled = !(await declareAgain(model, eventHandler, log));
    // What began now would be answered on a channel that is being closed.
    stopping.signal.throwIfAborted();
    const onCancelled = () => {
      log.warn('broker ended a consumer', { queue });
      wasCancelled = true;
    };
    consumption = createConsumption({ ...shared, queue, channel, prefetch, handler, running, onCancelled });
    await consumption.start();
  };

  const channels = superviseChannel({
    ...shared,
    name: queue,
    connection,
    create: (model) => model.createChannel(),
    prepare: consume,
  });

  return {
    idle: running.idle,
    async waiting() {
      if (handler.isBackingOff()) return 0;
      const channel = await channels.ready();
      return (await channel.checkQueue(queue)).messageCount;
    },
    async stop(deadline) {
      stopping.abort();
      channels.stopReopening();
      await Promise.race([consumption?.stop(), aborted(deadline)]);
      await Promise.race([running.idle(), aborted(deadline)]);
    },
    close(deadline) {
      consumption?.close();
      return Promise.race([channels.close(), aborted(deadline)]);
    },
  };
}

/** Whether it could be: where the broker's permissions leave that to the topology job, the queue is waited for. */
const declareAgain = async (model: ChannelModel, { consumer, event }: EventHandler, log: Log): Promise<boolean> => {
  const channel = listenTo(await model.createChannel(), log);
  try {
    await declareQueue(channel, consumer, event.type);
    await channel.close();
    return true;
  } catch (error) {
    log.warn('lost queue could not be declared', { queue: queueName(consumer, event.type), error });
    return false;
  }
};
