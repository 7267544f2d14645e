import { describe, expect, it } from '@jest/globals';
import { hitPosition } from '../../src/adapters/http/cursors.ts';
import { UNDATED } from '../../src/domain/bubble.ts';
import type { Position } from '../../src/domain/ranking.ts';
import type { CallerIndex } from '../../src/search/caller-index.ts';
import { cardOf, defined, indexOf, mergeNow, pull, type TestBubble, testBubble, uuidOf } from './harness.ts';

const WALKS = 1500;
const TIMES = [UNDATED, -62_167_219_200_000, -1, 0, 1, 1000, 10 ** 13 - 1, 10 ** 13, 253_402_300_799_999];
const WORDS = ['sprint', 'sprnt', 'sprinting', 'demo', 'retro', 'plan', 'alpha', 'beta'];

/** Numbers that look random and are the same in every run. */
const seeded = (seed: number) => {
  let state = seed;
  return (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
};

type Random = ReturnType<typeof seeded>;

const someWords = (random: Random, count: number): string => Array.from({ length: count }, () => WORDS[random(WORDS.length)]).join(' ');

const someBubble = (random: Random, number: number): TestBubble =>
  testBubble({
    id: uuidOf(number),
    title: someWords(random, 1 + random(3)),
    authorName: someWords(random, 1),
    summary: someWords(random, random(4)),
    createdMs: TIMES[random(TIMES.length)] ?? 0,
  });

interface World {
  readonly random: Random;
  readonly index: CallerIndex;
  readonly bubbles: Map<string, TestBubble>;
  /** Those nobody touched since the walk began. */
  readonly untouched: Set<string>;
  rev: number;
}

const someId = ({ bubbles, random }: World): string | undefined => [...bubbles.keys()][random(bubbles.size)];

/** Inserts, removes, takes access away, or edits. */
const disturb = (world: World): void => {
  const { random, index, bubbles, untouched } = world;
  world.rev++;
  const kind = random(4);
  const id = someId(world);
  if (kind < 2 || id === undefined) {
    const bubble = someBubble(random, 1000 + world.rev * 7 + random(7));
    bubbles.set(bubble.id, bubble);
    index.apply([cardOf(bubble, world.rev)]);
    return;
  }
  const bubble = bubbles.get(id);
  if (bubble === undefined) return;
  untouched.delete(id);
  if (kind === 2) {
    bubbles.delete(id);
    index.apply([cardOf(bubble, world.rev, false)]);
    return;
  }
  const edited = { ...bubble, title: someWords(random, 2) };
  bubbles.set(id, edited);
  index.apply([cardOf(edited, world.rev)]);
};

/** A bubble whose card is written again without a change of its words: somebody joined or left it. */
const rewrite = (world: World): void => {
  const bubble = world.bubbles.get(someId(world) ?? '');
  if (bubble !== undefined) world.index.apply([cardOf(bubble, ++world.rev)]);
};

const walk = (world: World, q: string): string[] => {
  const { random, index } = world;
  const seen: string[] = [];
  for (let after: Position | null = null; ; ) {
    const limit = 1 + random(4);
    const hits = pull(index, { q, after }, limit + 1);
    const page = hits.slice(0, limit);
    for (const one of page.map(({ id }) => id)) seen.push(one);
    if (hits.length <= limit) return seen;
    after = hitPosition.read(hitPosition.write(page[limit - 1] ?? { rank: 0, createdMs: 0, id: uuidOf(0) }).bytes);
    for (let changes = random(4); changes > 0; changes--) disturb(world);
    rewrite(world);
  }
};

describe('a walk through the pages of a search', () => {
  it(`[LIST-07] [SRCH-06] yields every bubble nobody touched exactly once, in ${WALKS} walks among inserts, deletes, lost access and edits`, () => {
    let rows = 0;
    for (let seed = 1; seed <= WALKS; seed++) {
      const random = seeded(seed);
      const bubbles = Array.from({ length: 5 + random(25) }, (_, number) => someBubble(random, number));
      const q = someWords(random, 1 + random(3));
      const wanted = defined(bubbles, { q });
      const world: World = {
        random,
        index: indexOf(bubbles),
        bubbles: new Map(bubbles.map((b) => [b.id, b])),
        untouched: new Set(wanted.map(({ id }) => id)),
        rev: 1,
      };
      const seen = walk(world, q).filter((id) => world.untouched.has(id));
      expect(seen).toEqual(wanted.map(({ id }) => id).filter((id) => world.untouched.has(id)));
      rows += seen.length;
    }
    expect(rows).toBeGreaterThan(WALKS);
  });

  it('[LIST-07] goes on with what it saw while a merge comes between two pulls', () => {
    const random = seeded(7);
    const bubbles = Array.from({ length: 300 }, (_, number) => someBubble(random, number));
    const index = indexOf(bubbles);
    const wanted = defined(bubbles, { q: 'sprint' });
    const later = Array.from({ length: 600 }, (_, number) => someBubble(random, 10_000 + number));
    const seen: string[] = [];
    const hits = pull(index, { q: 'sprint' }, 10);
    for (const one of hits.map(({ id }) => id)) seen.push(one);
    index.apply(later.map((bubble) => cardOf(bubble, 1)));
    expect(mergeNow(index)).toBe(true);
    const rest = pull(index, { q: 'sprint', after: hits[9] ?? null });
    for (const one of rest.map(({ id }) => id)) seen.push(one);
    const old = new Set(wanted.map(({ id }) => id));
    expect(seen.filter((id) => old.has(id))).toEqual(wanted.map(({ id }) => id));
    expect(pull(index, { q: 'sprint' })).toEqual(defined([...bubbles, ...later], { q: 'sprint' }));
  });
});
