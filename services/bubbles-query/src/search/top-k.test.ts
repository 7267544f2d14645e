import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { mergeOrdered, smallest } from './top-k.ts';

const numbers = fc.uniqueArray(fc.nat({ max: 500 }), { maxLength: 200 });

describe('the smallest keys', () => {
  it('are those of a sort', () => {
    fc.assert(
      fc.property(numbers, fc.nat({ max: 500 }), fc.integer({ min: 1, max: 50 }), (keys, from, count) => {
        const sorted = keys.filter((key) => key >= from).sort((a, b) => a - b);
        expect([...smallest(Float64Array.from(keys), from, count)]).toEqual(sorted.slice(0, count));
      }),
    );
  });
});

describe('sorted sources', () => {
  it('merge into one, and pass nulls on', () => {
    function* source(values: readonly (number | null)[]): Generator<number | null> {
      yield* values;
    }
    const merged = [...mergeOrdered([source([1, null, 4]), source([]), source([null, 2, 3, 5, null])], (a, b) => a - b)];
    expect(merged.filter((value) => value !== null)).toEqual([1, 2, 3, 4, 5]);
    expect(merged.filter((value) => value === null)).toHaveLength(3);
  });
});
