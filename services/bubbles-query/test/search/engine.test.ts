import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Position } from '../../src/domain/search/rank.ts';
import { type Asked, cardOf, defined, indexOf, mergeNow, pull } from './harness.ts';
import { someBubble, someBubbles, someFilters, someNow, someQuery } from './random-texts.ts';

const pages = (limit: number, ask: (after: Position | null, count: number) => Position[]): Position[] => {
  const all: Position[] = [];
  for (let after: Position | null = null; ; ) {
    const page = ask(after, limit);
    all.push(...page);
    if (page.length < limit) return all;
    after = page[page.length - 1] ?? null;
  }
};

describe('the engine', () => {
  it('[SRCH-02] [SRCH-03] [SRCH-06] equals the definition in whole and page by page, for any texts, queries and filters', () => {
    const property = fc.property(
      someBubbles(40),
      fc.array(fc.record({ q: someQuery, filters: someFilters, nowMs: someNow }), { minLength: 4, maxLength: 4 }),
      fc.integer({ min: 1, max: 7 }),
      (bubbles, questions, limit) => {
        const index = indexOf(bubbles);
        for (const asked of questions) {
          const wanted = defined(bubbles, asked);
          expect(pull(index, asked)).toEqual(wanted);
          expect(pages(limit, (after, count) => pull(index, { ...asked, after }, count))).toEqual(wanted);
        }
      },
    );
    fc.assert(property, { numRuns: 150 });
  });

  it('[SRCH-06] equals the definition after any changes, merged or not', () => {
    const change = fc.record({ bubble: someBubble(fc.nat({ max: 30 })), readable: fc.boolean(), merges: fc.boolean() });
    const property = fc.property(
      someBubbles(30),
      fc.array(change, { maxLength: 30 }),
      fc.array(someQuery, { minLength: 3, maxLength: 3 }),
      (bubbles, changes, queries) => {
        const index = indexOf(bubbles);
        const now = new Map(bubbles.map((bubble) => [bubble.id, bubble]));
        changes.forEach(({ bubble, readable }, at) => {
          index.apply([cardOf(bubble, at + 2, readable)]);
          if (readable) now.set(bubble.id, bubble);
          else now.delete(bubble.id);
        });
        for (const q of queries) {
          const asked: Asked = { q };
          expect(pull(index, asked)).toEqual(defined([...now.values()], asked));
        }
        expect(index.size()).toBe(now.size);
        expect(mergeNow(index)).toBe(false);
      },
    );
    fc.assert(property, { numRuns: 100 });
  });
});
