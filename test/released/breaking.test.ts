import { beforeAll, describe, expect, it } from '@jest/globals';
import { type Break, breaksBetween, told } from './compare.ts';
import { ADDITIONS, BREAKING, mutated } from './mutations.ts';
import { currentDocuments } from './releases.ts';

const documents = currentDocuments();
const callers = (_: string, place: string) => (place.endsWith('/readable') ? ['webhooks-dispatcher'] : []);
const breaksOf = (mutations: Parameters<typeof mutated>[1]): Promise<readonly Break[]> =>
  breaksBetween(documents, mutated(documents, mutations), callers);

describe('a change that breaks somebody', () => {
  let said: readonly string[] = [];
  beforeAll(async () => {
    said = (await breaksOf(BREAKING)).map(told);
  });

  it.each(BREAKING)('is refused and named: $name', ({ says }) => {
    expect(said).toContainEqual(expect.stringContaining(says));
  });
});

describe('an addition', () => {
  it('breaks nobody', async () => {
    expect((await breaksOf(ADDITIONS)).map(told)).toEqual([]);
  });
});
