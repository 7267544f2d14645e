import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { comparePositions, decodePosition, encodePosition, packTuple, UNDATED } from './rank.ts';

const tuple = fc.record({
  missing: fc.nat({ max: 4 }),
  tier: fc.nat({ max: 2 }),
  fields: fc.nat({ max: 20 }),
  edits: fc.nat({ max: 20 }),
  prefixes: fc.nat({ max: 10 }),
  order: fc.nat({ max: 2 }),
});

const positionAt = (createdMs: fc.Arbitrary<number>) => fc.record({ rank: fc.nat({ max: 2 ** 18 - 1 }), createdMs, id: fc.uuid() });
const near = fc.oneof(fc.integer({ min: 1, max: 10 ** 13 - 1 }), fc.constant(UNDATED));
const far = fc.oneof(fc.integer({ min: -62_167_219_200_000, max: 0 }), fc.integer({ min: 10 ** 13, max: 253_402_300_799_999 }));

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
  it('[LIST-07] comes back from its 26 bytes, 28 of a time before 1970 or from 2286 on', () => {
    const bytesOf = (times: fc.Arbitrary<number>, length: number) =>
      fc.property(positionAt(times), (place) => {
        expect(encodePosition(place)).toHaveLength(length);
        expect(decodePosition(encodePosition(place))).toEqual(place);
      });
    fc.assert(bytesOf(near, 26));
    fc.assert(bytesOf(far, 28));
    for (const length of [0, 3, 25, 27, 29]) expect(decodePosition(Buffer.alloc(length))).toBeNull();
  });

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
