import { describe, expect, it } from '@jest/globals';
import { seqAt } from '../../src/domain/search-card.ts';
import { type IndexBuilder, inlineBuilder } from '../../src/search/index-build.ts';
import { INLINE_CARDS } from '../../src/search/index-cache.ts';
import { uuidOf } from './harness.ts';
import { cacheOver, idsOf, START_MS, sprint, world } from './index-world.ts';

describe('the index of a caller', () => {
  it('[SRCH-04] after thousands were written at once reads few of them again, finds a latecomer among them at once and a change of one soon', async () => {
    const w = world();
    const cache = cacheOver(w);
    const MANY = 5000;
    for (let i = 0; i < MANY; i++) w.put(sprint(i), ['ann'], seqAt(START_MS + i * 10));
    w.pass(MANY * 10);
    await cache.warm('ann');
    expect(w.takeCosts().rowsRead).toBe(MANY);
    for (let again = 0; again < 3; again++) await cache.warm('ann');
    const { rowsRead, counts } = w.takeCosts();
    expect([rowsRead <= 3 * 256, counts]).toEqual([true, 3]);
    w.put(sprint(MANY + 1, { title: 'Latecomer' }), ['ann'], seqAt(START_MS + 7_005));
    w.put(sprint(MANY + 2, { title: 'Latecomer' }), ['ann'], seqAt(START_MS + MANY * 10 - 5));
    expect(await idsOf(cache, 'ann', 'latecomer')).toEqual([MANY + 2, MANY + 1].map(uuidOf));
    const late = w.takeCosts();
    expect([late.rowsRead < 1000, late.counts < 30]).toEqual([true, true]);
    w.put(sprint(MANY - 3, { title: 'Renamed' }), ['ann'], seqAt(START_MS + MANY * 10 - 21));
    w.put(sprint(4000, { title: 'Renamed' }), ['ann'], seqAt(START_MS + 40_001));
    expect(await idsOf(cache, 'ann', 'renamed')).toEqual([uuidOf(MANY - 3)]);
    w.pass(1000);
    expect(await idsOf(cache, 'ann', 'renamed')).toEqual([uuidOf(MANY - 3), uuidOf(4000)]);
    w.put(sprint(MANY + 3, { title: 'Newest' }), ['ann']);
    expect(await idsOf(cache, 'ann', 'newest')).toEqual([uuidOf(MANY + 3)]);
    expect(await idsOf(cache, 'ann', 'sprint')).toHaveLength(MANY - 2);
    w.pass(100_000);
    await cache.warm('ann');
    await cache.warm('ann');
    w.takeCosts();
    await cache.warm('ann');
    expect(w.takeCosts()).toEqual({ rowsRead: 0, counts: 0 });
  });

  it('[SRCH-04] reads again what it could not take', async () => {
    const w = world();
    const merges = { fail: true };
    const builder: IndexBuilder = {
      ...inlineBuilder(),
      build: (batches) => (merges.fail ? Promise.reject(new Error('no memory')) : inlineBuilder().build(batches)),
    };
    const cache = cacheOver(w, { builder });
    for (let i = 0; i < 2 * INLINE_CARDS; i++) w.put(sprint(i), ['ann']);
    await expect(cache.warm('ann')).rejects.toThrow('no memory');
    merges.fail = false;
    expect(await idsOf(cache, 'ann', 'sprint')).toHaveLength(2 * INLINE_CARDS);
  });

  it('[SRCH-02] builds an index of long texts beside the event loop, and again when one comes', async () => {
    const w = world();
    let builds = 0;
    const builder: IndexBuilder = {
      ...inlineBuilder(),
      build: (batches) => {
        builds += 1;
        return inlineBuilder().build(batches);
      },
    };
    const cache = cacheOver(w, { builder });
    const long = (seed: number) => Array.from({ length: 3000 }, (_, at) => `w${seed}x${at}`).join(' ');
    for (let i = 0; i < 8; i++) w.put(sprint(i, { summary: long(i) }), ['ann']);
    expect(await idsOf(cache, 'ann', 'w7x2999')).toEqual([uuidOf(7)]);
    expect(builds).toBe(1);
    w.put(sprint(9, { summary: long(9) }), ['ann']);
    expect(await idsOf(cache, 'ann', 'w9x1')).toEqual([uuidOf(9)]);
    w.put(sprint(10), ['ann']);
    expect([await idsOf(cache, 'ann', 'w9x1'), builds]).toEqual([[uuidOf(9)], 2]);
  });
});
