import type { Clock } from '@bubbles/kernel/clock.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import type { MongoClient } from 'mongodb';

/** What it uses of the driver's client. */
export type Client = Pick<MongoClient, 'db' | 'on' | 'close'>;

export interface SteadyClientOptions<C extends Client> {
  readonly open: () => C;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits: {
    /** Of one step of a check: connecting, or question and answer. */
    readonly connectTimeoutMS: number;
    /** How long a server may keep a check that waits for news. */
    readonly heartbeatFrequencyMS: number;
  };
}

/**
 * The driver's client, and another one when the driver (7.8) will never reach the database through it again. It gives up for good when it does not connect
 * at first: everything after that finds it closed. And it waits without limit for a check of a server that it writes to a socket that has ended and has
 * not said so yet, and takes the server for gone ever after.
 */
export interface SteadyClient<C extends Client> {
  current(): C;
  /** Called after an operation that failed: whether the client was replaced. */
  mend(): boolean;
  close(): Promise<void>;
}

const SLACK_MS = 500;

export const steadyClient = <C extends Client>({ open, clock, log, limits }: SteadyClientOptions<C>): SteadyClient<C> => {
  const openWatched = () => {
    const client = open();
    return { client, hasGivenUp: watchConnecting(client), isStuck: watchChecks(client, clock, limits) };
  };
  let watched = openWatched();
  let closed = false;
  const retired = new Set<Promise<void>>();

  const replace = () => {
    const closing = watched.client
      .close()
      .catch((error: unknown) => log.warn('database client did not close', { error }))
      .finally(() => retired.delete(closing));
    retired.add(closing);
    watched = openWatched();
  };
  const mend = (): boolean => {
    if (closed) return false;
    if (watched.hasGivenUp()) log.warn('database unreachable, reconnecting');
    else if (watched.isStuck()) log.warn('database check did not end, reconnecting');
    else return false;
    replace();
    return true;
  };
  return {
    current() {
      if (watched.hasGivenUp()) mend();
      return watched.client;
    },
    mend,
    async close() {
      closed = true;
      await Promise.all([watched.client.close(), ...retired]);
    },
  };
};

const watchConnecting = (client: Client): (() => boolean) => {
  let over = false;
  client.on('topologyClosed', () => {
    over = true;
  });
  return () => over;
};

/** Whether a check of some server takes longer than the driver's own limits allow. */
const watchChecks = (client: Client, clock: Clock, limits: SteadyClientOptions<Client>['limits']): (() => boolean) => {
  /** By server, when its check should have ended. */
  const due = new Map<string, number>();
  const connected = new Set<string>();
  client
    .on('serverHeartbeatStarted', ({ connectionId, awaited }) => {
      const steps = connected.has(connectionId) ? 1 : 2;
      const newsMs = awaited ? limits.heartbeatFrequencyMS : 0;
      due.set(connectionId, clock.monotonic() + steps * limits.connectTimeoutMS + newsMs + SLACK_MS);
    })
    .on('serverHeartbeatSucceeded', ({ connectionId }) => {
      connected.add(connectionId);
      due.delete(connectionId);
    })
    .on('serverHeartbeatFailed', ({ connectionId }) => {
      connected.delete(connectionId);
      due.delete(connectionId);
    })
    .on('serverClosed', ({ address }) => {
      due.delete(address);
    });
  return () => due.values().some((end) => clock.monotonic() > end);
};
