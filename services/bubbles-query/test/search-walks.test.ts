import { afterEach, describe, expect, it } from '@jest/globals';
import { startBubbles, type TestBubbles } from './bubbles-query.ts';
import { type RandomWorld, randomWorld } from './random-world.ts';
import { idsIn, searchAs } from './search-scene.ts';

const ROUNDS = 40;
const WALKS_PER_ROUND = 25;
/** Of all walks of a round. */
const CHANGES_PER_TURN = 1;
const ALL = 100;
/** What was written longer ago is not read again with every search. */
const BEYOND_THE_OVERLAP_MS = 70_000;

interface Walk {
  readonly userId: string;
  readonly q: string;
  readonly began: number;
  /** What the walk would see if nothing happened. */
  readonly wanted: readonly string[];
  readonly seen: string[];
  cursor: string | undefined;
  ended: boolean;
}

const begin = async (bubbles: TestBubbles, world: RandomWorld): Promise<Walk> => {
  const [userId, q] = [world.pickUser(), world.words(1 + world.random(3))];
  const whole = await searchAs(bubbles, userId, { q, limit: ALL });
  expect(whole.body.has_more).toBe(false);
  return { userId, q, began: world.now(), wanted: idsIn(whole), seen: [], cursor: undefined, ended: false };
};

const turnPage = async (bubbles: TestBubbles, world: RandomWorld, walk: Walk): Promise<void> => {
  const { userId, q, cursor } = walk;
  const answer = await searchAs(bubbles, userId, { q, limit: 1 + world.random(5), cursor });
  const ids = idsIn(answer);
  expect(ids.filter((id) => !world.mayRead(id, userId))).toEqual([]);
  for (const one of ids) walk.seen.push(one);
  walk.cursor = answer.body.next_cursor ?? undefined;
  walk.ended = !answer.body.has_more;
};

/** Answers how many rows nobody touched. */
const judge = (world: RandomWorld, { wanted, seen, began }: Walk): number => {
  const touched = world.touchedSince(began);
  const untouched = (id: string) => !touched.has(id);
  expect(seen.filter(untouched)).toEqual(wanted.filter(untouched));
  return wanted.filter(untouched).length;
};

let bubbles: TestBubbles;
afterEach(() => bubbles.stop());

describe('walks through searches', () => {
  it(`[SRCH-06] [SRCH-04] [LIST-07] ${ROUNDS * WALKS_PER_ROUND} among inserts, removals, edits, renames and lost access: each untouched row once, no unreadable one`, async () => {
    bubbles = await startBubbles();
    const world = randomWorld(bubbles, 1);
    for (let n = 0; n < 40; n++) await world.insert();
    let rows = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const walks: Walk[] = [];
      for (let n = 0; n < WALKS_PER_ROUND; n++) walks.push(await begin(bubbles, world));
      for (let open: readonly Walk[] = walks; open.length > 0; open = open.filter(({ ended }) => !ended)) {
        for (const walk of open) await turnPage(bubbles, world, walk);
        for (let n = 0; n < CHANGES_PER_TURN; n++) await world.disturb();
      }
      for (const walk of walks) rows += judge(world, walk);
      await bubbles.clock.advance(BEYOND_THE_OVERLAP_MS);
    }
    expect(rows).toBeGreaterThan(ROUNDS * WALKS_PER_ROUND);
  });
});
