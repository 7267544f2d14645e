import { startChild } from '../harness/children.ts';
import { type LoadFigures, startLoadGenerator } from '../harness/load.ts';
import type { Cell, Part, Verdict } from '../harness/part.ts';
import { median } from '../harness/statistics.ts';
import { KEYS_EACH, startWorld } from '../harness/world.ts';
import type { FloodTask } from '../processes/flood.ts';
import { besideHangingReceivers } from './fairness-webhooks.ts';

const ACCOUNTS = 40;
const SEED = { bubbles: 2_000, users: ACCOUNTS, readersEach: 6, cards: false };
const PATH = '/v1/bubbles?limit=25';
/** Of the well-behaved user, all keys together: far below what they may. */
const REQUESTS_PER_SECOND = 15;
const SETTLE_MS = 300;
const MAX_QUOTIENT = 3;

interface Flood {
  readonly name: string;
  readonly task: (origin: string, token: string, others: readonly string[]) => FloodTask;
}

const FLOODS: readonly Flood[] = [
  {
    name: '115 pipelined lists on one connection, no answer read',
    task: (origin, token) => ({ kind: 'unread answers', origin, path: '/v1/bubbles?limit=100', token, requests: 115 }),
  },
  {
    name: '256 half-sent bodies without a credential',
    task: (origin) => ({ kind: 'half-sent bodies', origin, path: '/oauth/token', connections: 256 }),
  },
  {
    name: 'ten callers with 123 requests each at once',
    task: (origin, _, others) => ({ kind: 'at once', origin, path: PATH, tokens: others, each: 123 }),
  },
  {
    name: '400 connections with tokens that nobody has, on a route of identity',
    task: (origin) => ({ kind: 'unknown tokens', origin, path: '/v1/me', connections: 400 }),
  },
];

const refusedIn = ({ others }: LoadFigures): number => Object.values(others).reduce((total, one) => total + one, 0);
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A well-behaved user alone and beside each flood, round by round: other callers must not be felt. */
export const fairness: Part = async ({ quick }) => {
  const rounds = quick ? 1 : 3;
  const seconds = quick ? 2 : 4;
  const world = await startWorld({ accounts: ACCOUNTS, seed: SEED });
  const origin = world.gateway.ready.url;
  const load = await startLoadGenerator();
  const flooder = await startChild({ module: 'processes/flood.ts' });
  const tokenOf = (account: number, key: number) => world.identity.ready.seeded[account]?.tokens[key] ?? '';
  const othersIn = (round: number) => Array.from({ length: 10 }, (_, n) => tokenOf(10 + n, round));
  // Every second request has a body, which a GET may have.
  const requests = Array.from({ length: KEYS_EACH }, (_, key) => {
    const headers = { authorization: `Bearer ${tokenOf(0, key)}` };
    return { path: PATH, headers, ...(key % 2 === 0 && { body: '{}' }) };
  });
  const measure = () => load.run({ origin, requests, connections: 16, seconds, rate: REQUESTS_PER_SECOND });
  await measure();
  const rows: (readonly Cell[])[] = [];
  const verdicts: Verdict[] = [];
  for (const [n, { name, task }] of FLOODS.entries()) {
    const quotients: number[] = [];
    let refused = 0;
    for (let round = 0; round < rounds; round += 1) {
      const alone = await measure();
      await flooder.ask(task(origin, tokenOf(1 + n, round), othersIn(round)));
      await pause(SETTLE_MS);
      const beside = await measure();
      await flooder.ask({ kind: 'end' });
      await pause(SETTLE_MS);
      quotients.push(beside.p95 / alone.p95);
      refused += refusedIn(beside);
      rows.push([name, round, alone.p95, beside.p95, refusedIn(beside)]);
    }
    verdicts.push({ target: 'A', what: `${name}: p95 / p95 alone`, figure: median(quotients), limit: MAX_QUOTIENT, wanted: 'most' });
    verdicts.push({ target: 'A', what: `${name}: refused`, figure: refused, limit: 0, wanted: 'most' });
  }
  await Promise.all([load.stop(), flooder.stop(), world.stop()]);
  const deliveries = await besideHangingReceivers({ rounds, seconds });
  return {
    tables: [
      { title: `${PATH} of a user beside floods`, columns: ['flood', 'round', 'p95 ms alone', 'p95 ms beside', 'refused'], rows },
      deliveries.table,
    ],
    verdicts: [...verdicts, ...deliveries.verdicts],
    notes: ['The flood comes from the same address as the user, and shares the cores.'],
  };
};
