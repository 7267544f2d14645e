import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { BUBBLE } from '../../test/builders.ts';
import { aBubble, someDetails, someMedia, someNotes } from '../../test/states.ts';
import { createdMsOf, emptyBubble, FIRST_MS, isReadable, mayRead, sortKeyOf, sortPrefix, tombstone, UNDATED, withFacts } from './bubble.ts';

const NOW = new Date('2026-03-01T12:00:00.000Z');
const known = (fields: Parameters<typeof someDetails>[0] = {}) => withFacts(aBubble(), 'details', someDetails(fields));

describe('groups of facts', () => {
  it('the newest of each counts, and nothing older or equal changes anything', () => {
    const first = withFacts(aBubble(), 'notes', someNotes({ revision: 3 }));
    expect(first?.notes?.revision).toBe(3);
    for (const revision of [0, 2, 3]) expect(first && withFacts(first, 'notes', someNotes({ revision }))).toBeNull();
    expect(first && withFacts(first, 'notes', someNotes({ revision: 4 }))?.notes?.revision).toBe(4);
    expect(first && withFacts(first, 'media', someMedia({ revision: 0 }))?.media?.revision).toBe(0);
  });

  it('a tombstone takes none', () => {
    const stone = tombstone({ ...aBubble(), details: someDetails(), notes: someNotes(), readers: ['ada'] });
    expect(stone).toMatchObject({ ...emptyBubble(BUBBLE), changeCount: stone.changeCount, removed: true });
    expect(withFacts(stone, 'details', someDetails({ revision: 99 }))).toBeNull();
  });

  it('[LIST-03] a row follows whichever group changed', () => {
    const late = withFacts(aBubble({ media: someMedia({ thumbnailUrl: 'https://media.test/t' }) }), 'details', someDetails());
    expect(late?.row).toMatchObject({ title: 'Weekly', thumbnailUrl: 'https://media.test/t', summary: null });
    expect(late && withFacts(late, 'notes', someNotes())?.row).toMatchObject({ summary: 'Well.' });
  });
});

describe('readers', () => {
  it('[LIST-01] are the accounts that take part, each once', () => {
    const person = { userId: 'ada', name: null, email: null, isExternal: false };
    expect(known({ participants: [person, { ...person, userId: null }, person, { ...person, userId: 'bob' }] })?.readers).toEqual([
      'ada',
      'bob',
    ]);
  });

  it.each(['archived', 'draft', 'template'])('[LIST-02] there are none of a bubble that is %s', (flag) => {
    expect(known({ [flag]: true })?.readers).toEqual([]);
  });
});

describe('the sort key', () => {
  const key = (time: string | null) => sortKeyOf(createdMsOf(time === null ? null : new Date(time)), BUBBLE);

  it('[LIST-01] is 13 digits of milliseconds and the id', () => {
    expect(key('2026-01-01T00:00:00.123Z')).toBe(`1767225600123.${BUBBLE}`);
    expect(key('1970-01-01T00:00:01.000Z')).toBe(`0000000001000.${BUBBLE}`);
    expect(key(null)).toBe(`0000000000000.${BUBBLE}`);
  });

  it('[LIST-01] puts every time before none, and all in the order of time', () => {
    const times = [
      null,
      '0000-01-01T00:00:00.000Z',
      '0000-01-01T00:00:00.001Z',
      '0999-06-01T00:00:00Z',
      '1969-12-31T23:59:59.999Z',
      '1970-01-01T00:00:00.000Z',
      '1970-01-01T00:00:00.001Z',
      '2026-01-01T00:00:00Z',
      '2286-11-20T17:46:39.999Z',
      '2286-11-20T17:46:40.000Z',
      '9999-12-31T23:59:59.999Z',
    ];
    const keys = times.map(key);
    expect(keys.toSorted()).toEqual(keys);
    expect(new Set(keys).size).toBe(times.length);
  });

  it('[LIST-05] begins with what its millisecond begins with, whichever', () => {
    const instants = fc.integer({ min: FIRST_MS - 86_400_000, max: 253_402_387_199_999 });
    fc.assert(
      fc.property(instants, instants, (a, b) => {
        expect(sortKeyOf(Math.max(a, FIRST_MS), BUBBLE).startsWith(sortPrefix(a))).toBe(true);
        const [first, second] = [Math.max(a, FIRST_MS), Math.max(b, FIRST_MS)];
        expect(Math.sign(first - second)).toBe(sortPrefix(a) < sortPrefix(b) ? -1 : Number(sortPrefix(a) > sortPrefix(b)));
        expect(sortPrefix(a) > sortPrefix(UNDATED)).toBe(true);
      }),
    );
  });
});

describe('who may read', () => {
  it('[BUB-08] expired is from that instant on', () => {
    const at = (ms: number) => isReadable(aBubble({ details: someDetails({ expiresAt: new Date(NOW.getTime() + ms) }) }), NOW);
    expect([at(1), at(0), at(-1)]).toEqual([true, false, false]);
  });

  it('[BUB-03] [BUB-04] those who take part, everybody when it is public, nobody when it is hidden', () => {
    const may = (fields: Parameters<typeof someDetails>[0], user: string) => mayRead(aBubble({ details: someDetails(fields) }), user, NOW);
    expect([may({}, 'ada'), may({}, 'eve'), may({ isPublic: true }, 'eve')]).toEqual([true, false, true]);
    for (const hidden of ['archived', 'draft', 'template']) expect(may({ isPublic: true, [hidden]: true }, 'ada')).toBe(false);
    expect(mayRead(aBubble(), 'ada', NOW)).toBe(false);
    expect(mayRead({ ...aBubble({ details: someDetails({ isPublic: true }) }), removed: true }, 'ada', NOW)).toBe(false);
  });
});
