import { backoffMs } from '@bubbles/kernel/concurrency.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import { type Channel, type ChannelModel, connect, type RecoveringChannelModel } from 'amqplib';

export interface ConnectionOptions {
  readonly url: string;
  /** What it is for; shown by the broker. */
  readonly name: string;
  readonly log: Log;
  readonly jitter: () => number;
}

/** A connection that comes back whenever it is lost. */
export interface AmqpConnection {
  /** The live connection, now or when there is one; rejects once closed. */
  up(): Promise<ChannelModel>;
  /** Called whenever the broker is lost or not reached. */
  onDown(listener: (error: Error) => void): void;
  /** The broker takes no messages (out of memory or disk). */
  isBlocked(): boolean;
  close(): Promise<void>;
}

const CONNECT_LIMIT_MS = 10_000;
const HEARTBEAT_SECONDS = 10;

export const openConnection = ({ url, name, log, jitter }: ConnectionOptions): AmqpConnection => {
  const downListeners: ((error: Error) => void)[] = [];
  let model = Promise.withResolvers<ChannelModel>();
  let blocked = false;

  const goDown = (error: Error) => {
    blocked = false;
    for (const listener of downListeners) listener(error);
  };
  const listen = (recovering: RecoveringChannelModel) => {
    recovering.on('connect', (live) => {
      log.info('broker connected', { connection: name });
      model.resolve(live);
    });
    recovering.on('disconnect', (error) => {
      log.warn('broker lost', { connection: name, error });
      model = Promise.withResolvers();
      goDown(error);
    });
    recovering.on('connect-failed', goDown);
    recovering.on('reconnect-scheduled', ({ attempt, delay, error }) => {
      log.warn('broker unreachable, retrying', { connection: name, attempt, delayMs: delay, error });
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
      calculateDelay: (attempt) => backoffMs(attempt, jitter),
      setup: (fresh: ChannelModel) => proveAlive(fresh, log),
    },
  }).then(listen);

  return {
    up: () => model.promise,
    onDown: (listener) => void downListeners.push(listener),
    isBlocked: () => blocked,
    async close() {
      model.promise.catch(() => undefined);
      model.reject(new Error('the connection is closed'));
      await (await recovering).close();
    },
  };
};

/** Recovery listens only after setup: until then the error is ours to hear. The round trip at the end keeps a connection that died meanwhile from counting as one. */
const proveAlive = async (model: ChannelModel, log: Log): Promise<void> => {
  model.on('error', (error) => log.debug('new connection failed', { error }));
  const channel = listenTo(await model.createChannel(), log);
  await channel.close();
};

/** Without an error listener, a channel that the broker closes ends the process. */
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
