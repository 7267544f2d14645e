import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { osaDistance } from '../../test/search/definition.ts';
import { firstLetterAgrees, PREFIX_TYPO_LETTERS, typoBudget } from '../domain/ranking.ts';
import { findTerm, packTerms, prefixRange, termAt, walkTypos } from './sorted-terms.ts';

const term = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 12 });
const someTerms = fc.uniqueArray(term, { maxLength: 120 }).map((terms) => terms.sort());

describe('the typo rules', () => {
  it.each([
    ['cat', 0],
    ['plan', 1],
    ['seventh', 1],
    ['eightlet', 2],
    ['abcdefg1', 0],
    ['会議会議会議', 0],
    ['🚀🚀🚀', 0],
    ['встречаю', 2],
  ])('[SRCH-02] %s may be %i edits away', (word, edits) => {
    expect(typoBudget(word)).toBe(edits);
  });

  it('[SRCH-02] counts a swap of neighbours as one edit, and edits no part twice', () => {
    expect(osaDistance('plna', 'plan')).toBe(1);
    expect(osaDistance('ca', 'abc')).toBe(3);
    expect(osaDistance('', 'abc')).toBe(3);
    expect(osaDistance('kitten', 'sitting')).toBe(3);
  });

  it('[SRCH-02] wants the first letter of four, unless the first two are swapped', () => {
    expect(firstLetterAgrees('plan', 'clan')).toBe(false);
    expect(firstLetterAgrees('lpan', 'plan')).toBe(true);
    expect(firstLetterAgrees('plans', 'clans')).toBe(true);
  });
});

describe('sorted terms', () => {
  it('find what they hold, and what begins with a text', () => {
    fc.assert(
      fc.property(someTerms, fc.oneof(term, fc.constant('')), (terms, text) => {
        const packed = packTerms(terms);
        expect(terms.map((_, index) => termAt(packed, index))).toEqual(terms);
        expect(findTerm(packed, text)).toBe(terms.indexOf(text));
        const [from, to] = prefixRange(packed, text);
        expect(terms.slice(from, to)).toEqual(terms.filter((other) => other.startsWith(text)));
      }),
    );
  });

  it('[SRCH-02] the walk finds exactly the terms within the budget and the beginnings within one edit', () => {
    fc.assert(
      fc.property(someTerms, fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 4, maxLength: 11 }), (terms, word) => {
        const packed = packTerms(terms);
        const words = new Map<string, number>();
        const beginnings = new Set<string>();
        walkTypos(packed, word, {
          word: (index, edits) => words.set(terms[index] ?? '', edits),
          beginnings: (from, to) => {
            for (const found of terms.slice(from, to)) beginnings.add(found);
          },
        });
        const near = terms.filter(
          (other) => other !== word && osaDistance(word, other) <= typoBudget(word) && firstLetterAgrees(word, other),
        );
        expect([...words]).toEqual(near.map((other) => [other, osaDistance(word, other)]));
        const begins = (other: string) =>
          Array.from(other, (_, length) => other.slice(0, length)).some((part) => osaDistance(word, part) <= 1);
        expect([...beginnings]).toEqual(word.length < PREFIX_TYPO_LETTERS ? [] : terms.filter(begins));
      }),
      { numRuns: 500 },
    );
  });
});
