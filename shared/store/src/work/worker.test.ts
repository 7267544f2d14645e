import type { Loop } from '@bubbles/kernel/loop.ts';
import { currentTraceparent, startSpan, traceparentOf } from '@bubbles/kernel/trace.ts';
import { openEmbedded } from '@bubbles/store-embedded/open-embedded.ts';
import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { fakeIds } from '@bubbles/testing/fake-ids.ts';
import { memoryLog } from '@bubbles/testing/memory-log.ts';
import { describe, expect, it } from '@jest/globals';
import type { Doc } from '../collection.ts';
import { createWorkQueue, type WorkQueue } from './work-queue.ts';
import { createWorker, type WorkerOptions } from './worker.ts';

interface Mail extends Doc {
  readonly to: string;
  readonly dueAt: Date;
  readonly leaseToken: string | null;
}

const LEASE_MS = 60_000;

const scene = async () => {
  const clock = fakeClock();
  const log = memoryLog();
  const collection = openEmbedded({ path: ':memory:', log }).database('test').collection<Mail>('mails');
  await collection.ensureIndexes([{ name: 'due_at', keys: { dueAt: 1 } }]);
  const queue = createWorkQueue({ collection, fields: { claimableAt: 'dueAt', leaseToken: 'leaseToken' } });
  const add = (ids: readonly string[], { to = 'x', inMs = 0 } = {}) =>
    collection.insertEach(ids.map((_id) => ({ _id, to, dueAt: new Date(clock.now().getTime() + inMs), leaseToken: null })));
  const worker = (options: Pick<WorkerOptions<Mail>, 'work'> & Partial<WorkerOptions<Mail>>): Loop =>
    createWorker({ name: 'mails', queue, clock, ids: fakeIds(), log, leaseMs: LEASE_MS, pollMs: 1000, concurrency: 4, ...options });
  return { clock, log, collection, queue, add, worker };
};

/** Work that ends when told. */
const slowWork = (queue: WorkQueue<Mail>) => {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const work: WorkerOptions<Mail>['work'] = async ({ _id }, { token }) => {
    begun.push(_id);
    await new Promise<void>((resolve) => ends.set(_id, resolve));
    await queue.remove(_id, token);
  };
  return { begun, work, end: (id: string) => ends.get(id)?.() };
};

describe('createWorker', () => {
  it('does what is due, as much at once as it may, and goes on as pieces end', async () => {
    const { clock, queue, add, worker } = await scene();
    const { begun, work, end } = slowWork(queue);
    await add(['a', 'b', 'c']);
    const loop = worker({ work, concurrency: 2 });
    await clock.advance(0);
    expect(begun).toEqual(['a', 'b']);
    end('b');
    await clock.advance(0);
    expect(begun).toEqual(['a', 'b', 'c']);
    for (const id of begun) end(id);
    await loop.idle();
    await loop.stop();
  });

  it('work that takes long does not hold up what is written meanwhile', async () => {
    const { clock, queue, add, worker } = await scene();
    const { begun, work, end } = slowWork(queue);
    await add(['long']);
    const loop = worker({ work });
    await clock.advance(0);
    await add(['new']);
    loop.poke();
    await clock.advance(0);
    expect(begun).toEqual(['long', 'new']);
    for (const id of begun) end(id);
    await loop.stop();
  });

  it('a key has no more in flight than it may, and does not hold up the others', async () => {
    const { clock, queue, add, worker } = await scene();
    const { begun, work, end } = slowWork(queue);
    await add(['a1', 'a2'], { to: 'a' });
    await add(['b1'], { to: 'b' });
    const loop = worker({ work, perKey: { field: 'to', concurrency: 1 } });
    await clock.advance(0);
    expect(begun).toEqual(['a1', 'b1']);
    end('a1');
    await clock.advance(0);
    expect(begun).toEqual(['a1', 'b1', 'a2']);
    for (const id of begun) end(id);
    await loop.stop();
  });

  it('each attempt is of the trace of what caused the work, or of its own', async () => {
    const { queue, add, worker } = await scene();
    const cause = startSpan();
    const traces = new Map<string, string | null>();
    await add(['caused', 'alone']);
    const loop = worker({
      causedBy: ({ _id }) => (_id === 'caused' ? traceparentOf(cause) : undefined),
      async work({ _id }, { token }) {
        traces.set(_id, currentTraceparent());
        await queue.remove(_id, token);
      },
    });
    await loop.idle();
    expect(traces.get('caused')).toMatch(new RegExp(`^00-${cause.traceId}-(?!${cause.id})`));
    expect(traces.get('alone')).toMatch(new RegExp(`^00-(?!${cause.traceId})`));
    await loop.stop();
  });

  it('a piece that fails is tried again after a backoff and keeps no other from its turn', async () => {
    const { clock, log, collection, queue, add, worker } = await scene();
    const tries: string[] = [];
    await add(['bad', 'good']);
    const loop = worker({
      async work({ _id }, { token }) {
        tries.push(_id);
        if (_id === 'bad' && tries.length < 4) throw new Error('away');
        await queue.remove(_id, token);
      },
    });
    await clock.advance(0);
    expect(tries).toEqual(['bad', 'good']);
    loop.poke();
    await clock.advance(0);
    expect(tries).toEqual(['bad', 'good']);
    await clock.advance(100);
    await clock.advance(200);
    expect(tries).toEqual(['bad', 'good', 'bad', 'bad']);
    expect(log.lines.filter(({ level }) => level === 'warn')).toHaveLength(2);
    await loop.idle();
    expect(await collection.count({})).toBe(0);
    await loop.stop();
  });

  it('`idle` tries what failed once more first, and does not wait beyond that', async () => {
    const { queue, add, worker } = await scene();
    let isAway = true;
    let tries = 0;
    await add(['a']);
    const loop = worker({
      async work({ _id }, { token }) {
        tries += 1;
        if (isAway) throw new Error('away');
        await queue.remove(_id, token);
      },
    });
    await loop.idle();
    await loop.idle();
    expect(tries).toBe(2);
    isAway = false;
    await loop.idle();
    await loop.idle();
    expect(tries).toBe(3);
    await loop.stop();
  });

  it('claiming pauses when all work fails, and all is tried again with the first success', async () => {
    const { clock, collection, queue, add, worker } = await scene();
    let isAway = true;
    const tried = new Set<string>();
    await add(Array.from({ length: 100 }, (_, n) => `m${n}`));
    const loop = worker({
      async work({ _id }, { token }) {
        tried.add(_id);
        if (isAway) throw new Error('away');
        await queue.remove(_id, token);
      },
    });
    await clock.advance(0);
    expect(tried.size).toBeLessThan(40);
    isAway = false;
    await clock.advance(100);
    await loop.idle();
    expect(await collection.count({})).toBe(0);
    await loop.stop();
  });

  it('the log tells that all work fails in a few lines, and that it succeeds again', async () => {
    const { clock, log, collection, queue, add, worker } = await scene();
    let isAway = true;
    let failed = 0;
    await add(Array.from({ length: 100 }, (_, n) => `m${n}`));
    const loop = worker({
      async work({ _id }, { token }) {
        failed += Number(isAway);
        if (isAway) throw new Error('away');
        await queue.remove(_id, token);
      },
    });
    for (let second = 0; second < 60; second += 1) await clock.advance(1000);
    const warnings = log.lines.filter(({ message }) => message === 'work failed, retrying');
    expect(failed).toBeGreaterThan(100);
    expect(warnings.length).toBeLessThanOrEqual(Math.log2(failed) + 1);
    isAway = false;
    await loop.idle();
    expect(await collection.count({})).toBe(0);
    expect(log.lines.filter(({ message }) => message === 'work succeeded again')).toMatchObject([
      { level: 'info', fields: { failures: failed } },
    ]);
    await loop.stop();
  });

  it('wakes when work falls due, and finds by a poll what another process wrote', async () => {
    const { clock, queue, add, worker } = await scene();
    const done: string[] = [];
    const loop = worker({
      wakesWhenDue: true,
      async work({ _id }, { token }) {
        done.push(`${_id} ${clock.now().getTime()}`);
        await queue.remove(_id, token);
      },
    });
    const start = clock.now().getTime();
    await add(['due'], { inMs: 250 });
    loop.poke();
    await clock.advance(300);
    await add(['other']);
    await clock.advance(1000);
    expect(done).toEqual([`due ${start + 250}`, expect.stringMatching(/^other /)]);
    await loop.stop();
  });

  it('two workers share the work, each piece once', async () => {
    const { queue, collection, add, worker } = await scene();
    const done: string[] = [];
    const work: WorkerOptions<Mail>['work'] = async ({ _id }, { token }) => {
      done.push(_id);
      await queue.remove(_id, token);
    };
    const ids = Array.from({ length: 40 }, (_, n) => `m${n}`);
    await add(ids);
    const loops = [worker({ work }), worker({ work, ids: fakeIds('other') })];
    await Promise.all(loops.map((loop) => loop.idle()));
    expect([done.toSorted(), await collection.count({})]).toEqual([ids.toSorted(), 0]);
    await Promise.all(loops.map((loop) => loop.stop()));
  });

  it('renews the lease of long work, and tells it when the lease was lost', async () => {
    const { clock, log, collection, queue, add, worker } = await scene();
    const { promise, resolve } = Promise.withResolvers<void>();
    const lost = Promise.withResolvers<void>();
    await add(['long']);
    const loop = worker({
      renews: true,
      async work(_mail, _lease, signal) {
        signal.addEventListener('abort', () => lost.resolve());
        await promise;
      },
    });
    await clock.advance(0);
    for (let minute = 0; minute < 5; minute += 1) for (let part = 0; part < 3; part += 1) await clock.advance(20_000);
    expect(await queue.claimNext(clock.now(), { token: 'other', until: clock.now() })).toBeNull();
    await collection.updateOne({ _id: 'long' }, { $set: { leaseToken: 'other' } });
    await clock.advance(20_000);
    await lost.promise;
    expect(log.lines.at(-1)).toMatchObject({ level: 'warn', message: 'lease lost' });
    resolve();
    await loop.stop();
    expect((await collection.findOne({ _id: 'long' }))?.leaseToken).toBe('other');
  });

  it('stop waits for the work in flight and begins no other', async () => {
    const { clock, queue, collection, add, worker } = await scene();
    const { begun, work, end } = slowWork(queue);
    await add(['a', 'b']);
    const loop = worker({ work, concurrency: 1 });
    await clock.advance(0);
    const stopping = loop.stop();
    end('a');
    await stopping;
    expect([begun, await collection.count({})]).toEqual([['a'], 1]);
  });
});
