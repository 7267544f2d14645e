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

const scene = async () => {
  const { deliveries, ensureIndexes } = openStores(memoryDatabase());
  await ensureIndexes();
  const slots = createSlots({ perSubscription: 2, perOrigin: 64, perProcess: FOR_ALL + KEPT, reservedForFirst: KEPT, forTimedOut: 4 });
  const blocked = createBlockedSubscriptions({ deliveries, clock: fakeClock(NOON), slots });
  const named = (name: string, fields: Partial<Delivery> = {}) =>
    aDelivery({ id: `dlv_${name}`, eventId: `evt_${name}`, subscriptionId: `wh_${name}`, ownerId: name, claimCount: 0, ...fields });
  return {
    blocked,
    slots,
    named,
    insert: deliveries.insert,
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
});
