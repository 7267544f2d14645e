import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { atOnce, cardText, nameText } from '../src/domain/search-card.ts';
import { runInSlices } from '../src/search/time-slices.ts';
import { startBubbles, type TestBubbles } from './bubbles-query.ts';
import {
  account,
  anOutsider,
  aPerson,
  aSegment,
  BUBBLE,
  changed,
  created,
  noted,
  posted,
  processed,
  readyFacts,
  threaded,
  transcribed,
} from './builders.ts';
import { idsIn, searchAs } from './search-scene.ts';

const PATH = `/v1/bubbles/${BUBBLE}`;

/** Letters of Han without a blank or a full stop, hardly a pair of them twice. */
const han = (count: number): string =>
  Array.from({ length: count }, (_, at) => String.fromCodePoint(0x4e00 + ((Math.imul(at, 2_654_435_761) >>> 0) % 20_000))).join('');

let bubbles: TestBubbles;
beforeEach(async () => {
  bubbles = await startBubbles();
});
afterEach(() => bubbles.stop());

const found = async (q: string) => idsIn(await searchAs(bubbles, 'ada', { q }));

describe('a fact of any size', () => {
  it.each([62_000, 200_000])('[SRCH-02] notes of %i letters without punctuation are taken, and what comes after them', async (letters) => {
    const summary = han(letters);
    await bubbles.tell(...readyFacts(), noted({ revision: 2, summary }));
    expect((await bubbles.read('ada', PATH)).body.summary).toBe(summary);
    expect([await found(summary.slice(0, 5)), await found(summary.slice(20_000, 20_004)), await found('weekly')]).toEqual([
      [BUBBLE],
      [BUBBLE],
      [BUBBLE],
    ]);
    await bubbles.tell(changed({ title: 'Renamed' }), noted({ revision: 3, summary: 'Short again.' }));
    expect([await found('renamed'), await found('again'), await found(summary.slice(0, 5))]).toEqual([[BUBBLE], [BUBBLE], []]);
  });

  it.each([
    '字',
    'word ',
    'a',
    'a-',
    'aB',
    'e\u0301',
    '\u0301',
    '👩\u200d💻',
    '1,',
    '1 000 ',
    'ア・',
    'ー',
    '\ud83d',
    '\u202e\u05d0',
    '\0',
  ])('[SRCH-02] a title, a name and notes of two hundred thousand times %j are taken', async (flood) => {
    const text = flood.repeat(200_000);
    const author = anOutsider({ name: text });
    await bubbles.tell(created({ title: text, author, participants: [aPerson(), author] }), noted({ summary: text }));
    expect((await bubbles.read('ada', '/v1/bubbles')).body.data).toHaveLength(1);
    await bubbles.tell(changed({ title: 'Weekly' }));
    expect(await found('weekly')).toEqual([BUBBLE]);
  });

  it('[TRN-02] [BUB-01] a hundred thousand segments, ten thousand participants and as many speakers are taken', async () => {
    const [MANY, PEOPLE] = [100_000, 10_000];
    const others = Array.from({ length: PEOPLE }, (_, n) =>
      aPerson({ user_id: `user-${n}`, email: `user-${n}@acme.test`, is_external: n % 2 === 0 }),
    );
    await bubbles.tell(...readyFacts({ participants: [aPerson(), ...others] }), changed({ participants: [aPerson(), ...others.slice(1)] }));
    const segments = Array.from({ length: MANY }, (_, n) => aSegment({ speaker: { id: `user-${n % PEOPLE}`, name: null }, text: 'x' }));
    await bubbles.tell(transcribed({ revision: 2, segments }), account(), threaded(), posted());
    expect((await bubbles.read('ada', `${PATH}/transcript`)).body.segments).toHaveLength(MANY);
    expect((await bubbles.read('ada', `${PATH}/transcript?format=text`)).body.text.split('\n\n')).toHaveLength(MANY);
    const { body } = await bubbles.read('ada', PATH);
    expect([body.participants.length, body.comment_count, body.external_participant_email_domains]).toEqual([PEOPLE, 1, ['acme.test']]);
    expect([
      await found('weekly'),
      idsIn(await bubbles.read('user-77', '/v1/bubbles')),
      idsIn(await bubbles.read('user-0', '/v1/bubbles')),
    ]).toEqual([[BUBBLE], [BUBBLE], []]);
    await bubbles.tell(processed({ revision: 5 }));
  });
});

describe('the analysis of a long text', () => {
  it('[SRCH-02] lets others run after every 2,048 characters', async () => {
    const summary = han(200_000);
    let [turns, ms] = [0, 0];
    const everyTime = {
      elapsedMs: () => (ms += 10),
      nextTurn: () => {
        turns += 1;
        return Promise.resolve();
      },
    };
    const card = await runInSlices(cardText({ title: null, summary }), everyTime);
    expect(card).toEqual(atOnce(cardText({ title: null, summary })));
    expect(turns).toBeGreaterThanOrEqual(40);
  });

  it('[SRCH-02] takes what fits: the beginning', () => {
    const numbers = Array.from({ length: 100_000 }, (_, n) => `word${n}`);
    const { title, notes } = atOnce(cardText({ title: numbers.join(' '), summary: numbers.join(' ') }));
    expect(notes.length).toBeLessThanOrEqual(2 ** 18);
    expect(title.length).toBeLessThanOrEqual(2 ** 14);
    expect([notes.startsWith('word0 word1 word2 '), notes.includes(' word25000 '), notes.includes('word99999')]).toEqual([
      true,
      true,
      false,
    ]);
    expect(title.startsWith('word0:0 word1:1 ')).toBe(true);
    expect(nameText('x '.repeat(100_000)).length).toBeLessThanOrEqual(2 ** 11);
  });
});
