import { setImmediate } from 'node:timers/promises';
import { systemIds } from '@bubbles/kernel/ids.ts';
import { startLoop } from '@bubbles/kernel/loop.ts';
import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { memoryLog } from '@bubbles/testing/memory-log.ts';
import { afterEach, describe, expect, it } from '@jest/globals';
import { openStores } from '../src/adapters/store/stores.ts';
import { createDeliveryLoop } from '../src/delivery-loop/delivery-loop.ts';
import { type Delivery, POSTPONE_MS } from '../src/domain/delivery.ts';
import type { PrepareAttempts } from '../src/ports.ts';
import { aDelivery, NOON } from './builders.ts';
import { CONFIG } from './dispatcher.ts';

const STEP_MS = 50;
const SOON = new Date(NOON.getTime() + 500);
const BACKLOG = 60;

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** A subscription that has two slots and a backlog. Attempts last until they are ended. */
const busyScene = async (beforeAttempts: (batches: number, onAway: () => void) => Promise<void> = () => Promise.resolve()) => {
  const { deliveries, ensureIndexes } = openStores(memoryDatabase());
  await ensureIndexes();
  const clock = fakeClock(NOON);
  const batches: string[] = [];
  const held: (() => void)[] = [];
  const prepare: PrepareAttempts = async ({ claimed }, onAway) => {
    batches.push(claimed.map(({ ownerId }) => ownerId).join(' and '));
    await beforeAttempts(batches.length, onAway);
    return () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      held.push(resolve);
      return promise.then(() => ({ outcome: null, isFinished: true }));
    };
  };
  const limits = { ...CONFIG.limits, perSubscription: 2, leaseMs: 60_000 };
  const wake = () => loop.poke();
  const { timing } = CONFIG;
  const deliveryLoop = createDeliveryLoop({ deliveries, clock, ids: systemIds(), limits, timing, prepare, wake, quiet: () => undefined });
  const queue = (id: string, fields: Partial<Delivery> = {}) => deliveries.insert(aDelivery({ id, eventId: id, claimCount: 0, ...fields }));
  for (let n = 0; n < BACKLOG; n += 1) await queue(`dlv_busy_${n}`, { ownerId: 'busy', subscriptionId: 'wh_busy' });
  const loop = startLoop({ name: 'deliveries', clock, log: memoryLog(), run: deliveryLoop.run, ...timing });
  /** Ends the attempt that has lasted longest. */
  const endAttempt = async () => {
    held.shift()?.();
    await setImmediate();
  };
  stops.push(async () => {
    deliveryLoop.stopClaiming();
    while (held.length > 0) await endAttempt();
    await loop.stop();
  });
  return { clock, deliveries, deliveryLoop, loop, batches, queue, endAttempt };
};

describe('a backlog that finds room again and again', () => {
  it.each([
    ['is told of', NOON],
    ['falls due', SOON],
  ])('[DLV-06] does not keep what %s meanwhile waiting', async (_, dueAt) => {
    const scene = await busyScene(async (count) => {
      if (count === 1) return;
      // Room becomes free while each batch is prepared, so that the run for room goes on.
      await scene.endAttempt();
      if (count !== 4) return;
      if (dueAt > NOON) await scene.clock.set(dueAt);
      else {
        await scene.queue('dlv_other', { ownerId: 'other', subscriptionId: 'wh_other' });
        scene.deliveryLoop.wake();
      }
    });
    if (dueAt > NOON) await scene.queue('dlv_other', { ownerId: 'other', subscriptionId: 'wh_other', claimableAt: dueAt });
    await scene.loop.idle();
    expect(scene.batches).toEqual(['busy and busy']);
    await scene.endAttempt();
    await scene.loop.idle();
    expect(scene.batches.indexOf('other')).toBeGreaterThan(3);
    expect(scene.batches.indexOf('other')).toBeLessThanOrEqual(5);
  });

  it('[DLV-06] does not keep what was postponed waiting for longer than a poll', async () => {
    const { deliveries, loop, queue, clock, endAttempt, batches } = await busyScene();
    await loop.idle();
    await queue('dlv_other', { ownerId: 'other', subscriptionId: 'wh_other' });
    await deliveries.claim(NOON, { token: 'lease', until: SOON }, ['dlv_other']);
    await deliveries.release([{ id: 'dlv_other', leaseToken: 'lease', as: { kind: 'postponed', until: SOON } }]);
    for (let ms = 0; ms <= CONFIG.timing.pollMs; ms += STEP_MS) {
      await clock.advance(STEP_MS);
      await endAttempt();
      await loop.idle();
    }
    expect(batches).toContain('other');
  });

  it('[DLV-06] does not put the poll off that finds what was postponed', async () => {
    const { deliveries, loop, queue, clock, endAttempt, batches } = await busyScene();
    await loop.idle();
    await queue('dlv_other', { ownerId: 'other', subscriptionId: 'wh_other' });
    await deliveries.claim(NOON, { token: 'lease', until: SOON }, ['dlv_other']);
    await deliveries.release([{ id: 'dlv_other', leaseToken: 'lease', as: { kind: 'postponed', until: SOON } }]);
    await clock.advance(CONFIG.timing.pollMs - STEP_MS);
    await endAttempt();
    await loop.idle();
    await clock.advance(STEP_MS);
    await loop.idle();
    expect(batches.slice(1)).toEqual(['busy', 'other']);
  });

  it('[DLV-06] does not keep what is told of waiting that came while somebody was away', async () => {
    const scene = await busyScene((count, onAway) => {
      if (count === 1) onAway();
      return Promise.resolve();
    });
    await scene.loop.idle();
    await scene.queue('dlv_other', { ownerId: 'other', subscriptionId: 'wh_other' });
    scene.deliveryLoop.wake();
    await scene.loop.idle();
    // Whatever is queued wakes the loop before its poll.
    for (let ms = 0; ms < POSTPONE_MS; ms += 500) {
      const delivery = aDelivery({ id: `dlv_new_${ms}`, eventId: `new_${ms}`, ownerId: 'busy', subscriptionId: 'wh_busy' });
      await scene.deliveryLoop.enqueue([{ delivery, body: null }]);
      await scene.loop.idle();
      await scene.clock.advance(500);
    }
    expect(scene.batches).toEqual(['busy and busy']);
    await scene.endAttempt();
    await scene.loop.idle();
    expect(scene.batches).toContain('other');
  });
});
