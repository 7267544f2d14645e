import { setTimeout as pause } from 'node:timers/promises';
import { systemClock } from '@bubbles/kernel/clock.ts';
import { openMongo } from '@bubbles/store/mongo.ts';
import { SILENT_LOG } from '@bubbles/testing/http.ts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ProcessPlan } from '../../deploy/stack/src/plan.ts';
import { type Outside, openOutside } from '../support/outside.ts';
import { type ChaosStack, chaosStack } from './support/chaos-stack.ts';
import { type FrailEngines, frailEngines } from './support/engines.ts';
import { ask, percentile, type Served, underHttpLoad } from './support/http-load.ts';
import { makePeople } from './support/people.ts';
import { report, scaled } from './support/scale.ts';

/** Enough accounts that none comes near its 120 requests a minute. */
const PEOPLE = scaled({ short: 160, long: 240 });
const PER_SECOND = scaled({ short: 100, long: 200 });
const PATHS = ['/v1/me', '/v1/bubbles?limit=5', '/v1/teams', '/v1/bubbles/search?q=recording'];
const RECOVERY_LIMIT_MS = 2000;
const FROZEN_MS = scaled({ short: 8000, long: 20_000 });
/** Beyond how soon after its start a service asks identity for a key that it does not know. */
const ASKED_AGAIN_MS = 11_000;
/** Beyond how long identity signs with a key without looking whether its store has it. */
const CONFIRMED_MS = 12_000;

let engines: FrailEngines;
let stack: ChaosStack;
let outside: Outside;
let tokens: readonly string[];

beforeAll(async () => {
  engines = await frailEngines();
  stack = await chaosStack(engines);
  const identityUrls = stack.plansOf('identity-and-oauth').map(({ url }) => url);
  outside = await openOutside({ amqpUrl: engines.amqpUrl, operatorKeyFile: stack.operatorKeyFile, identityUrls });
  const people = await makePeople(outside, PEOPLE);
  tokens = people.map(({ pat }) => pat);
  for (const { id } of people.slice(0, 20))
    await outside.actions.createBubble({ type: 'screen_recording', participant_ids: [id], stage: 'ready' });
});

afterAll(async () => {
  await outside?.close();
  await stack?.close();
  await engines?.close();
});

const loaded = (work: () => Promise<void>) =>
  underHttpLoad({ gateways: stack.plansOf('gateway'), tokens, paths: PATHS, perSecond: PER_SECOND }, work);
const failed = (served: readonly Served[]) => served.filter(({ status }) => status !== 200);
const slowestOf = (served: readonly Served[]) => served.reduce((most, { tookMs }) => Math.max(most, tookMs), 0);
const timesOf = (served: readonly Served[]) => served.map(({ tookMs }) => tookMs);
const figures = (served: readonly Served[]) => ({
  requests: served.length,
  failed: failed(served).length,
  'p50 ms': percentile(timesOf(served), 0.5),
  'p99 ms': percentile(timesOf(served), 0.99),
});

interface Restart {
  readonly of: string;
  readonly began: number;
  readonly ended: number;
  /** From the signal to its end. */
  readonly endMs: number;
}
const restart = async (plan: ProcessPlan): Promise<Restart> => {
  const began = performance.now();
  const code = await stack.processes.end(plan, 'SIGTERM');
  expect({ of: plan.name, code }).toEqual({ of: plan.name, code: 0 });
  const endMs = performance.now() - began;
  await stack.start(plan);
  return { of: plan.name, began, ended: performance.now(), endMs };
};

describe('a restart of everything under load', () => {
  it('[F9] process after process, in good order: no request fails, and each ends by itself', async () => {
    const restarts: Restart[] = [];
    const served = await loaded(async () => {
      await pause(1000);
      for (const plan of stack.plans) restarts.push(await restart(plan));
      await pause(1000);
    });
    report('rolling restart', { ...figures(served), 'slowest end ms': restarts.reduce((most, { endMs }) => Math.max(most, endMs), 0) });
    expect(failed(served).slice(0, 5)).toEqual([]);
    const calm = restarts.filter(({ began, ended }) => !served.some(({ at }) => at > began && at < ended));
    expect(calm).toEqual([]);
  });
});

describe('identity', () => {
  const askOne = (n: number) => ask(`${stack.plansOf('gateway')[0]?.url}/v1/me`, tokens[n] ?? '');

  it('one replica killed: the path goes on', async () => {
    const [first] = stack.plansOf('identity-and-oauth');
    if (first === undefined) throw new Error('there is no identity');
    const served = await loaded(async () => {
      await pause(1000);
      await stack.kill(first);
      await pause(2000);
      await stack.start(first);
      await pause(500);
    });
    report('one identity killed', figures(served));
    expect(failed(served).slice(0, 5)).toEqual([]);
  });

  it('one replica that stands still: the path goes on by the other one, and by both when it goes on', async () => {
    const [first] = stack.plansOf('identity-and-oauth');
    if (first === undefined) throw new Error('there is no identity');
    const served = await loaded(async () => {
      await pause(1000);
      stack.processes.signal(first, 'SIGSTOP');
      await pause(FROZEN_MS);
      stack.processes.signal(first, 'SIGCONT');
      await pause(2000);
    });
    report('one identity frozen', figures(served));
    expect(failed(served).slice(0, 5)).toEqual([]);
  });

  it('[AUTH-01] its store is as it was before its keys were made: a key that it knows is accepted all the time', async () => {
    const database = openMongo({ url: engines.mongoUrl, name: 'bubbles_identity', log: SILENT_LOG, clock: systemClock() });
    const keys = database.collection('assertion_keys');
    const before = await keys.count({});
    const served = await loaded(async () => {
      await pause(ASKED_AGAIN_MS);
      await keys.deleteMany({});
      await pause(CONFIRMED_MS);
      // Knows no key but those that identity shows now.
      for (const plan of stack.plansOf('bubbles-query')) await restart(plan);
      await pause(1000);
    });
    report('identity restored', figures(served));
    expect(before).toBeGreaterThan(0);
    expect(await keys.count({})).toBeGreaterThan(0);
    await database.close();
    expect(failed(served).slice(0, 5)).toEqual([]);
  });

  it('[ERR-05] [F20] all of it gone: requests are refused as 500 with Retry-After and never let in; it is back within two seconds', async () => {
    const replicas = stack.plansOf('identity-and-oauth');
    await Promise.all(replicas.map((plan) => stack.kill(plan)));
    const refused: Served[] = [];
    for (let n = 0; n < 30; n++) refused.push(await askOne(n));
    for (const answer of refused)
      expect(answer).toMatchObject({ status: 500, type: 'internal_error', retryAfter: expect.stringMatching(/^[1-9]\d*$/) });
    expect(slowestOf(refused)).toBeLessThan(RECOVERY_LIMIT_MS);
    await Promise.all(replicas.map((plan) => stack.start(plan)));
    const began = performance.now();
    let answer = await askOne(0);
    while (answer.status !== 200 && performance.now() - began < 10_000) answer = await askOne(0);
    const recoveryMs = performance.now() - began;
    report('identity gone', { 'slowest refusal ms': slowestOf(refused), 'served again after ms': recoveryMs });
    expect(recoveryMs).toBeLessThan(RECOVERY_LIMIT_MS);
  });
});
