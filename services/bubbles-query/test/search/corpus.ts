import { type TestBubble, testBubble } from './harness.ts';

/** A generated world, the same for the same size: words by Zipf's law, so that some are in every second bubble and most in few. */
const WORDS_OF_TITLE = 5;
const WORDS_OF_NOTES = 90;
const SYLLABLES = 'ka ro mi ten sal ver du lo pin gra ste fi nor ba che wil tor an ex pla qui mar sho den'.split(' ');
const FIRST_DAY = Date.UTC(2020, 0, 1);
const MINUTE = 60_000;

type Random = () => number;

const seeded = (seed: number): Random => {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

const wordOf = (number: number): string => {
  let rest = number + SYLLABLES.length;
  let word = '';
  while (rest > 0) {
    word += SYLLABLES[rest % SYLLABLES.length] ?? '';
    rest = Math.floor(rest / SYLLABLES.length);
  }
  return word;
};

/** Rank `r` about as often as `1 / r`. */
const zipf = (random: Random, count: number): number => Math.floor(Math.exp(random() * Math.log(count + 1))) - 1;

const uuidFrom = (random: Random): string => {
  const hex = Array.from({ length: 8 }, () =>
    Math.floor(random() * 0x10000)
      .toString(16)
      .padStart(4, '0'),
  );
  const [a = '', b = '', c = '', d = '', e = '', f = '', g = '', h = ''] = hex;
  return `${a}${b}-${c}-4${d.slice(1)}-8${e.slice(1)}-${f}${g}${h}`;
};

const mistyped = (word: string, random: Random): string => {
  const at = 1 + Math.floor(random() * (word.length - 2));
  return word.slice(0, at) + (word[at + 1] ?? '') + (word[at] ?? '') + word.slice(at + 2);
};

export const createCorpus = (size: number) => {
  const vocabulary = Math.round(2_500 * (size / 1_000) ** 0.45);
  const people = Math.max(20, Math.round(Math.sqrt(size) * 3));
  const words = (random: Random, count: number): string => Array.from({ length: count }, () => wordOf(zipf(random, vocabulary))).join(' ');
  const person = (number: number): string => `${wordOf(number * 3)} ${wordOf(number * 7 + 1)}`;
  const bubble = (number: number): TestBubble => {
    const random = seeded(number + 1);
    return testBubble({
      id: uuidFrom(random),
      title: words(random, 2 + Math.floor(random() * WORDS_OF_TITLE)),
      authorName: person(zipf(random, people)),
      summary: random() < 0.1 ? null : words(random, Math.floor(random() * WORDS_OF_NOTES * 2)),
      createdMs: FIRST_DAY + number * MINUTE,
      teamId: `team-${Math.floor(random() * 5)}`,
      channelId: `channel-${Math.floor(random() * 40)}`,
    });
  };
  return {
    bubbles: (from: number, to: number): TestBubble[] => Array.from({ length: to - from }, (_, at) => bubble(from + at)),
    queries: (rounds: number): Record<string, string[]> => {
      const random = seeded(99);
      const some = (make: () => string): string[] => Array.from({ length: rounds }, make);
      const one = () => wordOf(zipf(random, vocabulary));
      const rare = () => wordOf(Math.floor(random() * vocabulary));
      return {
        'warming up': some(one),
        'one word': some(one),
        'rare word': some(rare),
        'one letter': some(() => one().slice(0, 1)),
        beginning: some(() => one().slice(0, 4)),
        typo: some(() => mistyped(rare(), random)),
        'long typo': some(() => mistyped(`${rare()}${rare()}`.slice(0, 12), random)),
        name: some(() => person(zipf(random, people))),
        'two words': some(() => `${one()} ${one()}`),
        'three words': some(() => `${one()} ${one()} ${rare()}`),
        'seven words': some(() => words(random, 7)),
        nothing: some(() => `zzz${rare()}zzz`),
        '256 characters': some(() => words(random, 60).slice(0, 256)),
      };
    },
  };
};
