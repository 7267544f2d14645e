import { type Mail, workerScene } from '@bubbles/testing/worker-scene.ts';
import { describe, expect, it } from '@jest/globals';
import type { WorkQueue } from './work-queue.ts';
import type { WorkerOptions } from './worker.ts';

/** Pieces that fail whenever they are tried, with what was tried and what was done. */
const partlyBad = (queue: WorkQueue<Mail>) => {
  const [bad, done] = [new Map<string, number>(), new Set<string>()];
  const work: WorkerOptions<Mail>['work'] = async ({ _id }, { token }) => {
    if (_id.startsWith('bad')) {
      bad.set(_id, (bad.get(_id) ?? 0) + 1);
      throw new Error('of its own');
    }
    await queue.remove(_id, token);
    done.add(_id);
  };
  return { work, done, tries: () => [...bad.values()].reduce((sum, count) => sum + count, 0), tried: () => bad.size };
};
const named = (prefix: string, count: number) => Array.from({ length: count }, (_, n) => `${prefix}${n}`);

describe('work that fails', () => {
  it('a piece that fails is tried again after a backoff and keeps no other from its turn', async () => {
    const { clock, log, collection, queue, add, worker } = await workerScene();
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
    const { queue, add, worker } = await workerScene();
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
    const { clock, collection, queue, add, worker } = await workerScene();
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
    const { clock, log, collection, queue, add, worker } = await workerScene();
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

  it('pieces that fail for reasons of their own keep no younger one waiting, however many they are', async () => {
    const { clock, queue, add, worker } = await workerScene({ keepsPlace: true });
    const { work, done, tried } = partlyBad(queue);
    for (const bad of named('bad', 60)) {
      await add([bad]);
      await clock.advance(1);
    }
    const loop = worker({ work, pollMs: 60_000, concurrency: 1 });
    for (let part = 0; part < 200; part += 1) await clock.advance(100);
    expect(tried()).toBe(60);
    await add(named('good', 20));
    loop.poke();
    for (let part = 0; part < 20; part += 1) await clock.advance(100);
    expect(done.size).toBe(20);
    await loop.stop();
  });

  it('a success beside many failures does not make all of them due at once', async () => {
    const { clock, queue, add, worker } = await workerScene();
    const { work, done, tries } = partlyBad(queue);
    await add(named('bad', 40));
    const loop = worker({ work });
    for (let part = 0; part < 300; part += 1) {
      await add([`good${part}`]);
      loop.poke();
      await clock.advance(100);
    }
    expect(done.size).toBeGreaterThan(280);
    // Ten a second, after the first ones.
    expect(tries()).toBeLessThan(500);
    await loop.stop();
  });
});
