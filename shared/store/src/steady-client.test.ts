import { EventEmitter } from 'node:events';
import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { memoryLog } from '@bubbles/testing/memory-log.ts';
import { describe, expect, it } from '@jest/globals';
import type { MongoClient } from 'mongodb';
import { type Client, steadyClient } from './steady-client.ts';

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
  ends(how: 'Succeeded' | 'Failed') {
    this.emit(`serverHeartbeat${how}`, { connectionId: SERVER });
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
  return { clock, log, opened, steady: steadyClient({ open, clock, log, limits: LIMITS }) };
};

describe('steadyClient', () => {
  it('replaces a client whose check does not end, and closes it', async () => {
    const { clock, log, opened, steady } = setUp();
    const first = steady.current();
    first.starts();
    first.ends('Succeeded');
    first.starts();
    await clock.advance(3400);
    expect(steady.mend()).toBe(false);
    await clock.advance(200);
    expect(steady.mend()).toBe(true);
    expect(first.closed).toBe(true);
    expect(steady.current()).not.toBe(first);
    expect(log.lines).toEqual([expect.objectContaining({ level: 'warn', message: 'database check did not end, reconnecting' })]);
    expect(steady.mend()).toBe(false);
    expect(opened).toHaveLength(2);
  });

  it('replaces a client that has given up connecting, whoever finds out first', async () => {
    const { log, opened, steady } = setUp();
    const first = steady.current();
    first.givesUp();
    const second = steady.current();
    expect(second).not.toBe(first);
    expect(first.closed).toBe(true);
    second.givesUp();
    expect(steady.mend()).toBe(true);
    expect(steady.mend()).toBe(false);
    expect(steady.current()).toBe(opened[2]);
    expect(opened).toHaveLength(3);
    const line = expect.objectContaining({ level: 'warn', message: 'database unreachable, reconnecting' });
    expect(log.lines).toEqual([line, line]);
    await steady.close();
    expect(steady.current()).toBe(opened[2]);
    expect(opened).toHaveLength(3);
  });

  it.each(['Succeeded', 'Failed'] as const)('keeps a client whose checks end: %s', async (how) => {
    const { clock, steady } = setUp();
    const first = steady.current();
    for (let check = 0; check < 3; check++) {
      first.starts();
      await clock.advance(2900);
      first.ends(how);
      await clock.advance(60_000);
    }
    expect(steady.mend()).toBe(false);
    expect(steady.current()).toBe(first);
  });

  it('lets a check that has to connect take two steps, after a failure too', async () => {
    const { clock, steady } = setUp();
    const first = steady.current();
    first.starts();
    await clock.advance(6400);
    expect(steady.mend()).toBe(false);
    first.ends('Succeeded');
    first.starts();
    first.ends('Failed');
    first.starts();
    await clock.advance(6400);
    expect(steady.mend()).toBe(false);
    await clock.advance(200);
    expect(steady.mend()).toBe(true);
  });

  it('lets a server keep a check that waits for news', async () => {
    const { clock, steady } = setUp();
    const first = steady.current();
    first.starts();
    first.ends('Succeeded');
    first.starts(true);
    await clock.advance(13_400);
    expect(steady.mend()).toBe(false);
    await clock.advance(200);
    expect(steady.mend()).toBe(true);
  });

  it('forgets a server that is no longer one of them', async () => {
    const { clock, steady } = setUp();
    const first = steady.current();
    first.starts();
    first.emit('serverClosed', { topologyId: 0, address: SERVER });
    await clock.advance(60_000);
    expect(steady.mend()).toBe(false);
  });

  it('opens nothing more when it is closed', async () => {
    const { clock, opened, steady } = setUp();
    steady.current().starts();
    await clock.advance(60_000);
    await steady.close();
    expect(steady.mend()).toBe(false);
    expect(opened).toHaveLength(1);
  });

  it('closes with what it has replaced, and tells of one that does not close', async () => {
    const { clock, log, steady } = setUp();
    const first = steady.current();
    const ending = Promise.withResolvers<void>();
    first.ending = ending.promise;
    first.starts();
    await clock.advance(10_000);
    steady.mend();
    let closed = false;
    const closing = steady.close().then(() => {
      closed = true;
    });
    await new Promise(setImmediate);
    expect(closed).toBe(false);
    ending.reject(new Error('no'));
    await closing;
    expect(steady.current().closed).toBe(true);
    expect(log.lines.map(({ message }) => message)).toContain('database client did not close');
  });
});
