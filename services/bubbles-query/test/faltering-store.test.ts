import { failEverywhere, falteringWorld } from '@bubbles/testing/faltering-world.ts';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { recordingBus } from '@bubbles/testing/recording-bus.ts';
import { describe, expect, it } from '@jest/globals';
import { readyOn, startBubbles, type TestBubbles } from './bubbles-query.ts';
import { account, bubbleId, posted, readyFacts, removed, type Told, threaded } from './builders.ts';

const LEASES_OVER_MS = 60_000;
/** What was written before is read no more by an index that has seen it. */
const OVERLAP_OVER_MS = 70_000;

const [KEPT, GONE, LATE] = [bubbleId(1), bubbleId(2), bubbleId(3)];
const ready = (bubble_id: string): readonly Told[] => readyFacts({ bubble_id, title: 'Weekly' });
const TOLD: readonly Told[] = [
  account(),
  ...ready(KEPT),
  threaded({ bubble_id: KEPT, thread_id: 't' }),
  posted({ bubble_id: KEPT, thread_id: 't', comment_id: 'c' }),
];
const CHANGES: readonly Told[] = [removed({ bubble_id: GONE }), ...ready(LATE), account({ revision: 2, name: 'Ada Lovelace' })];
const SEARCHES = ['/v1/bubbles/search?q=weekly', '/v1/bubbles/search?q=lovelace'];
const PATHS = ['/v1/bubbles', ...SEARCHES, ...['', '/comments'].map((below) => `/v1/bubbles/${KEPT}${below}`)];

/** All that is told comes at once, and what failed again, as from the bus. */
const tellAll = async (bubbles: TestBubbles, told: readonly Told[]): Promise<void> => {
  const results = await Promise.allSettled(told.map((one) => bubbles.tell(one)));
  const again = told.filter((_, n) => results[n]?.status === 'rejected');
  if (again.length > 0) await tellAll(bubbles, again);
};
const shown = async ({ read }: TestBubbles): Promise<readonly string[]> => {
  const answers: string[] = [];
  for (const path of PATHS) answers.push((await read('ada', path)).text);
  return answers;
};

const opened = async () => {
  const { database, port, failing } = falteringWorld();
  const bus = recordingBus();
  const bubbles = await startBubbles({ database: database(memoryDatabase()), bus: port(bus, ['publish']) });
  await bubbles.service.settle();
  return { bubbles, bus, failing };
};

/** Runs the flow in new worlds, one for each step that can fail: all come to what it comes to when none does. Answers how many failures there were. */
const failAtEachStep = async (run: (step: number) => Promise<{ readonly hasFailed: boolean; readonly outcome: unknown }>) => {
  const { outcome } = await run(Number.POSITIVE_INFINITY);
  return failEverywhere(async (step) => {
    const here = await run(step);
    expect([step, here.outcome]).toEqual([step, outcome]);
    return here.hasFailed;
  });
};

describe('a store or a broker that is away for one step', () => {
  it('[EVT-01] [COM-03] among facts that come all at once: nothing is lost, and the bubble is told ready', async () => {
    const failures = await failAtEachStep(async (step) => {
      const { bubbles, bus, failing } = await opened();
      const { hasFailed } = await failing(step, async () => {
        await tellAll(bubbles, TOLD);
        await bubbles.service.settle();
        await bubbles.clock.advance(LEASES_OVER_MS);
        await bubbles.service.settle();
      });
      const outcome = { seen: await shown(bubbles), ready: [...new Set(readyOn(bus).map(({ id }) => id))] };
      expect(outcome.ready).toHaveLength(1);
      await bubbles.stop();
      return { hasFailed, outcome };
    });
    expect(failures).toBeGreaterThan(80);
  });

  it('[SRCH-04] among searches that come all at once after bubbles have changed: every later search finds what there is', async () => {
    const failures = await failAtEachStep(async (step) => {
      const { bubbles, failing } = await opened();
      await tellAll(bubbles, [...TOLD, ...ready(GONE)]);
      await shown(bubbles);
      await tellAll(bubbles, CHANGES);
      await bubbles.clock.advance(OVERLAP_OVER_MS);
      const { hasFailed } = await failing(step, async () => {
        const searches = SEARCHES.flatMap((path) => ['ada', 'ben'].map((reader) => bubbles.read(reader, path)));
        for (const { status } of await Promise.all(searches)) expect([200, 500]).toContain(status);
        await bubbles.clock.advance(OVERLAP_OVER_MS);
      });
      const outcome = await shown(bubbles);
      await bubbles.stop();
      return { hasFailed, outcome };
    });
    expect(failures).toBe(20);
  });
});
