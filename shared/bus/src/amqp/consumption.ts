import type { Clock } from '@bubbles/kernel/clock.ts';
import type { InFlight } from '@bubbles/kernel/concurrency.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import type { Channel, ConsumeMessage } from 'amqplib';
import { type Disposition, isPoisonSuspect, type MessageHandler, type ReceivedMessage } from '../message-handler.ts';
import { closeQuietly } from './amqp-channel.ts';

export interface ConsumptionOptions {
  readonly queue: string;
  readonly channel: Channel;
  readonly clock: Clock;
  readonly log: Log;
  /** Unacknowledged messages at the same time, while none of them is suspect. */
  readonly prefetch: number;
  readonly handler: MessageHandler;
  /** The consumer's handlers, those of channels that were lost among them. */
  readonly running: InFlight;
  /** The broker ended the consumer: its queue is gone, or has moved. */
  readonly onCancelled: () => void;
}

/** Consumption on one channel, until that closes. */
export interface Consumption {
  /** Resolves when the broker delivers. */
  start(): Promise<void>;
  /** Hands over what waited for the backoff to end. */
  resume(): void;
  /** Takes no more; resolves when the broker has agreed. What is being handled goes on. */
  stop(): Promise<void>;
  /** The channel goes: nothing more is answered on it. */
  close(): void;
}

/**
 * Begins with one message at a time. One that is no poison suspect opens the way to `prefetch`, a suspect closes it: were it to end the process, all
 * unacknowledged messages would be counted as redelivered with it, and die in the end. Switching ends one consumption before the next one is asked
 * for, whatever was delivered before the broker's answers came.
 */
export const createConsumption = ({ queue, channel, log, prefetch, onCancelled, ...options }: ConsumptionOptions): Consumption => {
  const ended = Promise.withResolvers<void>();
  let state: 'open' | 'stopping' | 'closed' = 'open';
  let mode: 'single' | 'prefetching' = 'single';
  let switching = Promise.withResolvers<void>();

  /** Only on the channel that delivered: elsewhere the tag means another message, or none. */
  const settle = (message: ConsumeMessage, disposition: Exclude<Disposition, 'wait'>) => {
    if (state === 'closed') return;
    if (disposition === 'reject') return channel.reject(message, true);
    channel.ack(message);
    if (mode === 'single' && !isPoisonSuspect(message)) switching.resolve();
  };
  const unacked = unackedMessages({ ...options, channel, settle });

  const close = () => {
    state = 'closed';
    unacked.drop();
    switching.resolve();
    ended.resolve();
  };
  channel.once('close', close);

  const receive = (message: ConsumeMessage | null) => {
    if (message === null) {
      onCancelled();
      close();
      return closeQuietly(channel, log);
    }
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
      // A channel on which a switch fails is closed, and another one opened.
      run(consumerTag).catch((error: unknown) => {
        if (!is('closed')) log.warn('consumer could not switch its prefetch', { queue, error });
        close();
        closeQuietly(channel, log);
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

interface UnackedOptions extends Pick<ConsumptionOptions, 'channel' | 'clock' | 'handler' | 'running'> {
  readonly settle: (message: ConsumeMessage, disposition: Exclude<Disposition, 'wait'>) => void;
}

/** What was delivered and not yet acknowledged: handled at once, or when the backoff is over. */
const unackedMessages = ({ channel, clock, handler, running, settle }: UnackedOptions) => {
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
  const received = (message: ConsumeMessage): ReceivedMessage => ({ message, receivedAt: clock.monotonic() });
  const add = (one: ReceivedMessage) => {
    if (dropped) return;
    waiting.push(one);
    resume();
  };
  const drained = async () => {
    while (waiting.length > 0 || handling > 0) await progress.promise;
  };
  return {
    add: (message: ConsumeMessage) => add(received(message)),
    /** Kept for `drain`. */
    addSuspect: (message: ConsumeMessage) => void suspects.push(received(message)),
    resume,
    /** Resolves when everything has been answered or dropped: one suspect last and alone, the others given back. */
    async drain(): Promise<'suspect' | 'none'> {
      const [suspect, ...others] = suspects.splice(0);
      for (const { message } of others) channel.nack(message, false, true);
      await drained();
      if (!suspect) return 'none';
      add(suspect);
      await drained();
      return 'suspect';
    },
    /** Begins nothing more; what has begun goes on. */
    drop() {
      dropped = true;
      waiting.length = 0;
      notify();
    },
  };
};
