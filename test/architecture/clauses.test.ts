import { describe, expect, it } from '@jest/globals';
import { testSources } from './sources.ts';

/** How many clauses the list of the interface has of each group that is served. */
const CLAUSES: Readonly<Record<string, number>> = {
  GEN: 13,
  ERR: 8,
  AUTH: 10,
  RATE: 4,
  ME: 1,
  TEAM: 3,
  KEY: 9,
  BUB: 8,
  LIST: 10,
  SRCH: 6,
  TRN: 4,
  COM: 3,
  HOOK: 10,
  EVT: 3,
  DLV: 6,
  API: 5,
  OAUTH: 11,
  MEET: 14,
  SIGN: 11,
};

const idsOf = ([group, count]: readonly [string, number]): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${group}-${String(index + 1).padStart(2, '0')}`);

describe('every clause', () => {
  const titled = new Set(testSources().flatMap(({ text }) => [...text.matchAll(/\[([A-Z]+-\d{2})\]/g)].map(([, id]) => id)));

  it.each(Object.entries(CLAUSES))('of %s has a test that names it', (group, count) => {
    expect(idsOf([group, count]).filter((id) => !titled.has(id))).toEqual([]);
  });
});
