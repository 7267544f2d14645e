import { queueName } from '@bubbles/bus/bus.ts';
import { EVENTS } from '@bubbles/contracts/events/catalog.ts';
import { systemClock } from '@bubbles/kernel/clock.ts';
import type { Database } from '@bubbles/store/collection.ts';
import { openMongo } from '@bubbles/store/mongo.ts';
import { SILENT_LOG } from '@bubbles/testing/http.ts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Outside, openOutside } from '../support/outside.ts';
import { readModel } from '../support/read-model.ts';
import { type ChaosStack, chaosStack } from './support/chaos-stack.ts';
import { type FrailEngines, frailEngines } from './support/engines.ts';
import { awaitFacts, stateFacts } from './support/facts-load.ts';
import { directoryOf, makePeople } from './support/people.ts';
import { report, scaled } from './support/scale.ts';
import { untilSo } from './support/within.ts';

/** Longer than a client waits for a heartbeat, so that every connection is lost meanwhile and opened again. */
const FROZEN_MS = scaled({ short: 25_000, long: 60_000 });
const FREEZES = scaled({ short: 1, long: 3 });
const BUBBLES = 24;
/** From the thaw on: who backs off waits for five seconds at most, and a connection that was begun meanwhile is given up after ten. */
const FLOWS_LIMIT_MS = 20_000;
const CONSUMER = 'bubbles-query';
const QUEUES = EVENTS.filter(({ consumers }) => consumers.includes(CONSUMER)).map(({ type }) => queueName(CONSUMER, type));

let engines: FrailEngines;
let stack: ChaosStack;
let outside: Outside;
let database: Database;
let participants: readonly string[];

beforeAll(async () => {
  engines = await frailEngines();
  stack = await chaosStack(engines);
  const identityUrls = stack.plansOf('identity-and-oauth').map(({ url }) => url);
  const access = { amqpUrl: engines.amqpUrl, operatorKeyFile: stack.operatorKeyFile, identityUrls };
  const founder = await openOutside(access);
  const people = await makePeople(founder, 3);
  await founder.close();
  participants = people.map(({ id }) => id);
  outside = await openOutside({ ...access, directory: directoryOf(people) });
  database = openMongo({ url: engines.mongoUrl, name: 'bubbles_query', log: SILENT_LOG, clock: systemClock() });
});

afterAll(async () => {
  await outside?.close();
  await database?.close();
  await stack?.close();
  await engines?.close();
});

/** Of the queues that are consumed here. */
const queues = async () => (await engines.queues()).filter(({ name }) => QUEUES.includes(name));

describe('[F3] a broker that stands still', () => {
  it('[DLV-05] is consumed once by each process when it goes on, keeps nothing unacknowledged, and messages flow within seconds', async () => {
    for (let n = 0; n < FREEZES; n += 1) {
      const before = await stateFacts(outside, { count: BUBBLES, participants });
      const stating = stateFacts(outside, { count: BUBBLES, participants });
      await (await engines.freeze('broker', FROZEN_MS)).over();
      const thawedAt = performance.now();
      const during = await stating;
      await awaitFacts(outside, readModel(database), before);
      await awaitFacts(outside, readModel(database), during);
      const flowsMs = performance.now() - thawedAt;
      report('broker frozen', { ms: FROZEN_MS, 'all arrived after ms': flowsMs });
      expect(flowsMs).toBeLessThan(FLOWS_LIMIT_MS);

      const replicas = stack.plansOf(CONSUMER).length;
      const expected = QUEUES.map((name) => ({ name, consumers: replicas, ready: 0, unacknowledged: 0 }));
      let last: Awaited<ReturnType<typeof queues>> = [];
      const state = () => last.map((queue) => JSON.stringify(queue));
      await untilSo({ what: 'each queue is quiet and consumed once by each process', state }, async () => {
        last = (await queues()).toSorted((a, b) => a.name.localeCompare(b.name));
        return JSON.stringify(last) === JSON.stringify(expected.toSorted((a, b) => a.name.localeCompare(b.name)));
      });
    }
  });
});
