import { type Child, startChild } from '../harness/children.ts';
import type { Outcome } from '../harness/part.ts';
import { median, pairedRatio } from '../harness/statistics.ts';
import type { WatchTask } from '../processes/watch.ts';

const FEW = 100;
const MANY = 10_000;
const DUE = 50;
/** Nobody waits for a place while CPU is measured. */
const NO_BUDGET = 100_000;
const BUDGET = 150;
const WARM_ROUNDS = 10;

/** The loop that asks providers about silent joins, at the same number of due ones beside few and many that are not due. */
export const watch = async (quick: boolean): Promise<Outcome> => {
  const [rounds, minutes] = quick ? [15, 2] : [120, 5];
  const child: Child<unknown> = await startChild({ module: 'processes/watch.ts' });
  const ask = <A>(task: WatchTask) => child.ask<A>(task);
  const counts = [FEW, MANY];
  for (const joins of counts) await ask({ task: 'open', name: String(joins), joins, perMinute: NO_BUDGET });
  const cpu = counts.map((): number[] => []);
  for (let round = -WARM_ROUNDS; round < rounds; round += 1)
    for (const [at, joins] of counts.entries()) {
      const measured = await ask<number>({ task: 'look', name: String(joins), due: DUE });
      if (round >= 0) cpu[at]?.push(measured);
    }
  await ask({ task: 'open', name: 'budget', joins: MANY, perMinute: BUDGET });
  const { most, calls } = await ask<{ readonly most: number; readonly calls: number }>({ task: 'all-due', name: 'budget', minutes });
  await child.stop();
  const ratioOf = (at: number) => pairedRatio(cpu[at] ?? [], cpu[0] ?? []);
  return {
    tables: [
      {
        title: `Looks at ${DUE} due joins`,
        columns: ['open joins', 'CPU us a look', 'x few'],
        rows: counts.map((joins, at) => [joins, median(cpu[at] ?? []), ratioOf(at)]),
      },
      {
        title: `${MANY} due joins and ${BUDGET} calls a minute`,
        columns: ['minutes', 'calls', 'most in a minute'],
        rows: [[minutes, calls, most]],
      },
    ],
    verdicts: [
      { target: 'Meetings', what: `CPU of a look at ${MANY} open joins / ${FEW}`, figure: ratioOf(1), limit: 1.5, wanted: 'most' },
      { target: 'Meetings', what: 'most calls of a provider in a minute / its budget', figure: most / BUDGET, limit: 1, wanted: 'most' },
    ],
    notes: [],
  };
};
