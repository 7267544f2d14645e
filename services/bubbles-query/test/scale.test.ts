import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { fakeIds } from '@bubbles/testing/fake-ids.ts';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { openStores } from '../src/adapters/store/stores.ts';
import { type Bubble, sortKeyOf, withFacts } from '../src/domain/bubble.ts';
import type { BubbleStore, ListFilters } from '../src/ports.ts';
import { AT, bubbleId } from './builders.ts';
import { someDetails, someNotes } from './states.ts';

const MANY = Number(process.env['BUBBLES'] ?? 10_000);
const FEW = 100;
const PAGE = 25;
const EVERYTHING: ListFilters = { teamId: null, spaceId: null, type: null, createdAfterMs: null, createdBeforeMs: null };
/** Beyond what a busy machine adds, and far below what a scan would cost. */
const MOST_TIMES = 8;

const createdAt = (n: number): Date => new Date(AT.getTime() + n * 1000);

const storeOf = async (count: number): Promise<BubbleStore> => {
  const stores = openStores({
    database: memoryDatabase(),
    clock: fakeClock(AT),
    ids: fakeIds(),
    source: 'test',
    onCommit: () => undefined,
  });
  await stores.ensureIndexes();
  const made = (n: number) => (bubble: Bubble) => {
    const detailed = withFacts(bubble, 'details', someDetails({ createdAt: createdAt(n), teamId: n % 2 === 0 ? 'even' : 'odd' }));
    const state = detailed && withFacts(detailed, 'notes', someNotes({ summary: 'What was said. '.repeat(40) }));
    return state && { state, events: [] };
  };
  for (let n = 0; n < count; n += 1) await stores.bubbles.change(bubbleId(n), made(n));
  return stores.bubbles;
};

/** The best of several runs of each, taken in turns: what the work costs, whatever else the machine does, and whenever it does it. */
const leastMsOf = async (works: Readonly<Record<string, () => Promise<unknown>>>): Promise<ReadonlyMap<string, number>> => {
  const least = new Map<string, number>();
  for (let run = 0; run < 40; run += 1)
    for (const [name, work] of Object.entries(works)) {
      const began = performance.now();
      await work();
      least.set(name, Math.min(performance.now() - began, least.get(name) ?? Number.POSITIVE_INFINITY));
    }
  return least;
};

describe(`a caller with ${MANY} bubbles`, () => {
  let many: BubbleStore;
  let few: BubbleStore;
  beforeAll(async () => {
    [many, few] = [await storeOf(MANY), await storeOf(FEW)];
  });

  const page = (store: BubbleStore, before: string | null, filters: Partial<ListFilters> = {}) =>
    store.rows({ userId: 'ada', filters: { ...EVERYTHING, ...filters }, before, limit: PAGE, now: AT });
  const keyOf = (n: number) => sortKeyOf(createdAt(n).getTime(), bubbleId(n));

  it('[LIST-01] [LIST-06] the first page and a deep one cost what they cost a caller with a hundred', async () => {
    const dated = { createdAfterMs: createdAt(2).getTime(), createdBeforeMs: createdAt(MANY - 2).getTime() };
    const costs = await leastMsOf({
      base: () => page(few, null),
      first: () => page(many, null),
      deep: () => page(many, keyOf(PAGE + 5)),
      deepOfTeam: () => page(many, keyOf(2 * PAGE + 5), { teamId: 'even' }),
      deepOfDates: () => page(many, keyOf(PAGE + 5), dated),
    });
    const base = costs.get('base') ?? 0;
    const tooDear = [...costs].filter(([, ms]) => ms > MOST_TIMES * base);
    expect({ base, tooDear }).toEqual({ base, tooDear: [] });
  });

  it('[LIST-06] and hold the right rows', async () => {
    const numbers = async (...query: Parameters<typeof page>) => (await page(...query)).map(({ id }) => Number.parseInt(id.slice(-8), 16));
    expect(await numbers(many, null)).toEqual(Array.from({ length: PAGE }, (_, n) => MANY - 1 - n));
    expect(await numbers(many, keyOf(5))).toEqual([4, 3, 2, 1, 0]);
    expect(await numbers(many, keyOf(7), { teamId: 'odd' })).toEqual([5, 3, 1]);
  });
});
