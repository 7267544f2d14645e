import type { Clock } from '@bubbles/kernel/clock.ts';
import { backoffMs } from '@bubbles/kernel/concurrency.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import { type Channel, type ChannelModel, connect, type RecoveringChannelModel } from 'amqplib';
import { BusUnavailable } from '../bus.ts';
import { type BrokerFault, brokerFault } from '../operations/topology.ts';

interface ConnectionOptions {
  readonly url: string;
  /** Shown by the broker. */
  readonly name: string;
  readonly log: Log;
  readonly jitter: () => number;
}

/** A connection that is opened again whenever it is lost. */
export interface AmqpConnection {
  /** The open connection, as soon as there is one; rejects once closed. */
  up(): Promise<ChannelModel>;
  /** Called whenever the connection is lost or cannot be opened. */
  onDown(listener: (error: Error) => void): void;
  /** The broker accepts no messages: its memory or disk is full. */
  isBlocked(): boolean;
  /** Reason for the missing connection; null while connected and before the first attempt has ended. */
  fault(): BrokerFault | null;
  isConnected(): boolean;
  /** Resolves after the first attempt to connect, with the reason if it failed. */
  readonly firstTry: Promise<BrokerFault | null>;
  close(): Promise<void>;
}

const CONNECT_LIMIT_MS = 10_000;
const HEARTBEAT_SECONDS = 10;

export const openConnection = ({ url, name, log, jitter }: ConnectionOptions): AmqpConnection => {
  const downListeners: ((error: Error) => void)[] = [];
  let model = Promise.withResolvers<ChannelModel>();
  let blocked = false;
  const link = createLink(url);

  const goDown = (error: Error) => {
    blocked = false;
    link.lost(error);
    for (const listener of downListeners) listener(error);
  };
  const listen = (recovering: RecoveringChannelModel) => {
    recovering.on('connect', (live) => {
      log.info('broker connected', { connection: name });
      link.found();
      model.resolve(live);
    });
    recovering.on('disconnect', (error) => {
      log.warn('broker lost', { connection: name, error });
      model = Promise.withResolvers();
      goDown(error);
    });
    recovering.on('connect-failed', goDown);
    recovering.on('reconnect-scheduled', ({ attempt: failures, delay, error }) => {
      const { text: why } = brokerFault(error, url);
      log.warn('broker unreachable, retrying', { connection: name, failures, delayMs: delay, why, error });
    });
    recovering.on('reconnect-failed', (error) => log.error('broker given up', { connection: name, error }));
    recovering.on('error', (error) => log.warn('broker connection failed', { connection: name, error }));
    recovering.on('handler-error', (error) => log.error('connection listener failed', { connection: name, error }));
    recovering.on('blocked', (reason) => {
      blocked = true;
      log.warn('broker takes no messages', { connection: name, reason });
    });
    recovering.on('unblocked', () => {
      blocked = false;
      log.info('broker takes messages again', { connection: name });
    });
    return recovering;
  };

  const recovering = connect(withHeartbeat(url), {
    noDelay: true,
    keepAlive: true,
    timeout: CONNECT_LIMIT_MS,
    clientProperties: { connection_name: name },
    recovery: {
      waitForConnect: false,
      maxRetries: Number.POSITIVE_INFINITY,
      calculateDelay: (failures) => backoffMs(failures, jitter),
      setup: (fresh: ChannelModel) => proveAlive(fresh, log),
    },
  }).then(listen);

  return {
    up: () => model.promise,
    onDown: (listener) => void downListeners.push(listener),
    isBlocked: () => blocked,
    ...link.state,
    async close() {
      model.promise.catch(() => undefined);
      model.reject(new Error('the connection is closed'));
      await (await recovering).close();
    },
  };
};

/** State of the connection, with the reason when there is none. */
const createLink = (url: string) => {
  let isConnected = false;
  let fault: BrokerFault | null = null;
  const firstTry = Promise.withResolvers<BrokerFault | null>();
  return {
    found() {
      isConnected = true;
      fault = null;
      firstTry.resolve(null);
    },
    lost(error: Error) {
      isConnected = false;
      fault = brokerFault(error, url);
      firstTry.resolve(fault);
    },
    state: { fault: () => fault, isConnected: () => isConnected, firstTry: firstTry.promise },
  };
};

/**
 * Recovery listens to a new connection only after `setup`: until then an error without this listener would end the process, and a connection that closes
 * would count as open, which the round trip prevents. https://github.com/amqp-node/amqplib/issues/738
 */
const proveAlive = async (model: ChannelModel, log: Log): Promise<void> => {
  model.on('error', (error) => log.debug('new connection failed', { error }));
  const channel = listenTo(await model.createChannel(), log);
  await channel.close();
};

/** A channel that the broker closes takes its connection with it when nobody listens. https://github.com/amqp-node/amqplib/issues/649 */
export const listenTo = <C extends Channel>(channel: C, log: Log): C => {
  channel.on('error', (error) => log.warn('broker closed a channel', { error }));
  channel.on('handler-error', (error, event) => log.error('channel listener failed', { event, error }));
  return channel;
};

const withHeartbeat = (url: string): string => {
  const address = new URL(url);
  if (!address.searchParams.has('heartbeat')) address.searchParams.set('heartbeat', String(HEARTBEAT_SECONDS));
  return address.href;
};

interface SupervisedChannelOptions<C extends Channel> {
  readonly name: string;
  readonly connection: Pick<AmqpConnection, 'up' | 'onDown'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly jitter: () => number;
  readonly create: (model: ChannelModel) => Promise<C>;
  /** Sets up what uses the channel; when it fails, another channel is tried. */
  readonly prepare: (channel: C, model: ChannelModel) => Promise<void>;
  /** Ends what uses a channel that was opened while `stopReopening` was called, before that channel is closed. */
  readonly finish?: () => Promise<void>;
}

/** A channel that is opened again whenever it is lost, alone or with its connection. */
interface SupervisedChannel<C extends Channel> {
  /** The open channel, or the one that is being opened; rejects with `BusUnavailable` at once while the broker is out of reach. */
  ready(): Promise<C>;
  /** Closes this channel and opens a new one. */
  replace(channel: C): void;
  /** Opens no further channel; calls of `ready` that wait for one are rejected. */
  stopReopening(): void;
  close(): Promise<void>;
}

/** A channel that stayed open this long resets the backoff. */
const STABLE_MS = 5000;

export const superviseChannel = <C extends Channel>(options: SupervisedChannelOptions<C>): SupervisedChannel<C> => {
  const { name, connection, clock, log, jitter, create, prepare, finish = () => Promise.resolve() } = options;
  const closing = new AbortController();
  const state = createChannelState<C>();
  connection.onDown(state.lost);

  /** Resolves when the channel has closed, with how long it was open. */
  const openOnce = async (): Promise<number> => {
    const model = await connection.up();
    const channel = listenTo(await create(model), log);
    const closed = new Promise<void>((resolve) => channel.once('close', resolve));
    await prepare(channel, model).catch((error: unknown) => {
      closeQuietly(channel, log);
      throw error;
    });
    const since = clock.monotonic();
    state.found(channel);
    if (closing.signal.aborted) {
      await finish();
      closeQuietly(channel, log);
    }
    await closed;
    state.left(channel);
    return clock.monotonic() - since;
  };
  const live = async (): Promise<number> => {
    try {
      return await openOnce();
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
};

/** Whether the channel is open, being opened, or out of reach. */
const createChannelState = <C extends Channel>() => {
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

/** A promise that may be rejected while nobody waits for it. */
const awaited = <T>(): PromiseWithResolvers<T> => {
  const resolvers = Promise.withResolvers<T>();
  resolvers.promise.catch(() => undefined);
  return resolvers;
};

/** Does not wait for the broker; the channel may be closed already. */
export const closeQuietly = (channel: Channel, log: Log): void => {
  channel.close().catch((error: unknown) => log.debug('channel was closed already', { error }));
};
