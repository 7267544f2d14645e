import type { Clock } from '@bubbles/kernel/clock.ts';
import { backoffMs } from '@bubbles/kernel/concurrency.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import type { Channel, ChannelModel } from 'amqplib';
import { BusUnavailable } from '../bus.ts';
import { type AmqpConnection, listenTo } from './amqp-connection.ts';

export interface SupervisedChannelOptions<C extends Channel> {
  readonly name: string;
  readonly connection: AmqpConnection;
  readonly clock: Clock;
  readonly log: Log;
  readonly jitter: () => number;
  readonly create: (model: ChannelModel) => Promise<C>;
  /** Begins what lives on the channel; when it fails, another is tried. */
  readonly prepare: (channel: C, model: ChannelModel) => Promise<void>;
}

/** A channel that is opened again whenever it is lost, alone or with its connection. */
export interface SupervisedChannel<C extends Channel> {
  /** The channel, also when it is being opened right now; rejects with `BusUnavailable` at once when the broker is out of state. */
  ready(): Promise<C>;
  /** Gives this channel up for a new one. */
  replace(channel: C): void;
  /** Opens no other; who waits for one is refused. */
  stopReopening(): void;
  close(): Promise<void>;
}

/** A channel that lived this long was in order. */
const STABLE_MS = 5000;

export function superviseChannel<C extends Channel>(options: SupervisedChannelOptions<C>): SupervisedChannel<C> {
  const { name, connection, clock, log, jitter, create, prepare } = options;
  const closing = new AbortController();
  const state = channelState<C>();
  connection.onDown(state.lost);

  /** Answers how long the channel was in order, in milliseconds. */
  const hold = async (): Promise<number> => {
    const model = await connection.up();
    const channel = listenTo(await create(model), log);
    const closed = new Promise<void>((resolve) => channel.once('close', resolve));
    await prepare(channel, model).catch((error: unknown) => {
      closeQuietly(channel, log);
      throw error;
    });
    const since = clock.monotonic();
    state.found(channel);
    if (closing.signal.aborted) closeQuietly(channel, log);
    await closed;
    state.left(channel);
    return clock.monotonic() - since;
  };
  const live = async (): Promise<number> => {
    try {
      return await hold();
    } catch (error) {
      if (closing.signal.aborted) return 0;
      log.warn('channel cannot be opened, retrying', { channel: name, error });
      state.lost(error);
      return 0;
    }
  };
  const keepOpen = async () => {
    for (let failures = 0; !closing.signal.aborted; ) {
      failures = (await live()) > STABLE_MS ? 0 : failures + 1;
      await clock.sleepUntil(new Date(clock.now().getTime() + backoffMs(failures, jitter)), 'poll', closing.signal);
    }
  };
  const ended = keepOpen();
  const stopReopening = () => {
    closing.abort();
    if (state.current() === null) state.lost(new Error('the bus is closed'));
  };

  return {
    ready: state.ready,
    replace(channel) {
      state.left(channel);
      closeQuietly(channel, log);
    },
    stopReopening,
    async close() {
      const channel = state.current();
      stopReopening();
      if (channel === null) return;
      closeQuietly(channel, log);
      await ended;
    },
  };
}

/** Whether the channel is there, about to be there, or out of state. */
const channelState = <C extends Channel>() => {
  let current: C | null = null;
  let failure: BusUnavailable | null = null;
  let opening = awaited<C>();
  return {
    current: () => current,
    ready(): Promise<C> {
      if (current) return Promise.resolve(current);
      return failure ? Promise.reject(failure) : opening.promise;
    },
    found(channel: C) {
      current = channel;
      failure = null;
      opening.resolve(channel);
    },
    left(channel: C) {
      if (current !== channel) return;
      current = null;
      opening = awaited();
    },
    lost(error: unknown) {
      current = null;
      failure = new BusUnavailable('the broker is out of reach', error);
      opening.reject(failure);
      opening = awaited();
    },
  };
};

/** A promise that may be rejected with nobody waiting for it. */
const awaited = <T>(): PromiseWithResolvers<T> => {
  const resolvers = Promise.withResolvers<T>();
  resolvers.promise.catch(() => undefined);
  return resolvers;
};

/** Without waiting for the broker; also a channel that is gone already. */
export const closeQuietly = (channel: Channel, log: Log): void => {
  channel.close().catch((error: unknown) => log.debug('channel was closed already', { error }));
};
