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
  'サーバー',
  'サーバ',
  'データ・ベース',
  'データベース',
  'インタフェース',
  'v1.5',
  '1.5',
  '1,000,000',
  '1000000',
  '1 000 000',
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

const ANY_WORD = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...WORDS) },
  { weight: 1, arbitrary: fc.string({ unit: fc.constantFrom(...SMALL), maxLength: 12 }) },
);

/** Few words of one family each, so that every document is near every query. */
const FAMILIES = [
  ['road', 'map', 'roadmap', 'roadmaps', 'road-map', 'road-ma', 'ma', 'maps', 'to'],
  ['node.js', 'node', 'js', 'nodejs', 'node.j', 'node.jsx', 'jsx', 'node-jsmith', 'jsmith'],
  ['東京', '京都', '東京都', '都', '東', '都東京', 'x'],
  ['サーバー', 'サーバ', 'サバ', 'ビール', 'ビル', 'サー・バー', 'ー', 'ル'],
  ['v1.5', '1.5', 'v', '15', 'v15', '1,5', '1', '5', '1 500', '1500'],
  ['follow', 'up', 'followup', 'follow-up', 'follow-upper', 'uppercase', 'follow-uppe', 'on', 'boarding', 'onboarding'],
  ['phoenix', 'phenix', 'phoenx', 'phoenixville', 'pho', 'enix', 'launch', 'lanch'],
];

/** Words to make the texts and queries of one world of. */
export const someWords: fc.Arbitrary<fc.Arbitrary<string>> = fc.oneof(
  fc.constant(ANY_WORD),
  fc.constantFrom(...FAMILIES).map((family) => fc.constantFrom(...family)),
);

const separator = fc.constantFrom(' ', ' ', ' ', ' ', '  ', ', ', '', '-', ' / ');

/** Words with something, or nothing, between them. */
const someText = (word: fc.Arbitrary<string>, maxWords: number): fc.Arbitrary<string> =>
  fc.array(fc.tuple(word, separator), { maxLength: maxWords }).map((pieces) => pieces.flat().join(''));

export const someQuery = (word: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.oneof(someText(word, 3), someText(word, 6), someText(word, 14));

const DAY = 86_400_000;
export const someBubble = (word: fc.Arbitrary<string>, number: fc.Arbitrary<number>): fc.Arbitrary<TestBubble> =>
  fc
    .record({
      number,
      title: fc.option(someText(word, 6)),
      authorName: fc.option(someText(word, 3)),
      summary: fc.option(someText(word, 12)),
      day: fc.oneof(fc.nat({ max: 6 }), fc.constantFrom(-719_528, -1, 115_741, 2_932_896)),
      hidden: fc.option(fc.nat({ max: 3 })),
      teamId: fc.constantFrom('t1', 't2', null),
      channelId: fc.constantFrom('c1', 'c2', null),
      type: fc.constantFrom('meeting_recording', 'screen_recording'),
    })
    .map(({ number: n, day, hidden, ...rest }) =>
      testBubble({ ...rest, id: uuidOf(n), createdMs: day * DAY, hideAtMs: hidden === null ? null : hidden * DAY }),
    );

export const someBubbles = (word: fc.Arbitrary<string>, maxLength: number): fc.Arbitrary<TestBubble[]> =>
  fc.uniqueArray(someBubble(word, fc.nat({ max: 0xffff })), { maxLength, selector: ({ id }) => id });

export const someFilters = fc.record({
  teamId: fc.constantFrom(null, null, 't1', 't9'),
  spaceId: fc.constantFrom(null, null, 'c2'),
  type: fc.constantFrom(null, null, 'screen_recording'),
  createdAfterMs: fc.constantFrom(null, null, 2 * DAY),
  createdBeforeMs: fc.constantFrom(null, null, 5 * DAY),
});

export const someNow = fc.nat({ max: 4 }).map((day) => day * DAY);
