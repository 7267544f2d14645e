import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { packTuple } from '../../test/search/definition.ts';
import { UNDATED } from './bubble.ts';
import { comparePositions } from './ranking.ts';

const tuple = fc.record({
  missing: fc.nat({ max: 4 }),
  tier: fc.nat({ max: 2 }),
  fields: fc.nat({ max: 20 }),
  edits: fc.nat({ max: 20 }),
  prefixes: fc.nat({ max: 10 }),
  order: fc.nat({ max: 2 }),
});

describe('a rank', () => {
  it('[SRCH-03] packed sorts as its tuple does, below 2^18', () => {
    fc.assert(
      fc.property(tuple, tuple, (a, b) => {
        const difference =
          a.missing - b.missing ||
          a.tier - b.tier ||
          a.fields - b.fields ||
          a.edits - b.edits ||
          a.prefixes - b.prefixes ||
          a.order - b.order;
        expect(Math.sign(packTuple(a) - packTuple(b))).toBe(Math.sign(difference));
        expect(packTuple(a)).toBeLessThan(2 ** 18);
      }),
    );
  });
});

describe('a position', () => {
  it('[LIST-01] of one rank: newest first, no date last, then id descending', () => {
    const places = [
      { rank: 1, createdMs: UNDATED, id: 'b' },
      { rank: 1, createdMs: 5, id: 'a' },
      { rank: 1, createdMs: 5, id: 'b' },
      { rank: 0, createdMs: 1, id: 'a' },
    ];
    const [none, olderId, newerId, better] = places;
    expect(places.toSorted(comparePositions)).toEqual([better, newerId, olderId, none]);
  });
});
