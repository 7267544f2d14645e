import type { Channel, ChannelModel } from 'amqplib';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { aborted } from './aborted.ts';
import { superviseChannel } from './amqp-channel.ts';
import { type AmqpConnection, listenTo } from './amqp-connection.ts';
import { backOffMs } from './back-off.ts';
import type { Subscription } from './bus.ts';
import { consumerPause } from './consumer-pause.ts';
import { type ConsumerSession, consumerSession } from './consumer-session.ts';
import type { DeadLetters } from './dead-letters.ts';
import { inFlight } from './in-flight.ts';
import { messageJudge } from './message-judge.ts';
import { queueName } from './queues.ts';
import { declareQueue } from './topology.ts';

export interface ConsumerOptions {
  readonly subscription: Subscription;
  readonly connection: AmqpConnection;
  readonly deadLetters: DeadLetters;
  readonly clock: Clock;
  readonly log: Log;
  readonly jitter: () => number;
  /** Messages in hand at the same time. */
  readonly prefetch: number;
}

export interface Consumer {
  /** Resolves when no handler runs; what waits for a pause to end is not waited for. */
  idle(): Promise<void>;
  /** How many messages wait in the queue for this consumer; none while it pauses or has lost the broker. */
  waiting(): Promise<number>;
  /** Takes no more and waits for its handlers, no longer than until `deadline` aborts. */
  stop(deadline: AbortSignal): Promise<void>;
  /** After `stop`; that what was handled is acknowledged. */
  close(deadline: AbortSignal): Promise<void>;
}

/** A fault is tried again after at most this long. */
const MOST_RETRY_MS = 1000;

export function amqpConsumer({ subscription, connection, deadLetters, clock, log, jitter, prefetch }: ConsumerOptions): Consumer {
  const { consumer, event } = subscription;
  const queue = queueName(consumer, event.type);
  const stopping = new AbortController();
  const running = inFlight();
  const pause = consumerPause({ queue, clock, log, jitter, signal: stopping.signal, onEnd: () => session?.resume() });
  const sleep = (ms: number) => clock.sleepUntil(new Date(clock.now().getTime() + ms), 'poll', stopping.signal);
  const judge = messageJudge({
    queue,
    subscription,
    log,
    pause,
    bury: (message, reason) => deadLetters.bury({ consumer, queue, message, reason }),
    beforeRetry: (faults) => sleep(backOffMs(faults, jitter, MOST_RETRY_MS)),
  });
  let session: ConsumerSession | null = null;
  let wasCancelled = false;

  const startSession = async (channel: Channel, model: ChannelModel) => {
    if (wasCancelled) wasCancelled = !(await declareAgain(model, subscription, log));
    // What began now would be answered on a channel that is being closed.
    stopping.signal.throwIfAborted();
    const onCancelled = () => {
      log.warn('The broker ended a consumer.', { queue });
      wasCancelled = true;
    };
    session = consumerSession({ queue, channel, log, prefetch, pause, judge, running, onCancelled });
    await session.start();
  };

  const channels = superviseChannel({
    name: queue,
    connection,
    clock,
    log,
    jitter,
    create: (model) => model.createChannel(),
    prepare: startSession,
  });

  return {
    idle: running.idle,
    async waiting() {
      if (pause.isOn()) return 0;
      const channel = await channels.ready();
      return (await channel.checkQueue(queue)).messageCount;
    },
    async stop(deadline) {
      stopping.abort();
      channels.openNoMore();
      await Promise.race([session?.stop(), aborted(deadline)]);
      await Promise.race([running.idle(), aborted(deadline)]);
    },
    close(deadline) {
      session?.end();
      return Promise.race([channels.close(), aborted(deadline)]);
    },
  };
}

/** Whether it could be: where the broker's permissions leave that to the topology job, the queue is waited for. */
const declareAgain = async (model: ChannelModel, { consumer, event }: Subscription, log: Log): Promise<boolean> => {
  const channel = listenTo(await model.createChannel(), log);
  try {
    await declareQueue(channel, consumer, event.type);
    await channel.close();
    return true;
  } catch (error) {
    log.warn('A queue that was lost could not be declared.', { queue: queueName(consumer, event.type), error });
    return false;
  }
};
