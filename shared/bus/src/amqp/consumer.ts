import type { Clock } from '@bubbles/kernel/clock.ts';
import { aborted, type InFlight, inFlight } from '@bubbles/kernel/concurrency.ts';
import { errorCode } from '@bubbles/kernel/errors.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import type { Channel, ChannelModel, ConsumeMessage } from 'amqplib';
import { type ConsumerState, type EventHandler, queueName } from '../bus.ts';
import { declareQueue } from '../operations/topology.ts';
import { type AmqpConnection, closeQuietly, listenTo, superviseChannel } from './connection.ts';
import { createMessageHandler, type Disposition, isPoisonSuspect, type MessageHandler, type ReceivedMessage } from './message-handler.ts';
import type { Publisher } from './publisher.ts';
import { createQueueView, NOT_FOUND } from './topology-view.ts';

interface ConsumerOptions {
  readonly consumer: string;
  readonly eventHandler: EventHandler;
  readonly connection: Pick<AmqpConnection, 'up' | 'onDown'>;
  readonly publisher: Pick<Publisher, 'publish'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly jitter: () => number;
  /** Unacknowledged messages at the same time. */
  readonly prefetch: number;
}

export interface Consumer {
  state(): ConsumerState;
  /** Names its queue, for messages, while the broker does not have it. */
  missing(): string | null;
  /** Resolves when no handler runs. Messages that wait for the end of the backoff do not count. */
  idle(): Promise<void>;
  /** How many messages are in the queue for this consumer; none while it backs off. Rejects while the broker is out of reach. */
  waiting(): Promise<number>;
  /** Takes no further message and waits for its handlers, no longer than until `deadline` aborts. */
  stop(deadline: AbortSignal): Promise<void>;
  /** After `stop`, so that handled messages are acknowledged. */
  close(deadline: AbortSignal): Promise<void>;
}

export const createConsumer = ({ consumer, eventHandler, connection, publisher, prefetch, ...shared }: ConsumerOptions): Consumer => {
  const { log } = shared;
  const queue = queueName(consumer, eventHandler.event.type);
  const stopping = new AbortController();
  const running = inFlight();
  const onBackoffEnd = () => consumption?.resume();
  const handler = createMessageHandler({ ...shared, consumer, eventHandler, publisher, signal: stopping.signal, onBackoffEnd });
  let consumption: Consumption | null = null;
  let queueIsGone = false;
  const view = createQueueView(queue, log);

  const consume = async (channel: Channel, model: ChannelModel) => {
    if (queueIsGone) queueIsGone = !(await declareAgain(model, { consumer, type: eventHandler.event.type, log }));
    // A message that is taken now would be acknowledged on a channel that is being closed.
    stopping.signal.throwIfAborted();
    const onQueueGone = () => {
      log.warn('consumer lost its queue', { queue });
      queueIsGone = true;
    };
    consumption = createConsumption({ ...shared, queue, channel, prefetch, handler, running, onQueueGone });
    await view.during(channel, consumption.start());
  };

  const channels = superviseChannel({
    ...shared,
    name: queue,
    connection,
    create: (model) => model.createChannel(),
    prepare: consume,
    finish: async () => {
      await consumption?.stop();
      await running.idle();
    },
  });

  return {
    state: () => ({ consumer, type: eventHandler.event.type, isConsuming: view.isConsumed() && !handler.isUnavailable() }),
    missing: view.missing,
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
};

/** False when the queue could not be declared: where only the topology job may do that, the consumer waits for the queue. */
const declareAgain = async (
  model: ChannelModel,
  { consumer, type, log }: { readonly consumer: string; readonly type: string; readonly log: Log },
): Promise<boolean> => {
  const channel = listenTo(await model.createChannel(), log);
  try {
    await declareQueue(channel, consumer, type);
    await channel.close();
    return true;
  } catch (error) {
    log.warn('lost queue could not be declared', { queue: queueName(consumer, type), error });
    return false;
  }
};

interface ConsumptionOptions {
  readonly queue: string;
  readonly channel: Channel;
  readonly log: Log;
  /** Unacknowledged messages at the same time, while none of them is a poison suspect. */
  readonly prefetch: number;
  readonly handler: MessageHandler;
  /** The consumer's running handlers, also those that began on channels that were lost. */
  readonly running: InFlight;
  /** Deleted, or moved to another node. */
  readonly onQueueGone: () => void;
}

/** Consumption on one channel, until that closes. */
interface Consumption {
  /** Resolves when the broker delivers. */
  start(): Promise<void>;
  /** Handles the messages that waited for the end of the backoff. */
  resume(): void;
  /** Takes no further message; resolves when the broker has confirmed that. Running handlers go on. */
  stop(): Promise<void>;
  /** The channel closes: nothing is acknowledged on it any more. */
  close(): void;
}

/**
 * Starts in single mode, with one message at a time. A message that is no poison suspect switches to prefetching, a suspect switches back: if it ended
 * the process, all unacknowledged messages would count as redelivered with it, and be dead-lettered in the end. A switch cancels the consumer before it
 * asks for the next one, whatever was delivered before the broker's answers came.
 */
export const createConsumption = ({ queue, channel, log, prefetch, onQueueGone, ...options }: ConsumptionOptions): Consumption => {
  const ended = Promise.withResolvers<void>();
  let state: 'open' | 'stopping' | 'closed' = 'open';
  let mode: 'single' | 'prefetching' = 'single';
  let switching = Promise.withResolvers<void>();

  /** Only on the channel that delivered the message: elsewhere its tag means another message, or none. */
  const settle = (message: ConsumeMessage, disposition: Exclude<Disposition, 'wait'>) => {
    if (state === 'closed') return;
    if (disposition === 'reject') return channel.reject(message, true);
    channel.ack(message);
    if (mode === 'single' && !isPoisonSuspect(message)) switching.resolve();
  };
  const unacked = createUnackedMessages({ ...options, channel, settle });

  const close = () => {
    state = 'closed';
    unacked.drop();
    switching.resolve();
    ended.resolve();
  };
  channel.once('close', close);
  /** Closes the channel, for another one to be opened. */
  const abandon = (queueIsGone: boolean) => {
    if (queueIsGone) onQueueGone();
    close();
    closeQuietly(channel, log);
  };

  const receive = (message: ConsumeMessage | null) => {
    if (message === null) return abandon(true);
    if (mode === 'single' || !isPoisonSuspect(message)) return unacked.add(message);
    unacked.addSuspect(message);
    switching.resolve();
  };
  const consume = async (): Promise<string> => {
    switching = Promise.withResolvers();
    await channel.prefetch(mode === 'single' ? 1 : prefetch);
    return (await channel.consume(queue, receive)).consumerTag;
  };
  const is = (other: typeof state) => state === other;
  const run = async (firstTag: string) => {
    for (let consumerTag = firstTag; ; consumerTag = await consume()) {
      await switching.promise;
      if (is('closed')) return;
      await channel.cancel(consumerTag);
      if (is('open')) mode = (await unacked.drain()) === 'suspect' ? 'single' : 'prefetching';
      if (!is('open')) return ended.resolve();
    }
  };

  return {
    async start() {
      const consumerTag = await consume();
      run(consumerTag).catch((error: unknown) => {
        if (!is('closed')) log.warn('consumer could not switch its prefetch', { queue, error });
        // The broker cancels no consumer of a queue that is deleted between two modes.
        abandon(errorCode(error) === NOT_FOUND);
      });
    },
    resume: unacked.resume,
    stop() {
      if (is('open')) state = 'stopping';
      unacked.drop();
      switching.resolve();
      return ended.promise;
    },
    close,
  };
};

interface UnackedOptions extends Pick<ConsumptionOptions, 'channel' | 'handler' | 'running'> {
  readonly settle: (message: ConsumeMessage, disposition: Exclude<Disposition, 'wait'>) => void;
}

/** Messages that were delivered and not yet acknowledged: handled at once, or after the backoff. */
const createUnackedMessages = ({ channel, handler, running, settle }: UnackedOptions) => {
  const waiting: ReceivedMessage[] = [];
  const suspects: ReceivedMessage[] = [];
  let handling = 0;
  let dropped = false;
  let progress = Promise.withResolvers<void>();

  const notify = () => {
    progress.resolve();
    progress = Promise.withResolvers();
  };
  const handle = async (one: ReceivedMessage) => {
    handling += 1;
    const disposition = await handler.handle(one);
    handling -= 1;
    if (disposition !== 'wait') settle(one.message, disposition);
    else if (!dropped) waiting.unshift(one);
    notify();
    resume();
  };
  const resume = () => {
    while (!handler.isBackingOff()) {
      const next = waiting.shift();
      if (!next) return;
      void running.track(handle(next));
    }
  };
  const add = (one: ReceivedMessage) => {
    if (dropped) return;
    waiting.push(one);
    resume();
  };
  const drained = async () => {
    while (waiting.length > 0 || handling > 0) await progress.promise;
  };
  return {
    add: (message: ConsumeMessage) => add(handler.receive(message)),
    /** Kept for `drain`. */
    addSuspect: (message: ConsumeMessage) => void suspects.push(handler.receive(message)),
    resume,
    /** Resolves when each message is acknowledged, rejected or dropped: one suspect is handled last and alone, the other suspects are returned. */
    async drain(): Promise<'suspect' | 'none'> {
      const [suspect, ...others] = suspects.splice(0);
      for (const { message } of others) channel.nack(message, false, true);
      await drained();
      if (!suspect) return 'none';
      add(suspect);
      await drained();
      return 'suspect';
    },
    /** Starts no further handler; running ones go on. */
    drop() {
      dropped = true;
      waiting.length = 0;
      notify();
    },
  };
};
