import { GATEWAY } from '@bubbles/contracts/services.ts';
import { type LoadFigures, startLoadGenerator } from '../harness/load.ts';
import type { Cell, Part, Table, Verdict } from '../harness/part.ts';
import { median, percentile } from '../harness/statistics.ts';
import { startWholeStack, type WholeStack } from '../harness/whole-stack.ts';
import { installedSizes } from './stack-installed.ts';

const PATH = '/v1/bubbles?limit=25';
const REST_MS = 10_000;
/** Enough that none comes near its 120 requests a minute. */
const PEOPLE = 900;
const FLOODERS = 10;
const CONNECTIONS = 512;
/** Of an overload, until the product knows that it is no burst. */
const LEAD_IN_SECONDS = 2;
const PROBE_EVERY_MS = 250;
/** Of the well-behaved user, all keys together. */
const USER_PER_SECOND = 10;
const USER_KEYS = 12;

interface Findings {
  readonly table: Table;
  readonly verdicts: readonly Verdict[];
}

const most = (target: string, what: string, figure: number, limit: number): Verdict => ({ target, what, figure, limit, wanted: 'most' });
const least = (target: string, what: string, figure: number, limit: number): Verdict => ({ target, what, figure, limit, wanted: 'least' });
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const sum = (values: readonly number[]): number => values.reduce((total, one) => total + one, 0);
const refusedIn = ({ others }: LoadFigures): number => sum(Object.values(others));

const PROCESSES = 7;
const PROCESSES_MB = 400;
const FURTHER_MB = 60;

/** After a start with code that is kept compiled, before the first request. */
const memoryAtRest = async (stack: WholeStack): Promise<Findings> => {
  for (const plan of stack.plans) await stack.startAgain(plan, {});
  await pause(REST_MS);
  const measured = stack.plans.map((plan) => [plan.name, stack.memory(plan)] as const);
  const limit = PROCESSES_MB + Math.max(0, stack.plans.length - PROCESSES) * FURTHER_MB;
  const total = sum(measured.map(([, { pssMb }]) => pssMb));
  const columns = ['process', 'PSS MB', 'private MB', 'RSS MB'];
  const rows: Cell[][] = measured.map(([name, { pssMb, privateMb, rssMb }]) => [name, pssMb, privateMb, rssMb]);
  return {
    table: { title: 'Memory at rest', columns, rows: [...rows, ['together', total, null, null]] },
    verdicts: [most('T9', `${stack.plans.length} processes: MB PSS`, total, limit)],
  };
};

const START_LIMIT_MS = 1500;
/** As in an image, whose root is read-only; and as the stack starts them. */
const CODE = { 'compiled at each start': { NODE_DISABLE_COMPILE_CACHE: '1' }, 'kept compiled': {} };

/** One process after the other, the engines and the others up. */
const coldStarts = async (stack: WholeStack, rounds: number): Promise<Findings> => {
  const firsts = [...new Set(stack.plans.map(({ service }) => service))].flatMap((service) => stack.plansOf(service).slice(0, 1));
  const rows: Cell[][] = [];
  for (const plan of firsts) {
    const middles: number[] = [];
    for (const environment of Object.values(CODE)) {
      const times: number[] = [];
      for (let round = 0; round < rounds; round += 1) times.push(await stack.startAgain(plan, environment));
      middles.push(median(times));
    }
    rows.push([plan.service, ...middles]);
  }
  const verdicts = rows.map(([service, slowest]) => most('T10', `${service}: ms until it is ready`, Number(slowest), START_LIMIT_MS));
  return { table: { title: 'Cold start until /readyz, ms', columns: ['process', ...Object.keys(CODE)], rows }, verdicts };
};

/** Of every process, while the work is done: milliseconds of the slowest answer, and how many were none. */
const probing = async <T>(stack: WholeStack, work: () => Promise<T>) => {
  const [times, ended] = [[] as number[], new AbortController()];
  let failed = 0;
  const probe = async (url: string) => {
    while (!ended.signal.aborted) {
      const began = performance.now();
      const isAlive = await fetch(url).then(
        async (answer) => (await answer.arrayBuffer()) && answer.ok,
        () => false,
      );
      if (!isAlive) failed += 1;
      times.push(performance.now() - began);
      await pause(PROBE_EVERY_MS);
    }
  };
  const probes = stack.plans.map(({ opsUrl }) => probe(`${opsUrl}/livez`));
  const result = await work();
  ended.abort();
  await Promise.all(probes);
  return { result, slowestMs: percentile(times, 1), p99Ms: percentile(times, 0.99), failed };
};

const rowOf = (name: string, rate: number | null, figures: LoadFigures): Cell[] => {
  const refused = refusedIn(figures);
  return [name, rate, figures.perSecond, refused / figures.seconds, figures.p50, figures.p99, refused === 0 ? null : figures.refusedP99];
};

/** What the stack can do, then twice that whatever it answers, then a few who flood beside one who does not. */
const overload = async (stack: WholeStack, seconds: number): Promise<Findings> => {
  const tokens = await stack.people(PEOPLE + FLOODERS + USER_KEYS);
  const origin = stack.plansOf(GATEWAY)[0]?.url ?? '';
  const [load, user] = [await startLoadGenerator(), await startLoadGenerator()];
  const asked = (some: readonly string[]) => some.map((token) => ({ path: PATH, headers: { authorization: `Bearer ${token}` } }));
  const [many, few, one] = [asked(tokens.slice(0, PEOPLE)), asked(tokens.slice(PEOPLE, -USER_KEYS)), asked(tokens.slice(-USER_KEYS))];
  const closed = () => load.run({ origin, requests: many, connections: 32, seconds });
  const open = (requests: typeof many, rate: number) => load.run({ origin, requests, connections: CONNECTIONS, seconds, rate });
  await closed();
  const before = await closed();
  const capacity = before.perSecond;
  const rate = Math.round(capacity * 2);
  const beginning = await load.run({ origin, requests: many, connections: CONNECTIONS, seconds: LEAD_IN_SECONDS, rate });
  const twice = await probing(stack, () => open(many, rate));
  const after = await closed();
  const asUser = () => user.run({ origin, requests: one, connections: 16, seconds, rate: USER_PER_SECOND });
  const alone = await asUser();
  const beside = await probing(stack, async () => (await Promise.all([asUser(), open(few, rate)]))[0]);
  await Promise.all([load.stop(), user.stop()]);
  const rows = [
    rowOf('closed, c=32', null, before),
    rowOf(`twice that, the first ${LEAD_IN_SECONDS} s`, rate, beginning),
    rowOf('twice that, then', rate, twice.result),
    rowOf('closed again', null, after),
    rowOf('one user alone', USER_PER_SECOND, alone),
    rowOf(`beside ${FLOODERS} who flood`, USER_PER_SECOND, beside.result),
  ];
  const columns = ['load', 'offered a second', 'answered', 'refused', 'p50 ms', 'p99 ms', 'p99 ms of refusals'];
  return {
    table: { title: `${PATH} through the stack`, columns, rows },
    verdicts: [
      least('T14', 'twice: answered / capacity', twice.result.perSecond / capacity, 0.8),
      most('T14', 'twice: p99 ms of the accepted', twice.result.p99, 250),
      most('T14', 'twice: connections that broke', twice.result.others[0] ?? 0, 0),
      most('T14', 'twice: slowest /livez, ms', twice.slowestMs, 500),
      most('T14', 'twice: /livez without an answer', twice.failed, 0),
      least('T14', 'afterwards: capacity / capacity before', after.perSecond / capacity, 0.8),
      most('A', 'one user beside a flood: refused', refusedIn(beside.result), 0),
      most('A', 'one user beside a flood: p99 ms', beside.result.p99, 250),
      most('A', 'flood: slowest /livez, ms', beside.slowestMs, 500),
    ],
  };
};

/** The whole product as processes on engines: memory, cold start, overload, and what an image of each part installs. */
export const stackPart: Part = async ({ quick }) => {
  const stack = await startWholeStack();
  const findings: Findings[] = [];
  try {
    findings.push(await memoryAtRest(stack));
    findings.push(await coldStarts(stack, quick ? 1 : 5));
    findings.push(await overload(stack, quick ? 3 : 8));
  } finally {
    await stack.stop();
  }
  findings.push(installedSizes());
  return {
    tables: findings.map(({ table }) => table),
    verdicts: findings.flatMap(({ verdicts }) => verdicts),
    notes: ['Load generators, engines and all processes share the cores. Latency counts from when a request was due.'],
  };
};
