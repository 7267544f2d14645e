import { setTimeout as pause } from 'node:timers/promises';
import { systemClock } from '@bubbles/kernel/clock.ts';
import type { Database } from '@bubbles/store/collection.ts';
import { openMongo } from '@bubbles/store/mongo.ts';
import { SILENT_LOG } from '@bubbles/testing/http.ts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ProcessPlan } from '../../deploy/stack/src/plan.ts';
import { whyNotReady } from '../../deploy/stack/src/readiness.ts';
import { type Outside, openOutside } from '../support/outside.ts';
import { readModel } from '../support/read-model.ts';
import { type ChaosStack, chaosStack } from './support/chaos-stack.ts';
import { type FrailEngines, frailEngines } from './support/engines.ts';
import { awaitFacts, stateFacts } from './support/facts-load.ts';
import { ask, underHttpLoad } from './support/http-load.ts';
import { directoryOf, makePeople } from './support/people.ts';
import { report, scaled } from './support/scale.ts';

const BUBBLES = scaled({ short: 96, long: 640 });
const RESTARTS = scaled({ short: 1, long: 3 });
const PACE_MS = 1000;
const PEOPLE = 60;
const PER_SECOND = 40;
/** Longer than a process that starts meanwhile waits for its first connection. */
const AWAY_MS = 5000;
/** How long the requests go on when the facts have arrived. */
const CALM_MS = 3000;
const BACK_LIMIT_MS = 30_000;
const PATHS = ['/v1/me', '/v1/bubbles'];

let engines: FrailEngines;
let stack: ChaosStack;
let outside: Outside;
let database: Database;
let people: Awaited<ReturnType<typeof makePeople>>;

beforeAll(async () => {
  engines = await frailEngines({ storeSurvives: 'stops' });
  stack = await chaosStack(engines);
  const identityUrls = stack.plansOf('identity-and-oauth').map(({ url }) => url);
  const access = { amqpUrl: engines.amqpUrl, operatorKeyFile: stack.operatorKeyFile, identityUrls };
  const founder = await openOutside(access);
  people = await makePeople(founder, PEOPLE);
  await founder.close();
  outside = await openOutside({ ...access, directory: directoryOf(people) });
  database = openMongo({ url: engines.mongoUrl, name: 'bubbles_query', log: SILENT_LOG, clock: systemClock() });
});

afterAll(async () => {
  await outside?.close();
  await database?.close();
  await stack?.close();
  await engines?.close();
});

const tell = ({ plan, why }: { readonly plan: ProcessPlan; readonly why: string | null }): string =>
  `${plan.name}: ${why ?? 'ready'}${stack.processes.isRunning(plan) ? '' : ', ended'}`;

const untilReady = async (wanted: boolean): Promise<number> => {
  const began = performance.now();
  const withStore = [...stack.plansOf('identity-and-oauth'), ...stack.plansOf('bubbles-query')];
  const said = () => Promise.all(withStore.map(async (plan) => ({ plan, why: await whyNotReady(plan) })));
  for (let all = await said(); all.some(({ why }) => (why === null) !== wanted); all = await said()) {
    if (performance.now() - began > BACK_LIMIT_MS)
      throw new Error(`not all of them are ${wanted ? 'ready' : 'unready'}: ${all.map(tell).join('; ')}`);
    await pause(20);
  }
  return performance.now() - began;
};

/** Whoever had to wait for the store, or found no room while everything that waited came at once. */
const REFUSAL = { status: 500, type: 'internal_error', retryAfter: expect.any(String) };

describe('a restart of the store under load', () => {
  it('[DLV-05] [ERR-05] refuses with Retry-After while it is away, loses nothing, and serves again by itself', async () => {
    const gateways = stack.plansOf('gateway');
    const tokens = people.map(({ pat }) => pat);
    let events = 0;
    let calmSince = 0;
    const served = await underHttpLoad({ gateways, tokens, paths: PATHS, perSecond: PER_SECOND }, async () => {
      const participants = people.slice(0, 3).map(({ id }) => id);
      const stating = stateFacts(outside, { count: BUBBLES, participants, paceMs: PACE_MS });
      for (let n = 0; n < RESTARTS; n++) await restart();
      const facts = await stating;
      await awaitFacts(outside, readModel(database), facts);
      events = facts.events;
      calmSince = performance.now();
      await pause(CALM_MS);
    });
    const failed = served.filter(({ status }) => status !== 200);
    report('store restarted', { events, requests: served.length, refused: failed.length });
    for (const refusal of failed) expect(refusal).toMatchObject(REFUSAL);
    expect(failed.filter(({ at }) => at >= calmSince)).toEqual([]);
  });

  /** It comes up to a store that is not there. */
  const startAnew = async (plan: ProcessPlan): Promise<void> => {
    await stack.kill(plan);
    stack.processes.start(plan);
  };
  const restart = async (): Promise<void> => {
    await pause(1500);
    await engines.stop('mongo');
    const noticedMs = await untilReady(false);
    for (const plan of stack.plansOf('bubbles-query').slice(1)) await startAnew(plan);
    await pause(AWAY_MS);
    await engines.revive();
    const readyMs = await untilReady(true);
    report('store away', { 'unready after ms': noticedMs, 'ready again after ms': readyMs, 'served again after ms': await untilServed() });
  };

  /** Each path by each gateway, whatever else they are busy with. */
  const untilServed = async (): Promise<number> => {
    const began = performance.now();
    const urls = stack.plansOf('gateway').flatMap(({ url }) => PATHS.map((path) => `${url}${path}`));
    const token = people[0]?.pat ?? '';
    for (const url of urls) {
      for (let answer = await ask(url, token); answer.status !== 200; answer = await ask(url, token)) {
        if (performance.now() - began > BACK_LIMIT_MS) throw new Error(`${url} is not served: ${JSON.stringify(answer)}`);
        await pause(20);
      }
    }
    return performance.now() - began;
  };
});
