import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { queueName } from '@bubbles/bus/bus.ts';
import { listDeadLetters, redrive } from '@bubbles/bus/operations/dead-letters.ts';
import { deadQueueName, EVENTS_EXCHANGE, withChannel } from '@bubbles/bus/operations/topology.ts';
import { MediaProcessedV1 } from '@bubbles/contracts/events/recording-events.ts';
import { systemClock } from '@bubbles/kernel/clock.ts';
import type { Database } from '@bubbles/store/collection.ts';
import { openMongo } from '@bubbles/store/mongo.ts';
import { SILENT_LOG } from '@bubbles/testing/http.ts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ProcessPlan } from '../../deploy/stack/src/plan.ts';
import { isReady } from '../../deploy/stack/src/readiness.ts';
import { type Outside, openOutside } from '../support/outside.ts';
import { readModel } from '../support/read-model.ts';
import { type ChaosStack, chaosStack } from './support/chaos-stack.ts';
import { type FrailEngines, frailEngines } from './support/engines.ts';
import { awaitFacts, stateFacts } from './support/facts-load.ts';
import { ask, underHttpLoad } from './support/http-load.ts';
import { directoryOf, makePeople } from './support/people.ts';
import { report, scaled } from './support/scale.ts';
import { untilSo } from './support/within.ts';

const ROUNDS = scaled({ short: 1, long: 5 });
const BUBBLES = 16;
/** After the end of a fault. */
const READY_LIMIT_MS = 15_000;
const CONSUMER = 'bubbles-query';
const QUEUE = queueName(CONSUMER, MediaProcessedV1.type);

let engines: FrailEngines;
let stack: ChaosStack;
let outside: Outside;
let database: Database;
let tokens: readonly string[];
let participants: readonly string[];

beforeAll(async () => {
  engines = await frailEngines({ storeSurvives: 'stops' });
  stack = await chaosStack(engines);
  const identityUrls = stack.plansOf('identity-and-oauth').map(({ url }) => url);
  const access = { amqpUrl: engines.amqpUrl, operatorKeyFile: stack.operatorKeyFile, identityUrls };
  const founder = await openOutside(access);
  const people = await makePeople(founder, 40);
  await founder.close();
  tokens = people.map(({ pat }) => pat);
  participants = people.slice(0, 4).map(({ id }) => id);
  outside = await openOutside({ ...access, directory: directoryOf(people) });
  database = openMongo({ url: engines.mongoUrl, name: 'bubbles_query', log: SILENT_LOG, clock: systemClock() });
});

afterAll(async () => {
  await outside?.close();
  await database?.close();
  await stack?.close();
  await engines?.close();
});

const deadLetters = () => listDeadLetters({ url: engines.amqpUrl, consumer: CONSUMER, limit: 10 });

/** While recordings come in something breaks and is mended: nothing is lost, and every process is ready in time. Answers what was dead-lettered. */
const survives = async (fault: string, strike: () => Promise<void>) => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = await stateFacts(outside, { count: BUBBLES, participants });
    const stating = stateFacts(outside, { count: BUBBLES, participants });
    await strike();
    const mendedAt = performance.now();
    await untilSo({ what: `every process is ready after ${fault}`, limitMs: READY_LIMIT_MS }, async () =>
      (await Promise.all(stack.plans.map((plan) => isReady(plan)))).every(Boolean),
    );
    const readyMs = performance.now() - mendedAt;
    await awaitFacts(outside, readModel(database), before);
    await awaitFacts(outside, readModel(database), await stating);
    report(fault, { 'ready after ms': readyMs, 'all arrived after ms': performance.now() - mendedAt });
  }
  return deadLetters();
};

const statusesDuring = async (work: () => Promise<void>) => {
  const served = await underHttpLoad(
    { gateways: stack.plansOf('gateway'), tokens, paths: ['/v1/me', '/v1/bubbles?limit=5'], perSecond: 20 },
    work,
  );
  return served.map(({ status }) => status);
};

const processOf = (service: string): ProcessPlan => {
  const [plan] = stack.plansOf(service);
  if (plan === undefined) throw new Error(`no process of ${service}`);
  return plan;
};
const standStill = async (plan: ProcessPlan, ms: number) => {
  stack.processes.signal(plan, 'SIGSTOP');
  await pause(ms);
  stack.processes.signal(plan, 'SIGCONT');
};

describe('the broker', () => {
  it('[F2] is stopped and started in order: what is read over HTTP goes on meanwhile, and no fact is lost', async () => {
    const statuses = await statusesDuring(async () => {
      const dead = await survives('the broker was stopped and started', async () => {
        await engines.ctl('stop_app');
        await engines.ctl('start_app');
      });
      expect(dead).toEqual([]);
    });
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
  });

  it('[F4] has no memory for more messages: publishers wait, consumers go on, and no fact is lost', async () => {
    const statuses = await statusesDuring(async () => {
      const dead = await survives('the memory alarm of the broker', async () => {
        await engines.ctl('set_vm_memory_high_watermark', '0');
        await pause(3000);
        await engines.ctl('set_vm_memory_high_watermark', '0.4');
      });
      expect(dead).toEqual([]);
    });
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
  });

  it('[F14] has no room for more dead letters: poison stays in its queue until there is room, and nothing is lost', async () => {
    const dead = deadQueueName(CONSUMER);
    await engines.ctl('set_policy', 'no-room', `^${dead.replaceAll('.', '[.]')}$`, '{"max-length": 1}', '--apply-to', 'queues');
    const poison = (id: string) =>
      withChannel(engines.amqpUrl, async (channel) => {
        channel.publish(EVENTS_EXCHANGE, MediaProcessedV1.type, Buffer.from('{}'), { persistent: true, messageId: id });
        await channel.waitForConfirms();
      });
    for (const id of ['poison-1', 'poison-2', 'poison-3']) await poison(id);
    const facts = await stateFacts(outside, { count: BUBBLES, participants });
    await awaitFacts(outside, readModel(database), facts);
    await engines.ctl('clear_policy', 'no-room');
    const found = new Set<string>();
    await untilSo({ what: 'three dead letters', state: () => [[...found].join()] }, async () => {
      for (const { messageId } of await deadLetters()) found.add(String(messageId));
      return found.size === 3;
    });
    // Those that were listed are back a moment after the channel that read them was closed.
    await untilSo({ what: 'all three lie in the queue' }, () =>
      withChannel(engines.amqpUrl, async (channel) => (await channel.checkQueue(dead)).messageCount === 3),
    );
    await withChannel(engines.amqpUrl, async (channel) => {
      await channel.purgeQueue(dead);
    });
    expect(await redrive({ url: engines.amqpUrl, consumer: CONSUMER })).toEqual({ moved: 0, kept: 0 });
  });
});

describe('a process', () => {
  it('[F13] [F15] stands still for longer than the broker waits for an acknowledgement: its messages go to another, and it consumes again', async () => {
    await engines.ctl('eval', 'application:set_env(rabbit, consumer_timeout, 2000).');
    expect(await survives('a consumer stood still', () => standStill(processOf(CONSUMER), 9000))).toEqual([]);
    await engines.ctl('eval', 'application:set_env(rabbit, consumer_timeout, 1800000).');
    const replicas = stack.plansOf(CONSUMER).length;
    await untilSo({ what: 'each process consumes again' }, async () =>
      (await engines.queues()).some(
        ({ name, consumers, unacknowledged }) => name === QUEUE && consumers === replicas && unacknowledged === 0,
      ),
    );
  });
});

describe('the store', () => {
  it('[F17] accepts and says nothing: requests are refused in time, and it goes on where it was', async () => {
    const dead = await survives('the store was silent', async () => {
      const silence = await engines.freeze('mongo', 8000);
      const url = `${stack.plansOf('gateway')[0]?.url}/v1/bubbles?limit=5`;
      const refused = await ask(url, tokens[0] ?? '');
      expect(refused).toMatchObject({ status: 500, type: 'internal_error', retryAfter: expect.any(String) });
      expect(refused.tookMs).toBeLessThan(6000);
      await silence.over();
    });
    expect(dead).toEqual([]);
  });

  it('[F18] is asked by more than it has connections for: the others wait or are refused, and all are answered', async () => {
    const url = `${stack.plansOf('gateway')[0]?.url}/v1/bubbles/search?q=recording`;
    const served = await Promise.all(Array.from({ length: 400 }, (_, n) => ask(url, tokens[n % tokens.length] ?? '')));
    expect(served.filter(({ status }) => status !== 200 && status !== 500)).toEqual([]);
    expect(served.filter(({ status, retryAfter }) => status === 500 && retryAfter === null)).toEqual([]);
    // What the gateway gave up is still being worked on.
    await untilSo({ what: 'the next one is answered' }, async () => (await ask(url, tokens[0] ?? '')).status === 200);
  });
});

describe('the gateway', () => {
  it('[F25] has 450 connections that begin a request and say no more: it ends them all, and answers others meanwhile', async () => {
    const [gateway] = stack.plansOf('gateway');
    const { hostname, port } = new URL(gateway?.url ?? '');
    const statuses = await statusesDuring(async () => {
      const ends = Array.from({ length: 450 }, async () => {
        const socket = connect(Number(port), hostname).on('error', () => undefined);
        socket.write('GET /v1/me HTTP/1.1\r\nHost: ');
        socket.resume();
        await once(socket, 'close');
      });
      const began = performance.now();
      await Promise.all(ends);
      report('450 slow connections', { 'all ended after ms': performance.now() - began });
    });
    expect(statuses.length).toBeGreaterThan(0);
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
  });
});
