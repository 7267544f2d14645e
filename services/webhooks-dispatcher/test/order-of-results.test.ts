import type { ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { DomainError } from '@bubbles/kernel/errors.ts';
import type { Collection, Database, Doc } from '@bubbles/store/collection.ts';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { DeliveryDoc } from '../src/adapters/store/deliveries.ts';
import type { SubscriptionDoc } from '../src/adapters/store/subscriptions.ts';
import { POSTPONE_MS } from '../src/domain/delivery.ts';
import { aBubble } from './builders.ts';
import { CONFIG } from './dispatcher.ts';
import { deliveryIdOf } from './receivers.ts';
import { openScene, type Scene, type Subscriber } from './scene.ts';

const AWAY_MS = 1000;
/** A write that failed is tried again within this time. */
const RETRY_MS = 500;

type Method = 'updateOne' | 'updateEach';
/** What stands before a write: nothing, a wait, or a fault. */
type Obstacle = () => Promise<void>;

const obstacles = new Map<string, Obstacle>();
/** A database on which writes can be held up, by collection and method. */
const obstructed = (): Database => {
  const database = memoryDatabase();
  return {
    ...database,
    collection: <T extends Doc>(name: string): Collection<T> => {
      const collection = database.collection<T>(name);
      const passing = (method: Method) => obstacles.get(`${name}.${method}`)?.();
      return {
        ...collection,
        async updateOne(...update) {
          await passing('updateOne');
          return collection.updateOne(...update);
        },
        async updateEach(updates) {
          await passing('updateEach');
          return collection.updateEach(updates);
        },
      };
    },
  };
};
/** From now on such writes wait; answers how to know that one does, and how to let them go on. */
const hold = (write: string) => {
  const reached = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<void>();
  obstacles.set(write, () => {
    reached.resolve();
    return opened.promise;
  });
  return { reached: reached.promise, open: opened.resolve };
};
const refuse = (write: string) => obstacles.set(write, () => Promise.reject(new DomainError('unavailable', 'away')));

let scene: Scene;
beforeEach(async () => {
  obstacles.clear();
  scene = await openScene({ database: obstructed() });
});
afterEach(() => scene.stop());

/** A subscriber with one POST on the wire for each bubble; `end` answers the one of that number and waits until that is known. */
const onTheWire = async (count: number) => {
  const responses: ServerResponse[] = [];
  const subscriber = await scene.subscriber({ events: ['meeting_recording.ready'] }, (response) => responses.push(response));
  for (let n = 0; n < count; n += 1) await scene.dispatcher.ready({ bubble: aBubble({ id: `b-${n}` }) });
  await subscriber.receiver.reached(count);
  const ended = async () => {
    const metric = await scene.dispatcher.registry.getSingleMetricAsString('webhook_attempts_total');
    return [...metric.matchAll(/} (\d+)/g)].reduce((sum, [, figure]) => sum + Number(figure), 0);
  };
  const end = async (n: number, status: number) => {
    const before = await ended();
    responses[n]?.writeHead(status).end();
    while ((await ended()) === before) await setImmediate();
    // Turns of the event loop for a write that waits for nothing.
    for (let turn = 0; turn < 10; turn += 1) await setImmediate();
  };
  return { subscriber, end };
};
const failsOf = async ({ id }: Subscriber) =>
  (await scene.dispatcher.database.collection<SubscriptionDoc>('subscriptions').findOne({ _id: id }))?.fails;
const goOn = async () => {
  obstacles.clear();
  await scene.dispatcher.pass(1);
};

describe('results of one subscription', () => {
  it('[HOOK-08] a failure that ended after a success is not wiped by it, however long the success takes to write', async () => {
    const { subscriber, end } = await onTheWire(2);
    const success = hold('subscriptions.updateEach');
    await end(0, 204);
    await success.reached;
    await end(1, 500);
    success.open();
    await goOn();
    expect(await failsOf(subscriber)).toBe(1);
  });

  it('[HOOK-08] a success that ended after a failure wipes it, however long the failure takes to write', async () => {
    const { subscriber, end } = await onTheWire(3);
    const failure = hold('subscriptions.updateOne');
    await end(0, 500);
    await failure.reached;
    await end(1, 500);
    await end(2, 204);
    failure.open();
    await goOn();
    expect(await failsOf(subscriber)).toBe(0);
  });

  it('[HOOK-08] [DLV-05] keep their order while the store is away', async () => {
    const { subscriber, end } = await onTheWire(4);
    await end(0, 500);
    refuse('subscriptions.updateEach');
    await end(1, 204);
    await end(2, 204);
    await end(3, 500);
    await goOn();
    expect(await failsOf(subscriber)).toBe(1);
    expect((await subscriber.log()).map(({ attempts: { length } }) => length)).toEqual([1, 1, 1, 1]);
  });

  it('[HOOK-08] [DLV-05] are applied once, however often their outcome must be written', async () => {
    const { subscriber, end } = await onTheWire(2);
    refuse('deliveries.updateEach');
    await end(0, 204);
    obstacles.clear();
    await end(1, 500);
    await goOn();
    expect(await failsOf(subscriber)).toBe(1);
    expect((await subscriber.log()).map(({ attempts: { length } }) => length)).toEqual([1, 1]);
  });

  it('[DLV-06] wait for those of no other', async () => {
    const { subscriber, end } = await onTheWire(1);
    const other = await scene.subscriber({ events: ['screen_recording.ready'] });
    const failure = hold('subscriptions.updateOne');
    await end(0, 500);
    await failure.reached;
    await scene.dispatcher.ready({ bubble: aBubble({ id: 'other', type: 'screen_recording' }) });
    while ((await other.shown()).last_success_at === null) await setImmediate();
    expect((await subscriber.shown()).last_failure_at).toBeNull();
    failure.open();
    await goOn();
    expect((await subscriber.shown()).last_failure_at).not.toBeNull();
  });

  it('successes that end beside each other go together', async () => {
    const { subscriber, end } = await onTheWire(4);
    const success = hold('subscriptions.updateEach');
    let writes = 0;
    await end(0, 204);
    await success.reached;
    for (const n of [1, 2, 3]) await end(n, 204);
    obstacles.set('subscriptions.updateEach', () => {
      writes += 1;
      return Promise.resolve();
    });
    success.open();
    await scene.dispatcher.settle();
    expect(writes).toBe(1);
    expect(new Set(subscriber.receiver.received.map(deliveryIdOf)).size).toBe(4);
  });
});

describe('a delivery that must be postponed while the store is away', () => {
  it('[DLV-05] [DLV-06] is attempted soon after, and its claim does not count', async () => {
    const { clock, database, peers, ready, registry } = scene.dispatcher;
    const { receiver } = await scene.subscriber();
    const claims = async () => (await database.collection<DeliveryDoc>('deliveries').findOne({}))?.claims;
    peers.setState('identity', 'away');
    refuse('deliveries.updateEach');
    await ready();
    await clock.advance(AWAY_MS);
    expect(await claims()).toBe(1);
    peers.setState('identity', 'up');
    obstacles.clear();
    await clock.advance(RETRY_MS);
    expect(await claims()).toBe(0);
    for (let ms = 0; ms < POSTPONE_MS + CONFIG.timing.pollMs; ms += RETRY_MS) await clock.advance(RETRY_MS);
    await receiver.reached(1);
    expect(await registry.getSingleMetricAsString('webhook_postponed_total')).toContain('{reason="service_away"} 1');
  });
});
