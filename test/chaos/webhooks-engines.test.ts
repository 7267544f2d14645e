import { randomUUID } from 'node:crypto';
import { createAmqpBus } from '@bubbles/bus/amqp/amqp.ts';
import type { Bus } from '@bubbles/bus/bus.ts';
import { listDeadLetters } from '@bubbles/bus/operations/dead-letters.ts';
import { declareTopology } from '@bubbles/bus/operations/topology.ts';
import { BubbleReadyV1 } from '@bubbles/contracts/events/service-events.ts';
import { systemClock } from '@bubbles/kernel/clock.ts';
import { SILENT_LOG } from '@bubbles/testing/http.ts';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type FrailEngines, frailEngines } from './support/engines.ts';
import { publisherOn } from './support/ready-bubbles.ts';
import { LONG, report, scaled } from './support/scale.ts';
import { expectKept } from './support/webhooks-expectations.ts';
import { openTrial, type Trial } from './support/webhooks-trial.ts';

const SUBSCRIPTIONS = 10;
const BUBBLES = scaled({ short: 60, long: 600 });
const ROUNDS = scaled({ short: 1, long: 4 });
const DISPATCHERS = 2;
/** Outcomes wait in memory for as long: the store is back before. */
const LONG_LEASE_MS = 20_000;
/** Soon somebody else has what a killed process had. */
const SHORT_LEASE_MS = 8000;
const CONSUMER = 'webhooks-dispatcher';
const clock = systemClock();

let engines: FrailEngines;
let publisher: Bus;
let trial: Trial | null;

beforeAll(async () => {
  engines = await frailEngines({ storeSurvives: 'stops' });
  await declareTopology({ url: engines.amqpUrl, definitions: [BubbleReadyV1], clock });
  publisher = createAmqpBus({ url: engines.amqpUrl, service: BubbleReadyV1.publisher, clock, log: SILENT_LOG });
});
afterAll(async () => {
  await publisher?.close();
  await engines?.close();
});

beforeEach(() => {
  trial = null;
});
afterEach(() => trial?.close());

const open = async (leaseMs: number): Promise<Trial> => {
  trial = await openTrial({
    store: { url: engines.mongoUrl, name: `webhooks_${randomUUID().slice(0, 8)}` },
    amqpUrl: engines.amqpUrl,
    leaseMs,
    processes: DISPATCHERS,
    subscriptions: SUBSCRIPTIONS,
    bubbles: BUBBLES,
  });
  return trial;
};

type Crash = (sender: string) => Promise<void>;

const awayFor = async (what: string, away: () => Promise<void>) => {
  const began = performance.now();
  await away();
  report(`${what} restarted`, { 'away ms': performance.now() - began });
};
/** What is on the wire goes on. */
const killBroker =
  ({ receiver }: Trial): Crash =>
  async () => {
    receiver.release();
    await awayFor('broker', async () => {
      await engines.kill('broker');
      await engines.revive();
    });
  };
/** What is on the wire is answered when there is nowhere to record it. */
const restartStore =
  ({ receiver }: Trial): Crash =>
  () =>
    awayFor('store', async () => {
      await engines.stop('mongo');
      receiver.release();
      await engines.revive();
    });

/** Everything is told over the broker, with the store restarted once a round. Answers how many POSTs were repeated. */
const run = async (trial: Trial, crashes: readonly Crash[]): Promise<number> => {
  await trial.load(Array.from({ length: ROUNDS }, () => crashes).flat(), publisherOn(publisher));
  await trial.done();
  const { ledger, standing } = await trial.result({ storeRestarts: ROUNDS });
  expectKept(trial, ledger, ROUNDS);
  expect(standing.deliveries.filter(({ status }) => status !== 'succeeded')).toEqual([]);
  expect(await listDeadLetters({ url: engines.amqpUrl, consumer: CONSUMER, limit: 10 })).toEqual([]);
  return ledger.repeated;
};

describe('two dispatchers on one store and one broker', () => {
  it('[DLV-05] broker killed, store restarted with POSTs on the wire: every delivery arrives, and none again', async () => {
    const trial = await open(LONG_LEASE_MS);
    expect(await run(trial, [killBroker(trial), restartStore(trial)])).toBe(0);
  });

  if (LONG)
    it('[DLV-05] dispatchers killed before and after as well: every delivery arrives, and only what was on the wire again', async () => {
      const trial = await open(SHORT_LEASE_MS);
      const crashes = [trial.killSender(0), killBroker(trial), restartStore(trial), trial.killSender(null)];
      expect(await run(trial, crashes)).toBeGreaterThan(0);
    });
});
