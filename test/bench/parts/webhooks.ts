import { startChild } from '../harness/children.ts';
import { lags, type Receiver, received, SECRET, startDispatcher } from '../harness/dispatcher.ts';
import type { Cell, Part, Verdict } from '../harness/part.ts';
import { median, pairedRatio } from '../harness/statistics.ts';
import type { Done } from '../processes/dispatcher.ts';

/** POSTs on the wire at once, of the dispatcher to one origin and of the bare client. */
const AT_ONCE = 64;
const AN_HOUR_MS = 3_600_000;

interface Plan {
  readonly rounds: number;
  readonly deliveries: number;
  readonly seconds: number;
  readonly pending: number;
}

interface Rate {
  readonly perSecond: number;
  readonly cpuUs: number;
}
const rateOf = ({ ms, cpuMs }: Done, count: number): Rate => ({ perSecond: (count * 1000) / ms, cpuUs: (cpuMs * 1000) / count });

/** A backlog worked off, beside the same POSTs by a bare client in the same process, which signs and records nothing. */
const throughput = async (receiver: Receiver, { rounds, deliveries: count }: Plan, path = '') => {
  const dispatcher = await startDispatcher();
  const url = `${receiver.ready.url}${path}`;
  const bare: Rate[] = [];
  const own: Rate[] = [];
  for (let round = -1; round < rounds; round += 1) {
    // Nothing is due, and so on its way, while more is queued.
    await dispatcher.perform({ task: 'queue', owner: `round-${round}`, url, count, dueInMs: AN_HOUR_MS });
    await received(receiver);
    await dispatcher.perform({ task: 'put-forward', ms: AN_HOUR_MS });
    const mine = rateOf(await dispatcher.perform({ task: 'work-off' }), count);
    const { answered } = await received(receiver);
    if (answered !== count) throw new Error(`${answered} of ${count} deliveries came`);
    const theirs = rateOf(await dispatcher.perform({ task: 'bare', url, count, atOnce: AT_ONCE }), count);
    if (round < 0) continue;
    own.push(mine);
    bare.push(theirs);
  }
  await dispatcher.stop();
  return { own, bare };
};

const perSecondOf = (rates: readonly Rate[]) => rates.map(({ perSecond }) => perSecond);
const cpuOf = (rates: readonly Rate[]) => rates.map(({ cpuUs }) => cpuUs);

const backlog = (name: string, { own, bare }: Awaited<ReturnType<typeof throughput>>) => {
  const ratio = pairedRatio(perSecondOf(own), perSecondOf(bare));
  const rows: readonly (readonly Cell[])[] = [
    [name, 'bare undici.request', median(perSecondOf(bare)), 1, median(cpuOf(bare))],
    [name, 'dispatcher', median(perSecondOf(own)), ratio, median(cpuOf(own))],
  ];
  return { ratio, rows };
};

const BUSY = { owner: 'busy', path: '', perSecond: 500, origins: 1 };
const HEALTHY = { owner: 'healthy', path: '', perSecond: 25, origins: 1 };
const HANGING = { owner: 'hanging', path: '/silent', perSecond: 20 * HEALTHY.perSecond, origins: 1 };

/** Resident memory as deliveries wait for their time. The embedded store keeps them in this process. */
const memory = async (receiver: Receiver, { pending }: Plan) => {
  const dispatcher = await startDispatcher();
  await dispatcher.perform({ task: 'work-off' });
  const before = dispatcher.memoryMb();
  await dispatcher.perform({ task: 'queue', owner: 'ada', url: receiver.ready.url, count: pending, dueInMs: AN_HOUR_MS });
  const after = dispatcher.memoryMb();
  await dispatcher.stop();
  return { before, after };
};

const least = (what: string, figure: number, limit: number): Verdict => ({ target: 'W1', what, figure, limit, wanted: 'least' });

/** One dispatcher process on the embedded store, or on the engine of MONGODB_URL, before a receiver that costs next to nothing. */
export const webhooks: Part = async ({ quick }) => {
  const plan: Plan = quick
    ? { rounds: 1, deliveries: 2000, seconds: 2, pending: 10_000 }
    : { rounds: 5, deliveries: 6000, seconds: 5, pending: 100_000 };
  const receiver: Receiver = await startChild({ module: 'processes/webhook-receiver.ts', core: 'rest' });
  const verifying: Receiver = await startChild({ module: 'processes/verifying-receiver.ts', settings: { secret: SECRET }, core: 'rest' });
  const raw = backlog('bare socket', await throughput(receiver, plan));
  const late = backlog('bare socket, after 20 ms', await throughput(receiver, plan, '/late'));
  const verified = backlog('node:http that verifies', await throughput(verifying, plan));
  await verifying.stop();
  const lagRow = async (name: string, tellers: Parameters<typeof lags>[1]) => {
    const { count, p50, p95, p99 } = await lags(receiver, tellers, plan.seconds);
    return { p95, row: [name, count, p50, p95, p99] satisfies readonly Cell[] };
  };
  const busy = await lagRow(`${BUSY.perSecond} a second`, [BUSY]);
  const alone = await lagRow(`${HEALTHY.perSecond} a second`, [HEALTHY]);
  const beside = await lagRow(`the same beside ${HANGING.perSecond} a second for one that never answers`, [HEALTHY, HANGING]);
  const { before, after } = await memory(receiver, plan);
  await receiver.stop();
  return {
    tables: [
      {
        title: `A backlog, ${AT_ONCE} POSTs of 2 KiB at once`,
        columns: ['receiver', 'of', 'a second', 'x bare', 'CPU us'],
        rows: [...raw.rows, ...verified.rows, ...late.rows],
      },
      {
        title: 'From ready to the first attempt',
        columns: ['load', 'deliveries', 'p50 ms', 'p95 ms', 'p99 ms'],
        rows: [busy.row, alone.row, beside.row],
      },
      {
        title: 'Memory',
        columns: ['deliveries that wait', 'RSS MB', 'KB each'],
        rows: [
          [0, before, null],
          [plan.pending, after, ((after - before) * 1024) / plan.pending],
        ],
      },
    ],
    verdicts: [
      least('deliveries a second x bare, receiver that verifies', verified.ratio, 0.25),
      least('deliveries a second x bare, receiver that costs nothing', raw.ratio, 0.5),
      least('deliveries a second x bare, receiver that answers after 20 ms', late.ratio, 0.5),
      { target: 'W2', what: 'p95 beside one that hangs / alone', figure: beside.p95 / alone.p95, limit: 2, wanted: 'most' },
    ],
    notes: [],
  };
};
