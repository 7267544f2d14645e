import fc from 'fast-check';
import type { TestBubble } from './harness.ts';
import { testBubble, uuidOf } from './harness.ts';

/** Words that are near each other: prefixes, typos, compounds and their parts, glued neighbours, scripts. */
const WORDS = [
  'road',
  'map',
  'roadmap',
  'road-map',
  'RoadMap',
  'roadmpa',
  'roadmaps',
  'maps',
  'roa',
  'database',
  'data',
  'base',
  'data-base',
  'phoenix',
  'phenix',
  'phoenx',
  'phoenixville',
  'infrastructure',
  'infrastrcture',
  'infrastructur',
  'plan',
  'plna',
  'clan',
  'plans',
  'planning',
  'c++',
  'c#',
  'c',
  'node.js',
  'nodejs',
  'node',
  'js',
  'follow-up',
  'followup',
  'follow',
  'up',
  "O'Brien",
  'obrien',
  'o',
  'brien',
  "alice's",
  'alice',
  '2024-05-12',
  '2024',
  '05',
  '1:1',
  '11',
  '1',
  'q3',
  'q4',
  'GitHub',
  'github',
  'git',
  'hub',
  'R&D',
  'the',
  'a',
  'of',
  'with',
  'in',
  'on',
  'boarding',
  'onboarding',
  'café',
  'cafe',
  'straße',
  'strasse',
  'встреча',
  'ВСТРЕЧИ',
  'ёлка',
  'елка',
  '東京',
  '東京オフィス',
  'オフィス',
  '京',
  '会議',
  '회의록',
  '회의',
  'สวัสดี',
  'ดี',
  'שלום',
  'שָׁלוֹם',
  'أحمد',
  'احمد',
  '🚀',
  '👩‍💻',
  '👩',
  '🇩🇪',
  '-',
  '...',
  '&hi',
  'aaaaaaaa',
  'aaaaaaab',
  'aaaaaab',
  'abaaaaaa',
];
const SMALL = ['a', 'b', 'c', '1', '-', '.', ' ', "'", 'A', 'B', '京', 'à', '+'];

const word = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...WORDS) },
  { weight: 1, arbitrary: fc.string({ unit: fc.constantFrom(...SMALL), maxLength: 12 }) },
);
const separator = fc.constantFrom(' ', ' ', ' ', ' ', '  ', ', ', '', '-', ' / ');

/** Words with something, or nothing, between them. */
export const someText = (maxWords: number): fc.Arbitrary<string> =>
  fc.array(fc.tuple(word, separator), { maxLength: maxWords }).map((pieces) => pieces.flat().join(''));

export const someQuery: fc.Arbitrary<string> = fc.oneof(someText(3), someText(6), someText(14));

const DAY = 86_400_000;
export const someBubble = (number: fc.Arbitrary<number>): fc.Arbitrary<TestBubble> =>
  fc
    .record({
      number,
      title: fc.option(someText(6)),
      authorName: fc.option(someText(3)),
      summary: fc.option(someText(12)),
      day: fc.nat({ max: 6 }),
      hidden: fc.option(fc.nat({ max: 3 })),
      teamId: fc.constantFrom('t1', 't2', null),
      channelId: fc.constantFrom('c1', 'c2', null),
      type: fc.constantFrom('meeting_recording', 'screen_recording'),
    })
    .map(({ number: n, day, hidden, ...rest }) =>
      testBubble({ ...rest, id: uuidOf(n), createdMs: day * DAY, hideAtMs: hidden === null ? null : hidden * DAY }),
    );

export const someBubbles = (maxLength: number): fc.Arbitrary<TestBubble[]> =>
  fc.uniqueArray(someBubble(fc.nat({ max: 0xffff })), { maxLength, selector: ({ id }) => id });

export const someFilters = fc.record({
  teamId: fc.constantFrom(null, null, 't1', 't9'),
  channelId: fc.constantFrom(null, null, 'c2'),
  type: fc.constantFrom(null, null, 'screen_recording'),
  createdAfterMs: fc.constantFrom(null, null, 2 * DAY),
  createdBeforeMs: fc.constantFrom(null, null, 5 * DAY),
});

export const someNow = fc.nat({ max: 4 }).map((day) => day * DAY);
