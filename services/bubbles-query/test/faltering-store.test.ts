import { storeUnavailable } from '@bubbles/shared/store/store-errors.ts';
import { crashPoints, faultPoints } from '@bubbles/shared/testing/crash-points.ts';
import { recordingBus } from '@bubbles/shared/testing/recording-bus.ts';
import { describe, expect, it } from '@jest/globals';
import { readyOn, startBubbles, type TestBubbles } from './bubbles-query.ts';
import { account, bubbleId, posted, readyFacts, removed, type Told, threaded } from './builders.ts';
import { mortal } from './mortal.ts';
import { memoryDatabase } from './stores.ts';

/** More than any of the flows has. */
const MOST_STEPS = 400;
const LEASES_OVER_MS = 60_000;
/** What was written before is read no more by an index that has seen it. */
const OVERLAP_OVER_MS = 70_000;
const away = () => storeUnavailable(new Error('away'));

const BUBBLES = [1, 2].map(bubbleId);
const GONE = bubbleId(2);
const TOLD: readonly Told[] = [
  account(),
  ...BUBBLES.flatMap((id, n) => readyFacts({ bubble_id: id, title: `Weekly ${n}` })),
  ...BUBBLES.flatMap((id, n) => [
    threaded({ bubble_id: id, thread_id: `t${n}` }),
    posted({ bubble_id: id, thread_id: `t${n}`, comment_id: `c${n}` }),
  ]),
];
const CHANGES: readonly Told[] = [
  removed({ bubble_id: GONE }),
  ...readyFacts({ bubble_id: bubbleId(3), title: 'Weekly 3' }),
  account({ revision: 2, name: 'Ada Lovelace' }),
];
const SEARCHES = ['/v1/bubbles/search?q=weekly', '/v1/bubbles/search?q=lovelace'];
const PATHS = ['/v1/bubbles', ...SEARCHES, ...BUBBLES.flatMap((id) => ['', '/comments'].map((below) => `/v1/bubbles/${id}${below}`))];

/** All that is told comes at once, and what failed again, as from the bus; answers how many were told again. */
const tellAll = async (bubbles: TestBubbles, told: readonly Told[]): Promise<number> => {
  const results = await Promise.allSettled(told.map((one) => bubbles.tell(one)));
  const again = told.filter((_, n) => results[n]?.status === 'rejected');
  return again.length === 0 ? 0 : again.length + (await tellAll(bubbles, again));
};
const shown = async ({ read }: TestBubbles): Promise<readonly string[]> => {
  const answers: string[] = [];
  for (const path of PATHS) answers.push((await read('ada', path)).text);
  return answers;
};

const opened = async () => {
  const world = mortal();
  const bus = recordingBus();
  const bubbles = await startBubbles({ database: world.database(memoryDatabase()), bus: world.port(bus, ['publish']) });
  await bubbles.service.settle();
  const failAt = (step: number) => {
    const fault = faultPoints(step, away);
    world.dieBy(fault);
    /** Whether it came to that; from then on nothing fails. */
    return () => {
      world.dieBy(crashPoints());
      return fault.steps() >= step;
    };
  };
  return { bubbles, bus, failAt };
};

/** Runs the flow in new worlds, failing one step later each time, until nothing fails any more; answers how many failures there were. */
const failEverywhere = async (run: (step: number) => Promise<{ readonly hasFailed: boolean; readonly outcome: unknown }>) => {
  const { outcome } = await run(Number.POSITIVE_INFINITY);
  for (let step = 1; step < MOST_STEPS; step += 1) {
    const here = await run(step);
    expect([step, here.outcome]).toEqual([step, outcome]);
    if (!here.hasFailed) return step - 1;
  }
  throw new Error('the flow never got through');
};

describe('a store or a broker that is away for one step', () => {
  it('[EVT-01] [COM-03] among facts that come all at once: nothing is lost, and each bubble is told ready', async () => {
    const failures = await failEverywhere(async (step) => {
      const { bubbles, bus, failAt } = await opened();
      const end = failAt(step);
      await tellAll(bubbles, TOLD);
      await bubbles.service.settle();
      await bubbles.clock.advance(LEASES_OVER_MS);
      await bubbles.service.settle();
      const hasFailed = end();
      const outcome = { seen: await shown(bubbles), ready: [...new Set(readyOn(bus).map(({ id }) => id))].toSorted() };
      expect(outcome.ready).toHaveLength(BUBBLES.length);
      await bubbles.stop();
      return { hasFailed, outcome };
    });
    expect(failures).toBeGreaterThan(50);
  });

  it('[SRCH-04] among searches that come all at once after bubbles have changed: every later search finds what there is', async () => {
    const failures = await failEverywhere(async (step) => {
      const { bubbles, failAt } = await opened();
      await tellAll(bubbles, TOLD);
      await shown(bubbles);
      await tellAll(bubbles, CHANGES);
      await bubbles.clock.advance(OVERLAP_OVER_MS);
      const end = failAt(step);
      const searches = SEARCHES.flatMap((path) => ['ada', 'ben', 'ada'].map((reader) => bubbles.read(reader, path)));
      for (const { status } of await Promise.all(searches)) expect([200, 500]).toContain(status);
      await bubbles.clock.advance(OVERLAP_OVER_MS);
      const hasFailed = end();
      const outcome = await shown(bubbles);
      await bubbles.stop();
      return { hasFailed, outcome };
    });
    expect(failures).toBeGreaterThan(10);
  });
});
