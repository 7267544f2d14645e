import { beforeAll, describe, expect, it } from '@jest/globals';
import { type Break, breaksBetween, type Readers, told } from './compare.ts';
import { ADDITIONS, BREAKING, mutated } from './mutations.ts';
import { currentDocuments } from './releases.ts';

const documents = currentDocuments();
const today = '2026-12-01';
/** Readers of comments take any kind of them; those of accounts know the states that there are. */
const readers: Readers = {
  callers: (_, place) => (place.endsWith('/readable') ? ['webhooks-dispatcher'] : []),
  take: (_, place) => place === 'recording.comment.changed.v1',
};
const breaksOf = (mutations: Parameters<typeof mutated>[1], base = documents): Promise<readonly Break[]> =>
  breaksBetween({ base, readers, revision: mutated(base, mutations), today });

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

describe('what is deprecated', () => {
  const space = '/paths/~1v1~1bubbles/get/parameters/3';
  const path = '/paths/~1v1~1meetings~1join~1{id}~1events';
  const marking = (at: string, of: string, sunset: string) => ({
    name: 'a mark',
    of,
    edits: [{ at, fields: { deprecated: true, 'x-sunset': sunset } }],
  });
  const removing = (at: string, of: string) => ({ name: 'a removal', of, edits: [{ at, remove: true as const }] });
  const removals = [removing(space, 'bubbles-query'), removing(path, 'meetings-bot-gateway')];
  const markedUntil = (sunset: string) =>
    mutated(documents, [marking(space, 'bubbles-query', sunset), marking(`${path}/get`, 'meetings-bot-gateway', sunset)]);

  it('may go when its sunset is past', async () => {
    expect((await breaksOf(removals, markedUntil('2026-12-01'))).map(told)).toEqual([]);
  });

  it('may not go before', async () => {
    const places = (await breaksOf(removals, markedUntil('2026-12-02'))).map(({ place, field }) => `${place} ${field}`);
    expect(places).toEqual(expect.arrayContaining(['GET /v1/bubbles query parameter space_id', '/v1/meetings/join/{id}/events ']));
  });

  it('works as long as was said', async () => {
    const earlier = marking(space, 'bubbles-query', '2027-01-01');
    expect((await breaksOf([earlier], markedUntil('2027-02-01'))).map(told)).toEqual([
      expect.stringContaining('it works until "2027-01-01", and was to work until "2027-02-01"'),
    ]);
  });
});
