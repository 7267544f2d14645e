import { setImmediate } from 'node:timers/promises';
import { systemClock } from '@bubbles/kernel/clock.ts';
import { expect, it } from '@jest/globals';
import { atOnce, type CardRow } from '../../src/domain/search-card.ts';
import { parseQuery } from '../../src/domain/search-query.ts';
import { threadBuilder } from '../../src/search/build-threads.ts';
import type { MergeResult } from '../../src/search/index-build.ts';
import { inlineBuilder } from '../../src/search/index-build.ts';
import { createIndexCache } from '../../src/search/index-cache.ts';
import { analyseCardsAgain } from '../../src/use-cases/cards.ts';
import { createFeed } from '../../src/use-cases/feed.ts';
import { cardOf, indexOf, NO_FILTERS, pull, testBubble, uuidOf } from './harness.ts';

const sprint = (number: number) => testBubble({ id: uuidOf(number), title: 'Sprint demo', createdMs: number });

it('[SRCH-04] a card that cannot be taken leaves those before it neither lost nor found twice', () => {
  const index = indexOf([sprint(1)]);
  const broken: CardRow = {
    ...cardOf(sprint(2), 1),
    get title(): string {
      throw new Error('no text');
    },
  };
  expect(() => index.apply([cardOf(sprint(1), 2), broken])).toThrow('no text');
  index.apply([cardOf(sprint(1), 2), cardOf(sprint(2), 1)]);
  expect(pull(index, { q: 'sprint' }).map(({ id }) => id)).toEqual([uuidOf(2), uuidOf(1)]);
});

it('[SRCH-03] a merge whose result cannot be taken is told, and the index built again', async () => {
  const rows = Array.from({ length: 601 }, (_, number) => cardOf(sprint(number), 1));
  const feed = { shown: 1, reads: 0 };
  const faults: unknown[] = [];
  const useless: MergeResult = Object.create(null);
  const cache = createIndexCache({
    cards: {
      of: () => ({
        async *read({ after }) {
          feed.reads += after === 0 ? 1 : 0;
          await Promise.resolve();
          yield rows.slice(0, feed.shown);
        },
        count: () => Promise.resolve(0),
      }),
    },
    people: { named: () => Promise.resolve([]), all: { read: async function* () {}, count: () => Promise.resolve(0) } },
    builder: { ...inlineBuilder(), merge: () => Promise.resolve(useless) },
    budgetBytes: 1e9,
    nowMs: () => Date.UTC(2026, 0),
    elapsedMs: () => performance.now(),
    nextTurn: setImmediate,
    onFault: (error) => faults.push(error),
  });
  const found = async () => {
    let hits = 0;
    for await (const _ of cache.search('ann', { query: parseQuery('sprint'), filters: NO_FILTERS, after: null, nowMs: 0 })) hits += 1;
    return hits;
  };
  expect(await found()).toBe(1);
  feed.shown = rows.length;
  expect([await found(), faults.length]).toEqual([601, 1]);
  expect([await found(), feed.reads]).toEqual([601, 2]);
});

it('[SRCH-03] cards that cannot be analysed again, since nothing of their bubbles is known, do not keep the job at it', async () => {
  const ids = Array.from({ length: 100 }, (_, number) => uuidOf(number));
  let looks = 0;
  const cards = {
    idsAnalysedBefore: () => {
      looks += 1;
      return Promise.resolve(looks > 5 ? [] : ids);
    },
    put: () => Promise.resolve(),
    dropRemovedBefore: () => Promise.resolve(0),
  };
  const people = { mention: () => Promise.resolve() };
  const bubbles = { byIds: () => Promise.resolve([]), change: () => Promise.reject(new Error('nothing to change')) };
  await analyseCardsAgain({
    cards,
    people,
    bubbles,
    runInSlices: (work) => Promise.resolve(atOnce(work)),
    feed: createFeed(systemClock()),
  })();
  expect(looks).toBe(2);
});

it('[SRCH-03] a thread that is stopped within a build is not opened again for what is left of it', async () => {
  let opened = 0;
  const builder = threadBuilder(() => {
    opened += 1;
    return { send: () => undefined, hold: () => undefined, end: () => Promise.resolve() };
  }, 1);
  const batches = async function* (): AsyncGenerator<readonly CardRow[]> {
    yield [cardOf(sprint(1), 1)];
    await builder.stop();
    yield [cardOf(sprint(2), 1)];
  };
  await expect(builder.build(batches())).rejects.toThrow('index not built: the service stops');
  expect(opened).toBe(1);
});
