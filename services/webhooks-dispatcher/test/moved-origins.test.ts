import { setImmediate } from 'node:timers/promises';
import { systemIds } from '@bubbles/kernel/ids.ts';
import type { Collection, Doc } from '@bubbles/store/collection.ts';
import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { DeliveryDoc } from '../src/adapters/store/deliveries.ts';
import { openStores } from '../src/adapters/store/stores.ts';
import { createDeliveryLoop } from '../src/delivery-loop/delivery-loop.ts';
import { aBubble, aDelivery, NOON } from './builders.ts';
import { CONFIG } from './dispatcher.ts';
import { openScene, type Scene, type Subscriber } from './scene.ts';

const LIMITS = { ...CONFIG.limits, perSubscription: 4, perOrigin: 3 };
/** What one owner may have of an origin. */
const SHARE = 2;

let scene: Scene | null = null;
afterEach(async () => {
  await scene?.stop();
  scene = null;
});

/** Subscribers, each with as many deliveries that failed once and wait for their retry. */
const waiting = async (subscribers: number, deliveries: number) => {
  scene = await openScene({ config: { limits: LIMITS } });
  const { dispatcher: run } = scene;
  const found: Subscriber[] = [];
  for (let n = 0; n < subscribers; n += 1) found.push(await scene.subscriber({ events: ['meeting_recording.ready'] }, 500));
  for (let n = 0; n < deliveries; n += 1) await run.ready({ bubble: aBubble({ id: `b-${n}` }) });
  await run.settle();
  const move = ({ id }: Subscriber, { receiver: { url } }: Subscriber) => run.call('PATCH', `/${id}`, { url });
  const kept = async () => run.database.collection<DeliveryDoc>('deliveries').find({ status: 'succeeded' });
  return { scene, run, found, move, kept };
};

describe('subscriptions that were pointed elsewhere', () => {
  it('[DLV-06] share the room of the origin that they lead to now, also with what was queued before', async () => {
    const { scene: here, run, found, move, kept } = await waiting(3, 4);
    const held = Promise.withResolvers<void>();
    const home = await here.subscriber({ events: ['screen_recording.ready'] }, (response) => held.promise.then(() => response.end()));
    for (const one of found) await move(one, home);
    const before = found.map(({ receiver }) => receiver.received.length);
    await run.clock.advance(60_000);
    await home.receiver.reached(SHARE);
    for (let turn = 0; turn < 50; turn += 1) await setImmediate();
    expect(await run.registry.getSingleMetricAsString('webhook_in_flight')).toContain(`webhook_in_flight ${SHARE}`);
    held.resolve();
    await run.settle();
    expect(new Set(home.receiver.ids()).size).toBe(12);
    expect(home.receiver.received).toHaveLength(12);
    expect(found.map(({ receiver }) => receiver.received.length)).toEqual(before);
    // No claim was lost.
    expect((await kept()).map(({ attempt, claims }) => [attempt, claims])).toEqual(Array.from({ length: 12 }, () => [2, 2]));
  });

  it('[DLV-06] do not wait, with all that is queued, for the origin that they left', async () => {
    const { scene: here, run, found, move } = await waiting(2, 8);
    const [moving, staying] = found;
    if (moving === undefined || staying === undefined) throw new Error('there are two');
    const home = await here.subscriber({ events: ['screen_recording.ready'] });
    await move(moving, home);
    await run.clock.advance(60_000);
    await home.receiver.reached(8);
    const origins = await run.database.collection<DeliveryDoc>('deliveries').find({ subscriptionId: moving.id });
    expect(new Set(origins.map(({ origin }) => origin))).toEqual(new Set([new URL(home.receiver.url).origin]));
  });
});

describe('deliveries of one subscription that find out together', () => {
  it('[DLV-06] correct what is queued in one write', async () => {
    const database = memoryDatabase();
    const writes: object[] = [];
    scene = await openScene({
      config: { limits: LIMITS },
      database: {
        ...database,
        collection: <T extends Doc>(name: string): Collection<T> => {
          const collection = database.collection<T>(name);
          return {
            ...collection,
            updateMany(filter, update) {
              if ('$set' in update && 'origin' in Object(update.$set)) writes.push(filter);
              return collection.updateMany(filter, update);
            },
          };
        },
      },
    });
    const { dispatcher: run } = scene;
    const [one, home] = [
      await scene.subscriber({ events: ['meeting_recording.ready'] }, 500),
      await scene.subscriber({ events: ['screen_recording.ready'] }),
    ];
    for (const id of ['b1', 'b2']) await run.ready({ bubble: aBubble({ id }) });
    await run.settle();
    await run.call('PATCH', `/${one.id}`, { url: home.receiver.url });
    await run.pass(60);
    expect(home.receiver.received).toHaveLength(2);
    expect(writes).toHaveLength(1);
  });
});

describe('a delivery whose origin is corrected between the look and the claim', () => {
  it('[DLV-06] gives back the slot that it took', async () => {
    const { deliveries, ensureIndexes } = openStores(memoryDatabase());
    await ensureIndexes();
    await deliveries.insert(aDelivery({ claimCount: 0 }));
    const origins: string[] = [];
    const loop = createDeliveryLoop({
      deliveries: {
        ...deliveries,
        async claim(...request) {
          await deliveries.redirect('wh_1', 'https://new.example.com');
          return deliveries.claim(...request);
        },
      },
      clock: fakeClock(NOON),
      ids: systemIds(),
      limits: { ...LIMITS, perOrigin: 1 },
      timing: CONFIG.timing,
      prepare: ({ claimed }) => {
        for (const one of claimed.map(({ origin }) => origin)) origins.push(one);
        return Promise.resolve(() => Promise.resolve({ outcome: null, isFinished: true }));
      },
      wake: () => null,
      quiet: () => null,
    });
    await loop.run();
    await loop.drained();
    expect(origins).toEqual(['https://hooks.example.com']);
    expect(loop.inFlight()).toEqual({ attempts: 0, saturated: 0 });
  });
});
