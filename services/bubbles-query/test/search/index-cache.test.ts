import { afterEach, describe, expect, it } from '@jest/globals';
import type { CardRow } from '../../src/domain/search-card.ts';
import { seqAt, withOverlap } from '../../src/domain/search-card.ts';
import { openThread, threadBuilder } from '../../src/search/build-threads.ts';
import { type IndexBuilder, inlineBuilder } from '../../src/search/index-build.ts';
import { INLINE_CARDS } from '../../src/search/index-cache.ts';
import { createSeqSource } from '../../src/use-cases/feed.ts';
import { createCorpus } from './corpus.ts';
import { cardOf, defined, type TestBubble, uuidOf } from './harness.ts';
import { cacheOver, idsOf, START_MS, sprint, world } from './index-world.ts';

const builders: IndexBuilder[] = [];
const threads = (): IndexBuilder => {
  const builder = threadBuilder(openThread, 1);
  builders.push(builder);
  return builder;
};
afterEach(async () => {
  await Promise.all(builders.splice(0).map((builder) => builder.stop()));
});

describe('the indexes of callers', () => {
  it('[SRCH-04] finds a card at the next search, and no longer when the caller left', async () => {
    const w = world();
    const cache = cacheOver(w);
    w.put(sprint(1), ['ann', 'bob']);
    expect(await idsOf(cache, 'ann', 'sprint')).toEqual([uuidOf(1)]);
    w.put(sprint(2), ['ann']);
    expect(await idsOf(cache, 'ann', 'sprint')).toEqual([uuidOf(2), uuidOf(1)]);
    expect(await idsOf(cache, 'bob', 'sprint')).toEqual([uuidOf(1)]);
    w.put(sprint(1), ['bob']);
    expect(await idsOf(cache, 'ann', 'sprint')).toEqual([uuidOf(2)]);
    w.put(sprint(1), ['ann']);
    expect(await idsOf(cache, 'ann', 'sprint')).toEqual([uuidOf(2), uuidOf(1)]);
  });

  it('[LIST-10] finds by the current name of an author, also one whose row came later', async () => {
    const w = world();
    const cache = cacheOver(w);
    w.put(sprint(1, { authorName: 'u7' }), ['ann']);
    expect(await idsOf(cache, 'ann', 'rivera')).toEqual([]);
    w.name('u7', 'Phoenix Rivera');
    expect(await idsOf(cache, 'ann', 'rivera')).toEqual([uuidOf(1)]);
    w.pass(200_000);
    w.name('u7', 'Phoenix Cole');
    expect(await idsOf(cache, 'ann', 'rivera')).toEqual([]);
    expect(await idsOf(cache, 'ann', 'cole')).toEqual([uuidOf(1)]);
  });

  it('[LIST-10] takes a newer name also from a writer whose clock is behind', async () => {
    const w = world();
    const cache = cacheOver(w);
    w.put(sprint(1, { authorName: 'u7' }), ['ann']);
    w.name('u7', 'Phoenix Rivera', seqAt(START_MS));
    expect(await idsOf(cache, 'ann', 'rivera')).toEqual([uuidOf(1)]);
    w.name('u7', 'Phoenix Cole', seqAt(START_MS - 20_000));
    expect([await idsOf(cache, 'ann', 'rivera'), await idsOf(cache, 'ann', 'cole')]).toEqual([[], [uuidOf(1)]]);
  });

  it('builds once for callers that come together', async () => {
    const w = world();
    const cache = cacheOver(w);
    w.put(sprint(1), ['ann']);
    const answers = await Promise.all(Array.from({ length: 20 }, () => idsOf(cache, 'ann', 'sprint')));
    expect(answers).toEqual(Array.from({ length: 20 }, () => [uuidOf(1)]));
    expect(w.reads.filter(({ seq }) => seq === 0)).toHaveLength(1);
    expect(w.reads).toHaveLength(2);
  });

  it('sees what was written while an earlier search was being answered', async () => {
    const w = world();
    const cache = cacheOver(w);
    w.put(sprint(1), ['ann']);
    const first = idsOf(cache, 'ann', 'sprint');
    await Promise.resolve();
    w.put(sprint(2), ['ann']);
    const second = idsOf(cache, 'ann', 'sprint');
    await first;
    expect(await second).toEqual([uuidOf(2), uuidOf(1)]);
  });

  it('reads again what was written within the overlap, and nothing before it', async () => {
    const w = world();
    const cache = cacheOver(w);
    w.put(sprint(1), ['ann']);
    w.pass(100_000);
    w.put(sprint(2), ['ann']);
    await cache.warm('ann');
    await cache.warm('ann');
    expect(w.reads[1]).toEqual({ userId: 'ann', seq: withOverlap(seqAt(START_MS + 100_000)) });
  });

  it('does not read again what was written long before the last search, however long nothing is written', async () => {
    const w = world();
    const cache = cacheOver(w);
    w.put(sprint(1), ['ann']);
    w.pass(100_000);
    await cache.warm('ann');
    await cache.warm('ann');
    expect(w.reads[1]).toEqual({ userId: 'ann', seq: withOverlap(seqAt(START_MS + 100_000)) });
  });

  it('lets go of the caller who searched longest ago when the budget is used up', async () => {
    const w = world();
    for (const user of ['ann', 'bob', 'cy']) for (let i = 0; i < 20; i++) w.put(sprint(user.charCodeAt(0) * 100 + i), [user]);
    const roomy = cacheOver(w);
    await roomy.warm('ann');
    const one = roomy.bytes();
    const cache = cacheOver(w, { budgetBytes: one * 2.5 });
    await cache.warm('ann');
    await cache.warm('bob');
    await cache.warm('ann');
    await cache.warm('cy');
    expect(cache.callers()).toBe(2);
    expect(cache.bytes()).toBeLessThanOrEqual(one * 2.5);
    w.reads.length = 0;
    await cache.warm('ann');
    await cache.warm('bob');
    expect(w.reads.map(({ seq }) => seq === 0)).toEqual([false, true]);
  });

  it('fails with the store and goes on with it', async () => {
    const w = world();
    const cache = cacheOver(w);
    w.put(sprint(1), ['ann']);
    w.fail(true);
    await expect(idsOf(cache, 'ann', 'sprint')).rejects.toThrow('the store is away');
    w.fail(false);
    expect(await idsOf(cache, 'ann', 'sprint')).toEqual([uuidOf(1)]);
    w.fail(true);
    await expect(idsOf(cache, 'ann', 'sprint')).rejects.toThrow('the store is away');
    w.fail(false);
    expect(await idsOf(cache, 'ann', 'sprint')).toEqual([uuidOf(1)]);
  });

  it('[SRCH-03] builds a large index in a thread and merges changes there, equal to the definition throughout', async () => {
    const w = world();
    const corpus = createCorpus(3 * INLINE_CARDS);
    const brief = (bubble: TestBubble): TestBubble => ({ ...bubble, summary: bubble.summary?.split(' ', 5).join(' ') ?? null });
    const bubbles = corpus.bubbles(0, 3 * INLINE_CARDS).map(brief);
    for (const bubble of bubbles) w.put(bubble, ['ann']);
    const builder = threads();
    const merges: Promise<unknown>[] = [];
    const merge: IndexBuilder['merge'] = (task) => {
      const merged = builder.merge(task);
      merges.push(merged);
      return merged;
    };
    const cache = cacheOver(w, { builder: { ...builder, merge } });
    const queries = (corpus.queries(1)['two words'] ?? []).concat(corpus.queries(1)['one letter'] ?? []);
    const compare = async (now: readonly TestBubble[]) => {
      for (const q of queries) expect(await idsOf(cache, 'ann', q)).toEqual(defined(now, { q }).map(({ id }) => id));
    };
    for (const bubble of bubbles) w.name(bubble.authorName ?? '', bubble.authorName ?? '');
    await compare(bubbles);
    const later = createCorpus(700).bubbles(2000, 2700).map(brief);
    for (const bubble of later) w.put(bubble, ['ann']);
    for (const bubble of later) w.name(bubble.authorName ?? '', bubble.authorName ?? '');
    w.pass(200_000);
    await compare([...bubbles, ...later]);
    expect(merges).toHaveLength(1);
    await Promise.all(merges);
    await compare([...bubbles, ...later]);
  });

  it('builds again when a merge failed', async () => {
    const w = world();
    const faults: unknown[] = [];
    const builder = { ...inlineBuilder(), merge: () => Promise.reject(new Error('out of memory')) };
    const cache = cacheOver(w, { builder, onFault: (error) => faults.push(error) });
    w.put(sprint(0), ['ann']);
    await cache.warm('ann');
    for (let i = 1; i <= 600; i++) w.put(sprint(i), ['ann']);
    expect(await idsOf(cache, 'ann', 'sprint')).toHaveLength(601);
    expect(faults).toHaveLength(1);
    w.reads.length = 0;
    expect(await idsOf(cache, 'ann', 'sprint')).toHaveLength(601);
    expect(w.reads.map(({ seq }) => seq)).toEqual([0]);
  });

  it('a thread that is stopped fails what it was asked', async () => {
    const builder = threadBuilder(openThread, 1);
    const never = async function* (): AsyncGenerator<readonly CardRow[]> {
      yield [cardOf(sprint(1), 1)];
      await builder.stop();
    };
    await expect(builder.build(never())).rejects.toThrow('index not built: the service stops');
    await builder.stop();
  });
});

describe('sequence numbers', () => {
  it('always rise, and follow the clock', () => {
    let nowMs = START_MS;
    const next = createSeqSource(() => nowMs);
    expect([next(), next()]).toEqual([seqAt(START_MS), seqAt(START_MS) + 1]);
    nowMs -= 10;
    expect(next()).toBe(seqAt(START_MS) + 2);
    nowMs = START_MS + 1;
    expect(next()).toBe(seqAt(START_MS + 1));
  });
});
