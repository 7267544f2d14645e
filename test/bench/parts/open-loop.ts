import { type LoadFigures, startLoadGenerator } from '../harness/load.ts';
import type { Cell, Part, Verdict } from '../harness/part.ts';
import { startWorld } from '../harness/world.ts';

const ACCOUNTS = 600;
const SEED = { bubbles: 4_000, users: ACCOUNTS, readersEach: 6, cards: false };
const PATH = '/v1/bubbles?limit=25';
/** Enough that no request waits for a connection of ours before the service would refuse it. */
const CONNECTIONS = 512;
/** Of an overload, until the gateway knows that it is no burst. */
const LEAD_IN_SECONDS = 2;
const PROBES_PER_SECOND = 50;
const RECOVERED_WITHIN_MS = 2000;
const PROBE_EVERY_MS = 25;
/** Consecutive answers that are as quick as at half load. */
const QUICK_ANSWERS = 5;

const sum = (counts: Readonly<Record<string, number>>): number => Object.values(counts).reduce((total, one) => total + one, 0);

const rowOf = (name: string, rate: number, figures: LoadFigures): readonly Cell[] => {
  const refused = sum(figures.others);
  return [name, rate, figures.perSecond, refused / figures.seconds, figures.p50, figures.p99, refused === 0 ? null : figures.refusedP99];
};

const most = (what: string, figure: number, limit: number): Verdict => ({ target: 'T14', what, figure, limit, wanted: 'most' });

/** Milliseconds until answers are as they were before the flood. */
const recovery = async (ask: () => Promise<{ readonly ok: boolean; readonly ms: number }>, quickMs: number): Promise<number> => {
  const began = performance.now();
  let [firstQuick, inRow] = [0, 0];
  while (inRow < QUICK_ANSWERS && performance.now() - began < 5 * RECOVERED_WITHIN_MS) {
    const { ok, ms } = await ask();
    if (ok && ms <= quickMs) {
      if (inRow === 0) firstQuick = performance.now() - began;
      inRow += 1;
    } else inRow = 0;
    await new Promise((resolve) => setTimeout(resolve, PROBE_EVERY_MS));
  }
  return inRow < QUICK_ANSWERS ? Number.POSITIVE_INFINITY : firstQuick;
};

/** Requests that come whatever happens: at half of what the read path can do, and at twice. */
export const openLoop: Part = async ({ quick }) => {
  const seconds = quick ? 1.5 : 5;
  const world = await startWorld({ accounts: ACCOUNTS, seed: SEED, shedding: true });
  const load = await startLoadGenerator();
  const requests = world.tokens.map((token) => ({ path: PATH, headers: { authorization: `Bearer ${token}` } }));
  const asked = { origin: world.gateway.ready.url, requests, connections: CONNECTIONS };
  const run = (rate: number) => load.run({ ...asked, seconds, rate });
  const closed = (connections: number) => load.run({ origin: world.gateway.ready.url, requests, connections, seconds });
  await closed(16);
  const { perSecond: capacity } = await closed(32);
  const half = await run(Math.round(capacity / 2));
  const beginning = await load.run({ ...asked, seconds: LEAD_IN_SECONDS, rate: Math.round(capacity * 2) });
  const twice = await run(Math.round(capacity * 2));
  let turn = 0;
  const ask = async () => {
    turn += 1;
    const began = performance.now();
    const { path = '', headers = {} } = requests[turn] ?? {};
    const answer = await fetch(`${world.gateway.ready.url}${path}`, { headers });
    await answer.arrayBuffer();
    return { ok: answer.ok, ms: performance.now() - began };
  };
  const recoveredMs = await recovery(ask, Math.max(half.p99, 20));
  const after = await run(PROBES_PER_SECOND);
  await Promise.all([load.stop(), world.stop()]);
  const refusedAtHalf = sum(half.others) / (half.answered + sum(half.others));
  const rows = [
    ['closed, c=32', null, capacity, 0, null, null, null],
    rowOf('half of it', Math.round(capacity / 2), half),
    rowOf(`twice, the first ${LEAD_IN_SECONDS} s`, Math.round(capacity * 2), beginning),
    rowOf('twice, then', Math.round(capacity * 2), twice),
    rowOf('afterwards', PROBES_PER_SECOND, after),
  ];
  const columns = ['load', 'offered a second', 'answered', 'refused', 'p50 ms', 'p99 ms', 'p99 ms of refusals'];
  return {
    tables: [{ title: `${PATH} through gateway, identity and bubbles-query, shedding on`, columns, rows }],
    verdicts: [
      most('half: p99 / p50', half.p99 / half.p50, 10),
      most('half: share refused', refusedAtHalf, 0),
      most('twice: p99 ms of the accepted', twice.p99, 250),
      most('twice: p99 ms of refusals', twice.refusedP99, 250),
      { target: '1', what: 'twice: answered / capacity', figure: twice.perSecond / capacity, limit: 0.8, wanted: 'least' },
      most('ms until it is as before', recoveredMs, RECOVERED_WITHIN_MS),
    ],
    notes: ['Latency counts from when a request was due. Load generator and services share the cores.'],
  };
};
