import { EventEmitter, once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { memoryLog } from '@bubbles/testing/memory-log.ts';
import { describe, expect, it } from '@jest/globals';
import { MongoClient } from 'mongodb';
import { ForeignReplicaSetError } from './collection.ts';
import { type Client, createReconnectingClient } from './reconnecting-client.ts';

const AT = new Date('2026-01-01T00:00:00.000Z');
const LIMITS = { connectTimeoutMS: 3000, heartbeatFrequencyMS: 10_000 };
const SERVER = '127.0.0.1:27017';

/** What the driver's client tells of its checks, told by hand. */
class FakeClient extends EventEmitter implements Pick<Client, 'close'> {
  closed = false;
  ending: Promise<void> = Promise.resolve();
  close() {
    this.closed = true;
    this.givesUp();
    return this.ending;
  }
  db(): never {
    throw new Error('nobody asks it for data');
  }
  /** As the driver does when it has not connected in time, and when it is closed. */
  givesUp() {
    this.emit('topologyClosed', { topologyId: 0 });
  }
  starts(awaited = false) {
    this.emit('serverHeartbeatStarted', { connectionId: SERVER, awaited });
  }
  ends(how: 'Succeeded' | 'Failed', { setName, failure = 'refused' }: { readonly setName?: string; readonly failure?: string } = {}) {
    this.emit(`serverHeartbeat${how}`, { connectionId: SERVER, reply: { setName }, failure: new Error(failure) });
  }
  /** What the driver makes of its checks: the set that it looks for, and of what type its servers are. */
  sees(setName: string | null, ...types: readonly string[]) {
    const servers = new Map(types.map((type, n) => [String(n), { type }]));
    this.emit('topologyDescriptionChanged', { newDescription: { setName, servers } });
  }
}

const setUp = () => {
  const clock = fakeClock(AT);
  const log = memoryLog();
  const opened: FakeClient[] = [];
  const open = () => {
    const client = new FakeClient();
    opened.push(client);
    // An emitter has all that is used of the driver's `on`, which is typed by event.
    return client as FakeClient & Pick<MongoClient, 'on'>;
  };
  return { clock, log, opened, client: createReconnectingClient({ open, clock, log, limits: LIMITS }) };
};

/** What the driver keeps to itself, reached by its path: how it was in the version that is installed. */
const driverPart = async (path: string): Promise<Record<string, unknown>> => import(`../../../node_modules/mongodb/lib/${path}`);

describe('the driver still needs to be replaced', () => {
  it('since a client whose first connect failed stays closed', async () => {
    const client = new MongoClient('mongodb://127.0.0.1:1/?directConnection=true', { serverSelectionTimeoutMS: 50 });
    const ping = () => client.db('test').command({ ping: 1 });
    await expect(ping()).rejects.toMatchObject({ name: 'MongoServerSelectionError' });
    // When this is another server selection, `hasGivenUp` can go.
    await expect(ping()).rejects.toMatchObject({ name: 'MongoTopologyClosedError' });
    await client.close();
  });

  it('since a command on a socket that is closed and has not said so yet never ends', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const socket = connect(typeof address === 'object' ? (address?.port ?? 0) : 0, '127.0.0.1');
    await once(socket, 'connect');
    const { Connection } = (await driverPart('cmap/connection.js')) as { Connection: typeof InternalConnection };
    const { ns } = (await driverPart('utils.js')) as { ns: (name: string) => unknown };
    const connection = new Connection(socket, { hostAddress: '', generation: 0, id: 1, monitorCommands: false });
    let ended = false;
    const end = () => {
      ended = true;
    };
    socket.destroy();
    connection.command(ns('admin.$cmd'), { hello: 1 }, {}).then(end, end);
    await once(socket, 'close');
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
    // When it has ended, `isStuck` can go.
    expect({ closed: connection.closed, ended }).toEqual({ closed: true, ended: false });
    server.close();
  });
});

declare class InternalConnection {
  constructor(socket: Socket, options: object);
  readonly closed: boolean;
  command(namespace: unknown, command: object, options: object): Promise<unknown>;
}

describe('createReconnectingClient', () => {
  it('replaces a client whose check does not end, and closes it', async () => {
    const { clock, log, opened, client } = setUp();
    const first = client.current();
    first.starts();
    first.ends('Succeeded');
    first.starts();
    await clock.advance(3400);
    expect(client.replaceIfBroken()).toBe(false);
    await clock.advance(200);
    expect(client.replaceIfBroken()).toBe(true);
    expect(first.closed).toBe(true);
    expect(client.current()).not.toBe(first);
    expect(log.lines).toEqual([expect.objectContaining({ level: 'warn', message: 'database check did not end, reconnecting' })]);
    expect(client.replaceIfBroken()).toBe(false);
    expect(opened).toHaveLength(2);
  });

  it('replaces a client that has given up connecting, whoever finds out first', async () => {
    const { log, opened, client } = setUp();
    const first = client.current();
    first.givesUp();
    const second = client.current();
    expect(second).not.toBe(first);
    expect(first.closed).toBe(true);
    second.givesUp();
    expect(client.replaceIfBroken()).toBe(true);
    expect(client.replaceIfBroken()).toBe(false);
    expect(client.current()).toBe(opened[2]);
    expect(opened).toHaveLength(3);
    const line = expect.objectContaining({ level: 'warn', message: 'database unreachable, reconnecting' });
    expect(log.lines).toEqual([line, line]);
    await client.close();
    expect(client.current()).toBe(opened[2]);
    expect(opened).toHaveLength(3);
  });

  it.each(['Succeeded', 'Failed'] as const)('keeps a client whose checks end: %s', async (how) => {
    const { clock, client } = setUp();
    const first = client.current();
    for (let check = 0; check < 3; check++) {
      first.starts();
      await clock.advance(2900);
      first.ends(how);
      await clock.advance(60_000);
    }
    expect(client.replaceIfBroken()).toBe(false);
    expect(client.current()).toBe(first);
  });

  it('lets a check that has to connect take two steps, after a failure too', async () => {
    const { clock, client } = setUp();
    const first = client.current();
    first.starts();
    await clock.advance(6400);
    expect(client.replaceIfBroken()).toBe(false);
    first.ends('Succeeded');
    first.starts();
    first.ends('Failed');
    first.starts();
    await clock.advance(6400);
    expect(client.replaceIfBroken()).toBe(false);
    await clock.advance(200);
    expect(client.replaceIfBroken()).toBe(true);
  });

  it('lets a server keep a check that waits for news', async () => {
    const { clock, client } = setUp();
    const first = client.current();
    first.starts();
    first.ends('Succeeded');
    first.starts(true);
    await clock.advance(13_400);
    expect(client.replaceIfBroken()).toBe(false);
    await clock.advance(200);
    expect(client.replaceIfBroken()).toBe(true);
  });

  it('forgets a server that is no longer one of them', async () => {
    const { clock, client } = setUp();
    const first = client.current();
    first.starts();
    first.emit('serverClosed', { topologyId: 0, address: SERVER });
    await clock.advance(60_000);
    expect(client.replaceIfBroken()).toBe(false);
  });

  it('opens nothing more when it is closed', async () => {
    const { clock, opened, client } = setUp();
    client.current().starts();
    await clock.advance(60_000);
    await client.close();
    expect(client.replaceIfBroken()).toBe(false);
    expect(opened).toHaveLength(1);
  });

  it('closes with what it has replaced, and tells of one that does not close', async () => {
    const { clock, log, client } = setUp();
    const first = client.current();
    const ending = Promise.withResolvers<void>();
    first.ending = ending.promise;
    first.starts();
    await clock.advance(10_000);
    client.replaceIfBroken();
    let closed = false;
    const closing = client.close().then(() => {
      closed = true;
    });
    await new Promise(setImmediate);
    expect(closed).toBe(false);
    ending.reject(new Error('no'));
    await closing;
    expect(client.current().closed).toBe(true);
    expect(log.lines.map(({ message }) => message)).toContain('database client did not close');
  });
});

describe('why no server takes operations', () => {
  const reasonAfter = (act: (client: FakeClient) => void): Error | null => {
    const { client } = setUp();
    act(client.current());
    return client.whyNoServer();
  };

  it('is not said before the driver has looked, nor while one takes them', () => {
    expect(reasonAfter(() => undefined)).toBeNull();
    for (const type of ['RSPrimary', 'Standalone', 'Mongos', 'LoadBalancer']) {
      const reason = reasonAfter((client) => {
        client.ends('Failed');
        client.sees(null, 'Unknown', type);
      });
      expect(reason).toBeNull();
    }
  });

  it('is what the last check of the server met', () => {
    const reason = reasonAfter((client) => {
      client.ends('Failed', { failure: 'getaddrinfo ENOTFOUND' });
      client.ends('Failed', { failure: 'self-signed certificate' });
      client.sees(null, 'Unknown');
    });
    expect(reason).toEqual(new Error(`${SERVER}: self-signed certificate`));
  });

  it('names the server once', () => {
    const reason = reasonAfter((client) => {
      client.ends('Failed', { failure: `connect ECONNREFUSED ${SERVER}` });
      client.sees('rs0', 'Unknown');
    });
    expect(reason).toEqual(new Error(`connect ECONNREFUSED ${SERVER}`));
  });

  it('is the replica set of the server, when the URL names another', () => {
    const reason = reasonAfter((client) => {
      client.ends('Succeeded', { setName: 'rs1' });
      client.sees('rs0');
    });
    expect(reason).toBeInstanceOf(ForeignReplicaSetError);
    expect(reason).toMatchObject({ message: `at ${SERVER} is in the replica set rs1, and the URL names rs0` });
  });

  it('is that the server has no replica set yet', () => {
    const reason = reasonAfter((client) => {
      client.ends('Succeeded');
      client.sees('rs0');
    });
    expect(reason).toEqual(new Error(`${SERVER} is in no replica set, and the URL names rs0`));
    expect(reason).not.toBeInstanceOf(ForeignReplicaSetError);
  });

  it('is unknown while a replica set chooses its primary', () => {
    const reason = reasonAfter((client) => {
      client.ends('Succeeded', { setName: 'rs0' });
      client.sees('rs0', 'RSSecondary');
    });
    expect(reason).toBeNull();
  });
});
