import type { Clock } from '@bubbles/kernel/clock.ts';
import { inFlight } from '@bubbles/kernel/concurrency.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import type { MongoClient, TopologyDescription } from 'mongodb';
import { ForeignReplicaSetError } from './collection.ts';

/** What it uses of the driver's client. */
export type Client = Pick<MongoClient, 'db' | 'on' | 'close'>;

interface ReconnectingClientOptions<C extends Client> {
  readonly open: () => C;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits: {
    /** The limit of one step of a check: to connect, or to be answered. */
    readonly connectTimeoutMS: number;
    /** How long a server may keep a check that waits for news. */
    readonly heartbeatFrequencyMS: number;
  };
}

/**
 * The driver's client, replaced when it will never reach the database again. Driver 7.8 has two faults; a test for each says when its part here can go.
 * A client whose first connect failed stays closed: https://github.com/mongodb/node-mongodb-native/pull/3618 reports how it keeps others from connecting.
 * A check that is written to a closed socket waits for 'drain' without limit, and its server counts as unreachable from then on:
 * https://github.com/mongodb/node-mongodb-native/pull/4245 reports the same wait for other commands.
 */
export interface ReconnectingClient<C extends Client> {
  current(): C;
  /** Called after an operation that failed. True when the client was replaced. */
  replaceIfBroken(): boolean;
  /** Why no server takes operations, as far as the driver has found out; null while one does. */
  whyNoServer(): Error | null;
  close(): Promise<void>;
}

const SLACK_MS = 500;

export const createReconnectingClient = <C extends Client>({
  open,
  clock,
  log,
  limits,
}: ReconnectingClientOptions<C>): ReconnectingClient<C> => {
  const openWatched = () => {
    const client = open();
    return { client, hasGivenUp: watchConnecting(client), isStuck: watchChecks(client, clock, limits), whyNoServer: watchServers(client) };
  };
  let watched = openWatched();
  let closed = false;
  /** Closing of clients that were replaced. */
  const replaced = inFlight();

  const replace = () => {
    void replaced.track(watched.client.close().catch((error: unknown) => log.warn('database client did not close', { error })));
    watched = openWatched();
  };
  const replaceIfBroken = (): boolean => {
    if (closed) return false;
    if (watched.hasGivenUp()) log.warn('database unreachable, reconnecting');
    else if (watched.isStuck()) log.warn('database check did not end, reconnecting');
    else return false;
    replace();
    return true;
  };
  return {
    current() {
      if (watched.hasGivenUp()) replaceIfBroken();
      return watched.client;
    },
    replaceIfBroken,
    whyNoServer: () => watched.whyNoServer(),
    async close() {
      closed = true;
      await Promise.all([watched.client.close(), replaced.idle()]);
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

const TAKES_OPERATIONS: readonly string[] = ['RSPrimary', 'Standalone', 'Mongos', 'LoadBalancer'];

/** An operation that finds no server ends with its deadline, which says nothing of the reason; the driver's checks of the servers do. */
const watchServers = (client: Client): (() => Error | null) => {
  let topology: TopologyDescription | null = null;
  const faults = new Map<string, string>();
  const setNames = new Map<string, string | null>();
  client
    .on('topologyDescriptionChanged', ({ newDescription }) => {
      topology = newDescription;
    })
    .on('serverHeartbeatFailed', ({ connectionId, failure }) => {
      faults.set(connectionId, failure.message);
    })
    .on('serverHeartbeatSucceeded', ({ connectionId, reply }) => {
      faults.delete(connectionId);
      setNames.set(connectionId, reply['setName'] ?? null);
    });
  return () => {
    if (topology?.servers.values().some(({ type }) => TAKES_OPERATIONS.includes(type)) ?? true) return null;
    return foreignSet(setNames, topology?.setName ?? null) ?? silentServer(faults);
  };
};

/** The driver forgets a server of another replica set than the one that it was told. */
const foreignSet = (setNames: ReadonlyMap<string, string | null>, wanted: string | null): Error | null => {
  const [server, name = null] = setNames.entries().find(([, found]) => found !== wanted) ?? [];
  if (server === undefined || wanted === null) return null;
  // A member that was not told its set yet may still become one of it.
  return name === null
    ? new Error(`${server} is in no replica set, and the URL names ${wanted}`)
    : new ForeignReplicaSetError(`at ${server} is in the replica set ${name}, and the URL names ${wanted}`);
};

const silentServer = (faults: ReadonlyMap<string, string>): Error | null => {
  const said = [...faults].map(([server, fault]) => (fault.includes(server) ? fault : `${server}: ${fault}`));
  return said.length === 0 ? null : new Error(said.join(', '));
};

/** Whether a check of a server takes longer than the driver's own limits allow. */
const watchChecks = (client: Client, clock: Clock, limits: ReconnectingClientOptions<Client>['limits']): (() => boolean) => {
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
