import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Position } from '../../src/domain/ranking.ts';
import { mergeSegments } from '../../src/search/index-build.ts';
import { cardOf, defined, indexOf, pull, type TestBubble, testBubble, uuidOf } from './harness.ts';
import { someBubble, someBubbles, someFilters, someNow, someQuery, someWords } from './random-texts.ts';

const pages = (limit: number, ask: (after: Position | null, count: number) => Position[]): Position[] => {
  const all: Position[] = [];
  for (let after: Position | null = null; ; ) {
    const page = ask(after, limit);
    for (const one of page) all.push(one);
    if (page.length < limit) return all;
    after = page[page.length - 1] ?? null;
  }
};

const someWorld = someWords.chain((word) =>
  fc.record({
    bubbles: someBubbles(word, 40),
    questions: fc.array(fc.record({ q: someQuery(word), filters: someFilters, nowMs: someNow }), { minLength: 4, maxLength: 4 }),
    limit: fc.integer({ min: 1, max: 7 }),
  }),
);

const someChangingWorld = someWords.chain((word) =>
  fc.record({
    bubbles: someBubbles(word, 30),
    changes: fc.array(fc.record({ bubble: someBubble(word, fc.nat({ max: 30 })), readable: fc.boolean() }), { maxLength: 30 }),
    queries: fc.array(someQuery(word), { minLength: 3, maxLength: 3 }),
  }),
);

describe('the engine', () => {
  it('[SRCH-02] [SRCH-03] [SRCH-06] equals the definition in whole and page by page, for any texts, queries and filters', () => {
    const property = fc.property(someWorld, ({ bubbles, questions, limit }) => {
      const index = indexOf(bubbles);
      for (const asked of questions) {
        const wanted = defined(bubbles, asked);
        expect(pull(index, asked)).toEqual(wanted);
        expect(pages(limit, (after, count) => pull(index, { ...asked, after }, count))).toEqual(wanted);
      }
    });
    fc.assert(property, { numRuns: 400 });
  });

  it('[SRCH-06] equals the definition after any changes', () => {
    const property = fc.property(someChangingWorld, ({ bubbles, changes, queries }) => {
      const index = indexOf(bubbles);
      const now = new Map(bubbles.map((bubble) => [bubble.id, bubble]));
      changes.forEach(({ bubble, readable }, at) => {
        index.apply([cardOf(bubble, at + 2, readable)]);
        if (readable) now.set(bubble.id, bubble);
        else now.delete(bubble.id);
      });
      for (const q of queries) expect(pull(index, { q })).toEqual(defined([...now.values()], { q }));
      expect(index.size()).toBe(now.size);
    });
    fc.assert(property, { numRuns: 200 });
  });

  it('[SRCH-06] equals the definition while a merge is on its way and after it, whichever levels it joins', () => {
    const word = fc.constantFrom('road', 'map', 'roadmap', 'roadmaps', 'plan', 'plna');
    const text = fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => words.join(' '));
    const some = (count: number, from: number, seed: number): TestBubble[] =>
      fc
        .sample(text, { numRuns: count, seed })
        .map((title, at) => testBubble({ id: uuidOf(from + at), title, summary: title, createdMs: (at % 5) + 1 }));
    const queries = ['roadmap', 'plan road', 'road maps plna'];
    const first = some(2600, 0, 1);
    const index = indexOf(first);
    const now = new Map(first.map((bubble) => [bubble.id, bubble]));
    let rev = 1;
    const change = (bubbles: readonly TestBubble[], readable: boolean) => {
      index.apply(bubbles.map((bubble) => cardOf(bubble, ++rev, readable)));
      for (const bubble of bubbles) {
        if (readable) now.set(bubble.id, bubble);
        else now.delete(bubble.id);
      }
    };
    const compare = () => {
      for (const q of queries) expect(pull(index, { q })).toEqual(defined([...now.values()], { q }));
      expect(index.size()).toBe(now.size);
    };
    for (const round of [1, 2, 3]) {
      change(some(560, 2400 + round * 300, 10 + round), true);
      const task = index.startMerge();
      if (task === null) throw new Error('no merge was due');
      expect(task.dictionary === null).toBe(round !== 2);
      change(some(40, 2500, 20 + round), true);
      change(some(40, 2480, 30 + round), false);
      expect(index.startMerge()).toBeNull();
      compare();
      index.adopt(mergeSegments(task));
      compare();
    }
  });
});
