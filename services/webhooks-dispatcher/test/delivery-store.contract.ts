import { describe, expect, it } from '@jest/globals';
import { afterAttempt } from '../src/domain/delivery.ts';
import type { LeaseRelease } from '../src/ports.ts';
import { describeLog } from './delivery-log.contract.ts';
import { claim, dueAt, FAILED, filled, later, type Make, numbered, numbers, recorded, release } from './stored-deliveries.ts';

const describeDue = (make: Make) =>
  describe('what is due', () => {
    it('[DLV-05] takes a delivery once: by id, and by subscription and event', async () => {
      const store = await filled(make, numbered(1));
      expect(await store.insert(numbered(1))).toBe(false);
      expect(await store.insert(numbered(2, { eventId: 'evt_1' }))).toBe(false);
      expect(await store.insert(numbered(3, { eventId: 'evt_1', subscriptionId: 'wh_2' }))).toBe(true);
      expect(await store.ofSubscription('wh_1', 'dlv_1')).toEqual(numbered(1));
      expect(await store.ofSubscription('wh_2', 'dlv_1')).toBeNull();
    });

    it('comes the longest due first, up to the limit', async () => {
      const store = await filled(
        make,
        ...[3, 1, 2].map((n) => numbered(n, { claimableAt: later(n - 3) })),
        numbered(4, { claimableAt: later(1) }),
      );
      expect(await dueAt(store)).toEqual(['dlv_1', 'dlv_2', 'dlv_3']);
      expect(await dueAt(store, { limit: 2 })).toEqual(['dlv_1', 'dlv_2']);
      expect(await dueAt(store, { now: later(1) })).toHaveLength(4);
    });

    it('leaves out what is finished, and with it every other state', async () => {
      const store = await filled(
        make,
        numbered(1, { status: 'succeeded' }),
        numbered(2, { status: 'exhausted' }),
        numbered(3, { status: 'cancelled' }),
      );
      expect(await dueAt(store)).toEqual([]);
      expect(await store.nextDueAfter(later(-9))).toBeNull();
    });

    it('[DLV-06] leaves out subscriptions, and on demand what was tried before or fell due before', async () => {
      const store = await filled(
        make,
        numbered(1),
        numbered(2, { subscriptionId: 'wh_2', attemptCount: 1 }),
        numbered(3, { subscriptionId: 'wh_3', claimableAt: later(-5) }),
      );
      expect(await dueAt(store, { not: ['wh_1'] })).toEqual(['dlv_3', 'dlv_2']);
      expect(await dueAt(store, { firstOnly: true })).toEqual(['dlv_3', 'dlv_1']);
      expect(await dueAt(store, { firstOnly: true, not: ['wh_1', 'wh_3'] })).toEqual([]);
      expect(await dueAt(store, { since: later(0), firstOnly: true })).toEqual(['dlv_1']);
    });

    it('[DLV-06] is found of one subscription by itself', async () => {
      const store = await filled(
        make,
        ...[3, 1, 2].map((n) => numbered(n, { claimableAt: later(n - 3), attemptCount: n % 2 })),
        numbered(4, { claimableAt: later(1) }),
        numbered(5, { subscriptionId: 'wh_2' }),
        numbered(6, { status: 'succeeded' }),
      );
      const query = { now: later(0), firstOnly: false, limit: 10 };
      const idsOf = async (fields: Partial<typeof query> = {}) => (await store.dueOf('wh_1', { ...query, ...fields })).map(({ id }) => id);
      expect(await idsOf()).toEqual(['dlv_1', 'dlv_2', 'dlv_3']);
      expect(await idsOf({ limit: 2 })).toEqual(['dlv_1', 'dlv_2']);
      expect(await idsOf({ firstOnly: true })).toEqual(['dlv_2']);
    });

    it('says when the next falls due, postponed ones aside', async () => {
      const store = await filled(make, numbered(1), numbered(2, { claimableAt: later(60) }), numbered(3, { claimableAt: later(30) }));
      expect(await store.nextDueAfter(later(0))).toEqual(later(30));
      await claim(store, ['dlv_3'], 'lease', later(30));
      await release(store, 'dlv_3', 'lease', { kind: 'postponed', until: later(35) });
      expect(await store.nextDueAfter(later(0))).toEqual(later(60));
      expect(await dueAt(store, { now: later(35) })).toEqual(['dlv_1', 'dlv_3']);
    });

    it('is counted, with the oldest', async () => {
      const store = await filled(make, numbered(1, { claimableAt: later(-5) }), numbered(2), numbered(3, { claimableAt: later(60) }));
      expect(await store.countDue(later(0))).toEqual({ due: 2, oldest: later(-5) });
      expect(await store.countDue(later(-9))).toEqual({ due: 0, oldest: null });
    });
  });

const describeClaim = (make: Make) =>
  describe('a claim', () => {
    it('takes what is due and counts, until its lease ends', async () => {
      const store = await filled(make, numbered(1), numbered(2, { claimableAt: later(1) }));
      expect(await claim(store, ['dlv_1', 'dlv_2', 'dlv_absent'])).toEqual([
        numbered(1, { claimCount: 1, claimableAt: later(60), leaseToken: 'lease' }),
      ]);
      expect(await claim(store, ['dlv_1'], 'other', later(59))).toEqual([]);
      expect(await claim(store, ['dlv_1'], 'other', later(60))).toMatchObject([{ id: 'dlv_1', claimCount: 2, leaseToken: 'other' }]);
    });

    it('[DLV-05] of workers that race for the same deliveries, each gets some and none is given twice', async () => {
      const ids = numbers(40).map((n) => `dlv_${n}`);
      const store = await filled(make, ...numbers(40).map((n) => numbered(n)));
      const won = await Promise.all(numbers(8).map((worker) => claim(store, ids, `worker ${worker}`)));
      const taken = won.flat().map(({ id }) => id);
      expect(taken.toSorted()).toEqual(ids.toSorted());
      expect(won.flat().every(({ claimCount }) => claimCount === 1)).toBe(true);
    });

    it('that is given back is not counted', async () => {
      const store = await filled(make, numbered(1));
      await claim(store, ['dlv_1']);
      await release(store, 'dlv_1', 'lease', { kind: 'postponed', until: later(5) });
      expect(await store.ofSubscription('wh_1', 'dlv_1')).toEqual(numbered(1, { claimableAt: later(5) }));
      await release(store, 'dlv_1', 'lease', { kind: 'postponed', until: later(9) });
      expect((await store.ofSubscription('wh_1', 'dlv_1'))?.claimableAt).toEqual(later(5));
    });

    it('[DLV-06] keeps its lease when it is redirected with all that is pending of its subscription, and nothing else is', async () => {
      const origin = 'https://new.example.com';
      const [done, other] = [numbered(3, { status: 'succeeded' }), numbered(4, { subscriptionId: 'wh_2' })];
      const store = await filled(make, numbered(1), numbered(2), done, other);
      const [claimed] = await claim(store, ['dlv_1']);
      await store.redirect('wh_1', origin);
      expect(await store.ofSubscription('wh_1', 'dlv_1')).toEqual({ ...claimed, origin });
      expect(await store.ofSubscription('wh_1', 'dlv_2')).toEqual(numbered(2, { origin }));
      expect([await store.ofSubscription('wh_1', 'dlv_3'), await store.ofSubscription('wh_2', 'dlv_4')]).toEqual([done, other]);
    });

    it('of a process that is gone is released, and what was never claimed stays as it was', async () => {
      const store = await filled(make, numbered(1), numbered(2, { claimableAt: later(60) }));
      await claim(store, ['dlv_1']);
      await store.releaseLeases(later(3));
      expect(await store.ofSubscription('wh_1', 'dlv_1')).toMatchObject({ claimableAt: later(3), leaseToken: null, claimCount: 1 });
      expect(await store.ofSubscription('wh_1', 'dlv_2')).toEqual(numbered(2, { claimableAt: later(60) }));
    });
  });

const describeOutcomes = (make: Make) =>
  describe('an outcome', () => {
    it('[DLV-04] is recorded with its line and the next due time in one write', async () => {
      const store = await filled(make, numbered(1));
      const [claimed] = await claim(store, ['dlv_1']);
      const outcome = recorded(claimed ?? numbered(1));
      expect(await release(store, 'dlv_1', 'lease', { kind: 'attempted', delivery: outcome })).toBe(true);
      expect(await store.ofSubscription('wh_1', 'dlv_1')).toEqual(
        numbered(1, { attemptCount: 1, claimCount: 1, claimableAt: later(62), log: outcome.log }),
      );
    });

    it('[DLV-05] of a lease that was lost changes nothing and says so', async () => {
      const store = await filled(make, numbered(1));
      await claim(store, ['dlv_1']);
      await claim(store, ['dlv_1'], 'other', later(60));
      const before = await store.ofSubscription('wh_1', 'dlv_1');
      expect(await release(store, 'dlv_1', 'lease', { kind: 'attempted', delivery: recorded(numbered(1)) })).toBe(false);
      expect(await release(store, 'dlv_1', 'lease', { kind: 'cancelled', reason: 'plan_required', at: later(61) })).toBe(false);
      expect(await store.ofSubscription('wh_1', 'dlv_1')).toEqual(before);
    });

    it('is recorded once: the lease ends with it', async () => {
      const store = await filled(make, numbered(1));
      await claim(store, ['dlv_1']);
      expect(await release(store, 'dlv_1', 'lease', { kind: 'cancelled', reason: 'team_archived', at: later(3) })).toBe(true);
      expect(await release(store, 'dlv_1', 'lease', { kind: 'attempted', delivery: recorded(numbered(1)) })).toBe(false);
      expect(await store.ofSubscription('wh_1', 'dlv_1')).toMatchObject({
        status: 'cancelled',
        reason: 'team_archived',
        finishedAt: later(3),
        attemptCount: 0,
        log: [],
      });
    });

    it('[DLV-05] comes with those of others in one write, which counts the leases that there were', async () => {
      const store = await filled(make, numbered(1), numbered(2), numbered(3), numbered(4));
      await claim(store, ['dlv_1', 'dlv_2', 'dlv_3']);
      const ends: readonly LeaseRelease[] = [
        { id: 'dlv_1', leaseToken: 'lease', as: { kind: 'attempted', delivery: recorded(numbered(1)) } },
        { id: 'dlv_2', leaseToken: 'lease', as: { kind: 'cancelled', reason: 'plan_required', at: later(3) } },
        { id: 'dlv_3', leaseToken: 'lease', as: { kind: 'postponed', until: later(5) } },
        { id: 'dlv_4', leaseToken: 'lease', as: { kind: 'postponed', until: later(5) } },
      ];
      expect(await store.release(ends)).toBe(3);
      expect(await store.ofSubscription('wh_1', 'dlv_1')).toMatchObject({ attemptCount: 1, claimableAt: later(62) });
      expect(await store.ofSubscription('wh_1', 'dlv_2')).toMatchObject({ status: 'cancelled' });
      expect(await store.ofSubscription('wh_1', 'dlv_3')).toMatchObject({ claimCount: 0, claimableAt: later(5) });
      expect(await store.ofSubscription('wh_1', 'dlv_4')).toEqual(numbered(4));
      expect(await store.release([])).toBe(0);
    });

    it('of a delivery that is sent again and again leaves the latest lines', async () => {
      const store = await filled(make, numbered(1));
      for (let now = later(0), n = 0; n < 60; n += 1) {
        const [claimed = numbered(0)] = await claim(store, ['dlv_1'], `lease ${n}`, now);
        const outcome = afterAttempt({ ...claimed, attemptsBeforeQueue: n, maxAttempts: 5 }, FAILED, { startedAt: now, endedAt: now });
        await release(store, 'dlv_1', `lease ${n}`, { kind: 'attempted', delivery: outcome });
        now = outcome.claimableAt;
      }
      const delivery = await store.ofSubscription('wh_1', 'dlv_1');
      expect(delivery?.log.map(({ number }) => number)).toEqual(numbers(60).slice(10));
      expect(delivery?.attemptCount).toBe(60);
    });
  });

export const describeDeliveryStore = (engine: string, make: Make): void =>
  describe(`DeliveryStore on ${engine}`, () => {
    describeDue(make);
    describeClaim(make);
    describeOutcomes(make);
    describeLog(make);
  });
