import { currentTraceparent, startSpan, traceparentOf } from '@bubbles/kernel/trace.ts';
import { fakeIds } from '@bubbles/testing/fake-ids.ts';
import { type Mail, workerScene } from '@bubbles/testing/worker-scene.ts';
import { describe, expect, it } from '@jest/globals';
import type { WorkQueue } from './work-queue.ts';
import type { WorkerOptions } from './worker.ts';

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
    const { clock, queue, add, worker } = await workerScene();
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
    const { clock, queue, add, worker } = await workerScene();
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
    const { clock, queue, add, worker } = await workerScene();
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
    const { queue, add, worker } = await workerScene();
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

  it('wakes when work falls due, and finds by a poll what another process wrote', async () => {
    const { clock, queue, add, worker } = await workerScene();
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
    const { queue, collection, add, worker } = await workerScene();
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
    const { clock, log, collection, queue, add, worker } = await workerScene();
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
    const { clock, queue, collection, add, worker } = await workerScene();
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
