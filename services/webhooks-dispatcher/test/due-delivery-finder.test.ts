import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { falteringWorld } from '@bubbles/testing/faltering-world.ts';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { describe, expect, it } from '@jest/globals';
import { openStores } from '../src/adapters/store/stores.ts';
import { createDueDeliveryFinder } from '../src/delivery-loop/due-delivery-finder.ts';
import { createSlots } from '../src/delivery-loop/slots.ts';
import type { Delivery } from '../src/domain/delivery.ts';
import type { DueDelivery } from '../src/ports.ts';
import { aDelivery, NOON } from './builders.ts';

const LIMITS = { perSubscription: 2, perOrigin: 64, perProcess: 100, reservedForFirst: 10, forTimedOut: 20 };

const scene = async (limits: Partial<typeof LIMITS> = {}) => {
  const { database, failing } = falteringWorld();
  const { deliveries, ensureIndexes } = openStores(database(memoryDatabase()));
  await ensureIndexes();
  const clock = fakeClock(NOON);
  const slots = createSlots({ ...LIMITS, ...limits });
  let read = 0;
  const dueOf: typeof deliveries.dueOf = (...args) => {
    read += 1;
    return deliveries.dueOf(...args);
  };
  const finder = createDueDeliveryFinder({ deliveries: { ...deliveries, dueOf }, clock, slots });
  const leased: DueDelivery[] = [];
  let count = 0;
  let last = aDelivery();
  return {
    failing,
    clock,
    slots,
    finder,
    /** How many seconds before now it was due. */
    async queue(subscriptionId: string, { ago = 0, times = 1, ...fields }: { ago?: number; times?: number } & Partial<Delivery> = {}) {
      for (let n = 0; n < times; n += 1) {
        count += 1;
        const claimableAt = new Date(clock.now().getTime() - ago * 1000);
        last = aDelivery({ id: `dlv_${count}`, eventId: `evt_${count}`, subscriptionId, claimCount: 0, claimableAt, ...fields });
        await deliveries.insert(last);
      }
    },
    /** Tells of the one that was queued last, which has no room. */
    blockLast: () => finder.block(last),
    /** How often one subscription was looked at by itself. */
    reads: () => read,
    /** Claims what is found, as the loop does; returns the subscriptions. */
    async take(everything = true): Promise<readonly string[]> {
      const found = await finder.find(everything);
      const now = clock.now();
      const lease = { token: 'lease', until: new Date(now.getTime() + 3_600_000) };
      await deliveries.claim(
        now,
        lease,
        found.map(({ id }) => id),
      );
      for (const one of found) leased.push(one);
      return found.map(({ subscriptionId }) => subscriptionId);
    },
    /** They lead elsewhere now. */
    redirect: deliveries.redirect,
    /** Ends what is on the wire, or what is of one subscription. */
    async finish(of: string | null = null) {
      const ending = leased.filter(({ subscriptionId }) => of === null || subscriptionId === of);
      for (const delivery of ending) {
        leased.splice(leased.indexOf(delivery), 1);
        slots.free(delivery);
        const as = { kind: 'cancelled', reason: 'plan_required', at: clock.now() } as const;
        await deliveries.release([{ id: delivery.id, leaseToken: 'lease', as }]);
      }
    },
  };
};

describe('the finder of due deliveries', () => {
  it('[DLV-06] takes the longest due first, as many as there is room for at their subscription', async () => {
    const { queue, take, finish } = await scene();
    await queue('wh_new');
    await queue('wh_old', { ago: 60, times: 5 });
    expect(await take()).toEqual(['wh_old', 'wh_old', 'wh_new']);
    expect(await take()).toEqual([]);
    await finish();
    expect(await take()).toEqual(['wh_old', 'wh_old']);
    await finish();
    expect(await take()).toEqual(['wh_old']);
    await finish();
    expect(await take()).toEqual([]);
  });

  it('[DLV-06] a queue longer than a read hides nobody behind it', async () => {
    const { queue, take } = await scene();
    await queue('wh_long', { ago: 60, times: 200 });
    await queue('wh_behind');
    expect(await take()).toEqual(['wh_long', 'wh_long']);
    expect(await take()).toEqual(['wh_behind']);
  });

  it('[DLV-06] what one subscription gets of an origin its neighbour does not', async () => {
    const { queue, take, finish } = await scene({ perOrigin: 5 });
    for (const id of ['wh_1', 'wh_2', 'wh_3']) await queue(id, { times: 3 });
    for (let round = 0; round < 3; round += 1) {
      const taken = [...(await take()), ...(await take()), ...(await take())];
      expect(taken).toHaveLength(3);
      await finish();
    }
    expect(await take()).toEqual([]);
  });

  it('[DLV-06] what leads elsewhere now waits for the room of the origin that it left once, and no more', async () => {
    const { queue, take, finish, redirect } = await scene({ perOrigin: 1 });
    await queue('wh_stays', { ago: 60, times: 3 });
    await queue('wh_moves', { times: 2 });
    expect([...(await take()), ...(await take())]).toEqual(['wh_stays']);
    await redirect('wh_moves', 'https://new.example.com');
    await finish();
    expect(await take()).toEqual(['wh_stays']);
    await finish();
    expect(await take()).toEqual(['wh_moves']);
    expect(await take()).toEqual(['wh_stays']);
    await finish('wh_moves');
    expect(await take()).toEqual(['wh_moves']);
  });

  it('[DLV-06] keeps the reserved slots for first attempts, also for a subscription that was blocked', async () => {
    const { queue, take, finish } = await scene({ perSubscription: 4, perProcess: 12, reservedForFirst: 8 });
    await queue('wh_1', { ago: 60, times: 6, attemptCount: 1 });
    await queue('wh_1', { times: 2 });
    expect(await take()).toHaveLength(4);
    await finish();
    expect(await take()).toHaveLength(2);
    await queue('wh_1', { times: 2 });
    expect(await take()).toHaveLength(2);
    expect(await take()).toEqual([]);
  });

  it('[DLV-06] finds the first attempt behind the retries of a blocked subscription for a reserved slot, and then these', async () => {
    const { queue, take, finish } = await scene({ perSubscription: 2, perProcess: 14, reservedForFirst: 10 });
    for (const [id, times] of [
      ['wh_a', 2],
      ['wh_b', 1],
      ['wh_c', 1],
    ] as const)
      await queue(id, { ago: 90, times, attemptCount: 1, ownerId: id });
    await queue('wh_1', { ago: 80, times: 2 });
    await queue('wh_1', { ago: 60, times: 2, attemptCount: 1 });
    await queue('wh_1');
    expect(await take()).toEqual(['wh_a', 'wh_a', 'wh_b', 'wh_c', 'wh_1', 'wh_1']);
    await take();
    await finish('wh_1');
    expect(await take()).toEqual(['wh_1']);
    await finish();
    expect(await take()).toEqual(['wh_1', 'wh_1']);
  });

  it('[DLV-06] retries that had no room are a backlog, and are found where only room is looked for', async () => {
    const { queue, take, finish, finder } = await scene({ perProcess: 14, reservedForFirst: 4 });
    const queueRetries = async (from: number, to: number) => {
      for (let n = from; n < to; n += 1) await queue(`wh_${n}`, { attemptCount: 1, ownerId: `owner_${n}` });
    };
    await queueRetries(0, 10);
    expect(await take()).toHaveLength(10);
    await queueRetries(10, 15);
    expect(await take()).toEqual([]);
    expect(finder.hasBacklog()).toBe(true);
    await finish();
    expect(await take(false)).toHaveLength(5);
    expect(await take(false)).toEqual([]);
    expect(finder.hasBacklog()).toBe(false);
  });

  it('[GEN-14] an owner gets no more than it leaves free, and a second one as much of the rest', async () => {
    const { queue, take } = await scene({ perProcess: 12, reservedForFirst: 2 });
    for (let n = 0; n < 20; n += 1) await queue(`wh_ada_${n}`, { ago: 60, ownerId: 'ada' });
    expect(await take()).toHaveLength(6);
    expect(await take()).toEqual([]);
    for (let n = 0; n < 20; n += 1) await queue(`wh_eve_${n}`, { ownerId: 'eve' });
    await queue('wh_bob', { ownerId: 'bob' });
    expect(await take()).toEqual(['wh_bob', 'wh_eve_0', 'wh_eve_1', 'wh_eve_10']);
  });

  it('[GEN-14] owners take turns, however many subscriptions wait, and so do the subscriptions of each', async () => {
    const { queue, take, finish } = await scene({ perSubscription: 1, perProcess: 4, reservedForFirst: 1 });
    await queue('wh_bob', { ago: 90, times: 3, ownerId: 'bob' });
    for (let n = 0; n < 4; n += 1) await queue(`wh_ada_${n}`, { ago: 60, times: 2, ownerId: 'ada' });
    const turns: string[] = [];
    for (let round = 0; round < 4; round += 1) {
      for (const one of [...(await take()), ...(await take())].toSorted()) turns.push(one);
      await finish();
    }
    expect(turns.filter((id) => id === 'wh_bob')).toHaveLength(3);
    expect(new Set(turns.filter((id) => id !== 'wh_bob')).size).toBe(4);
  });

  it('[GEN-14] a receiver that timed out has one slot until it answers, and all of them only some', async () => {
    const { queue, take, finish, slots } = await scene({ forTimedOut: 4 });
    const answered = { outcome: '5xx', status: 500 } as const;
    for (const id of ['wh_1', 'wh_2', 'wh_3']) {
      await queue(id, { times: 6 });
      slots.noteOutcome(id, { outcome: 'timeout', status: null });
    }
    expect([...(await take()), ...(await take())].toSorted()).toEqual(['wh_1', 'wh_2']);
    await finish('wh_1');
    expect([...(await take()), ...(await take())]).toEqual(['wh_1']);
    await finish('wh_1');
    expect([...(await take()), ...(await take())]).toEqual(['wh_3']);
    slots.noteOutcome('wh_2', { outcome: 'connect', status: null });
    expect([...(await take()), ...(await take())]).toEqual([]);
    slots.noteOutcome('wh_2', answered);
    expect([...(await take()), ...(await take())]).toEqual(['wh_2']);
    await finish();
    expect([...(await take()), ...(await take())].filter((id) => id === 'wh_2')).toHaveLength(2);
  });

  it.each([
    [0.04, 0],
    [4, 0.5],
    [30, 5],
    [3600, 60],
  ])('a delivery that comes to light %s s after it fell due is found within %s s', async (ago, within) => {
    const { queue, take, clock } = await scene();
    await take();
    await clock.advance(100);
    await take();
    await queue('wh_late', { ago });
    const found = await take();
    await clock.advance(within * 1000);
    expect([...found, ...(await take())]).toEqual(['wh_late']);
  });

  it.each([1, 2, 3, 4, 5, 6])('[DLV-05] a search that fails in the store (step %s) leaves no room taken', async (step) => {
    const { queue, take, finish, slots, failing } = await scene();
    const ids = ['wh_1', 'wh_2', 'wh_3'];
    for (const id of ids) await queue(id, { times: 4 });
    while ((await take()).length > 0);
    await finish();
    await failing(step, () => expect(take()).rejects.toMatchObject({ kind: 'unavailable' }));
    expect(slots.total()).toBe(0);
    expect((await take()).toSorted()).toEqual(ids.flatMap((id) => [id, id]));
  });

  it('[DLV-06] what falls due while its subscription is looked at is found where only room is looked for', async () => {
    const { queue, take, finish, blockLast } = await scene();
    await queue('wh_1', { times: 3 });
    expect(await take()).toHaveLength(2);
    expect(await take()).toEqual([]);
    await finish();
    const taking = take(false);
    await queue('wh_1');
    blockLast();
    expect(await taking).toHaveLength(1);
    expect(await take(false)).toHaveLength(1);
    await finish();
    expect(await take(false)).toEqual([]);
  });

  it('[DLV-06] what is known to be due is not read, in the order in which it fell due', async () => {
    const { queue, take, finish, blockLast, reads } = await scene({ perSubscription: 1 });
    await queue('wh_1');
    expect(await take()).toHaveLength(1);
    expect(await take()).toEqual([]);
    for (let n = 0; n < 10; n += 1) {
      await queue('wh_1');
      blockLast();
    }
    const before = reads();
    for (let n = 0; n < 10; n += 1) {
      await finish();
      expect(await take(false)).toHaveLength(1);
    }
    expect(reads()).toBe(before);
    await finish();
    expect(await take(false)).toEqual([]);
    expect(reads()).toBe(before + 1);
  });

  it('a clock that is set back hides nothing', async () => {
    const { queue, take, clock } = await scene();
    await queue('wh_1');
    await take();
    await clock.set(new Date(NOON.getTime() - 3_600_000));
    await queue('wh_2');
    expect(await take()).toEqual(['wh_2']);
  });

  it('what was found and not taken on is found again', async () => {
    const { queue, finder, slots, clock, take } = await scene();
    await queue('wh_1');
    await clock.advance(2000);
    for (const candidate of await finder.find(true)) slots.free(candidate);
    finder.restart();
    expect(await take()).toEqual(['wh_1']);
  });
});
