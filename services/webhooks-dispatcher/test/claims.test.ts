import { storeUnavailable } from '@bubbles/store/collection.ts';
import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { fakeIds } from '@bubbles/testing/fake-ids.ts';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { describe, expect, it } from '@jest/globals';
import { openStores } from '../src/adapters/store/stores.ts';
import { createClaims } from '../src/delivery-loop/claims.ts';
import { createDueDeliveryFinder } from '../src/delivery-loop/due-delivery-finder.ts';
import { createSlots } from '../src/delivery-loop/slots.ts';
import type { DeliveryStore } from '../src/ports.ts';
import { NOON } from './builders.ts';
import { numbered } from './stored-deliveries.ts';

const LEASE_MS = 60_000;
const LIMITS = { perSubscription: 4, perOrigin: 64, perProcess: 100, reservedForFirst: 10, forTimedOut: 20 };

const scene = async (limits = LIMITS) => {
  const { deliveries, ensureIndexes } = openStores(memoryDatabase());
  await ensureIndexes();
  for (const n of [1, 2]) await deliveries.insert(numbered(n));
  const clock = fakeClock(NOON);
  const slots = createSlots(limits);
  let lost = 0;
  const faltering: DeliveryStore = {
    ...deliveries,
    async claim(...request) {
      const answer = await deliveries.claim(...request);
      lost -= 1;
      if (lost >= 0) throw storeUnavailable(new Error('The answer is lost.'));
      return answer;
    },
  };
  const finder = createDueDeliveryFinder({ deliveries: faltering, clock, slots });
  const { next } = createClaims({ deliveries: faltering, clock, ids: fakeIds(), limits: { leaseMs: LEASE_MS }, slots, finder });
  const idsOf = async () => (await next(true))?.claimed.map(({ id, claimCount: count }) => `${id} ${count}`);
  return {
    deliveries,
    clock,
    slots,
    finder,
    idsOf,
    /** Claims, and returns the slots that were taken for it. */
    claim: async () => [...((await next(true))?.slotted.values() ?? [])],
    lose(count: number) {
      lost = count;
    },
  };
};

describe('a claim whose answer was lost', () => {
  it('[DLV-05] is claimed again by its token at once', async () => {
    const { idsOf, lose, slots } = await scene();
    lose(1);
    expect(await idsOf()).toEqual(['dlv_1 1', 'dlv_2 1']);
    expect(slots.total()).toBe(2);
    expect(await idsOf()).toBeUndefined();
  });

  it('[DLV-05] is claimed as soon as the store answers again, before anything else and with the slots that it has', async () => {
    const { idsOf, lose, slots, deliveries } = await scene();
    lose(4);
    await expect(idsOf()).rejects.toMatchObject({ kind: 'unavailable' });
    await deliveries.insert(numbered(3));
    await expect(idsOf()).rejects.toMatchObject({ kind: 'unavailable' });
    expect(slots.total()).toBe(2);
    expect(await idsOf()).toEqual(['dlv_1 1', 'dlv_2 1']);
    expect(await idsOf()).toEqual(['dlv_3 1']);
  });

  it('[DLV-05] is forgotten when its lease has ended, and what was in it is due again', async () => {
    const { idsOf, lose, slots, clock } = await scene();
    lose(2);
    await expect(idsOf()).rejects.toMatchObject({ kind: 'unavailable' });
    await clock.advance(LEASE_MS);
    expect(await idsOf()).toEqual(['dlv_1 2', 'dlv_2 2']);
    expect(slots.total()).toBe(2);
  });
});

describe('a delivery that a read finds while its insert is not answered yet', () => {
  it('[DLV-06] has one slot, though the answer tells of it again', async () => {
    const { deliveries, slots, finder, claim } = await scene({ ...LIMITS, perSubscription: 2 });
    for (const n of [3, 4]) await deliveries.insert(numbered(n));
    const [first, second] = await claim();
    expect([first?.id, second?.id]).toEqual(['dlv_1', 'dlv_2']);
    if (first === undefined || second === undefined) throw new Error('nothing was claimed');
    slots.free(first);
    const [third] = await claim();
    expect(third?.id).toBe('dlv_3');
    finder.block(numbered(4));
    slots.free(second);
    if (third !== undefined) slots.free(third);
    const last = await claim();
    expect(last.map(({ id }) => id)).toEqual(['dlv_4']);
    expect(slots.total()).toBe(1);
    for (const due of last) slots.free(due);
    expect(slots.total()).toBe(0);
  });
});
