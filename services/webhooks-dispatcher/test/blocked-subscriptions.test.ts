import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { describe, expect, it } from '@jest/globals';
import { openStores } from '../src/adapters/store/stores.ts';
import { createBlockedSubscriptions } from '../src/delivery-loop/blocked-subscriptions.ts';
import { createSlots } from '../src/delivery-loop/slots.ts';
import type { Delivery } from '../src/domain/delivery.ts';
import { aDelivery, NOON } from './builders.ts';

const KEPT = 8;
const FOR_ALL = 4;
const STALE = 20;

const scene = async () => {
  const { deliveries, ensureIndexes } = openStores(memoryDatabase());
  await ensureIndexes();
  let reads = 0;
  const dueOf: typeof deliveries.dueOf = (...args) => {
    reads += 1;
    return deliveries.dueOf(...args);
  };
  const slots = createSlots({ perSubscription: 2, perOrigin: 64, perProcess: FOR_ALL + KEPT, reservedForFirst: KEPT, forTimedOut: 4 });
  const blocked = createBlockedSubscriptions({ deliveries: { ...deliveries, dueOf }, clock: fakeClock(NOON), slots });
  const named = (name: string, fields: Partial<Delivery> = {}) =>
    aDelivery({ id: `dlv_${name}`, eventId: `evt_${name}`, subscriptionId: `wh_${name}`, ownerId: name, claimCount: 0, ...fields });
  return {
    blocked,
    slots,
    named,
    insert: deliveries.insert,
    reads: () => reads,
    take: async () => (await blocked.take()).map(({ id }) => id),
  };
};

describe('blocked subscriptions', () => {
  it('[DLV-06] a first attempt that is known to wait goes before the retries of any number of other owners', async () => {
    const { blocked, slots, named, insert, take } = await scene();
    for (let n = 0; n < FOR_ALL; n += 1) expect(slots.take(named(`sent_${n}`, { attemptCount: 1 }))).toBe(true);
    for (let n = 0; n < 2 * KEPT; n += 1) {
      const retry = named(`retry_${n}`, { attemptCount: 1 });
      await insert(retry);
      blocked.addNew(retry);
    }
    blocked.addNew(named('first'));
    expect(await take()).toEqual(['dlv_first']);
  });

  it('[DLV-06] subscriptions of which nothing is due any more hold up none behind them', async () => {
    const { blocked, named, insert, take, reads } = await scene();
    for (let n = 0; n < STALE; n += 1) blocked.add(named(`stale_${n}`));
    await insert(named('due'));
    blocked.add(named('due'));
    expect(await take()).toEqual(['dlv_due']);
    expect(reads()).toBe(STALE + 1);
  });

  it('[DLV-06] nor do those of which only retries wait, and they are not all read again', async () => {
    const { blocked, slots, named, insert, take, reads } = await scene();
    for (let n = 0; n < FOR_ALL; n += 1) slots.take(named(`sent_${n}`, { attemptCount: 1 }));
    for (let n = 0; n < STALE; n += 1) {
      await insert(named(`retry_${n}`, { attemptCount: 1 }));
      blocked.add(named(`retry_${n}`, { attemptCount: 1 }));
    }
    await insert(named('first'));
    blocked.add(named('first'));
    expect(await take()).toEqual(['dlv_first']);
    const before = reads();
    expect(before).toBeLessThanOrEqual(STALE + KEPT);
    expect(await take()).toEqual([]);
    expect(reads()).toBeLessThanOrEqual(before + KEPT);
  });
});
