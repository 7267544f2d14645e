import { describe, expect, it } from '@jest/globals';
import { type Delivery, type Recorded, record } from '../src/domain/delivery.ts';
import type { AttemptResult } from '../src/domain/outcome.ts';
import type { DeliveryStore, LeaseEnd } from '../src/ports.ts';
import { aDelivery, NOON } from './builders.ts';

type Make = () => Promise<DeliveryStore>;

const later = (seconds: number) => new Date(NOON.getTime() + seconds * 1000);
const FAILED: AttemptResult = { outcome: '5xx', status: 500, tookMs: 5, preview: 'no' };
const numbers = (count: number) => Array.from({ length: count }, (_, n) => n + 1);

const numbered = (n: number, overrides: Partial<Delivery> = {}) =>
  aDelivery({ id: `dlv_${n}`, eventId: `evt_${n}`, claims: 0, ...overrides });
const filled = async (make: Make, ...deliveries: readonly Delivery[]): Promise<DeliveryStore> => {
  const store = await make();
  for (const delivery of deliveries) await store.insert(delivery);
  return store;
};
const dueAt = async (store: DeliveryStore, query: Partial<Parameters<DeliveryStore['due']>[0]> = {}) =>
  (await store.due({ since: new Date(0), now: later(0), firstOnly: false, not: [], limit: 10, ...query })).map(({ id }) => id);
const claim = (store: DeliveryStore, ids: readonly string[], leaseToken = 'lease', now = later(0)) =>
  store.claim({ now, leaseUntil: new Date(now.getTime() + 60_000), leaseToken, ids });
/** Whether there was such a lease. */
const release = async (store: DeliveryStore, id: string, leaseToken: string, as: LeaseEnd['as']) =>
  (await store.release([{ id, leaseToken, as }])) === 1;
const recorded = (delivery: Delivery, result = FAILED): Recorded => record(delivery, result, { startedAt: later(1), endedAt: later(2) });
const logOf = async (store: DeliveryStore, query: Partial<Parameters<DeliveryStore['page']>[0]> = {}) =>
  (await store.page({ subscriptionId: 'wh_1', status: null, position: null, limit: 10, ...query })).map(({ id }) => id);

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
        numbered(2, { subscriptionId: 'wh_2', attempt: 1 }),
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
        ...[3, 1, 2].map((n) => numbered(n, { claimableAt: later(n - 3), attempt: n % 2 })),
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

    it('says when the next falls due, those put off aside', async () => {
      const store = await filled(make, numbered(1), numbered(2, { claimableAt: later(60) }), numbered(3, { claimableAt: later(30) }));
      expect(await store.nextDueAfter(later(0))).toEqual(later(30));
      await claim(store, ['dlv_3'], 'lease', later(30));
      await release(store, 'dlv_3', 'lease', { kind: 'put off', until: later(35) });
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
        numbered(1, { claims: 1, claimableAt: later(60), leaseToken: 'lease' }),
      ]);
      expect(await claim(store, ['dlv_1'], 'other', later(59))).toEqual([]);
      expect(await claim(store, ['dlv_1'], 'other', later(60))).toMatchObject([{ id: 'dlv_1', claims: 2, leaseToken: 'other' }]);
    });

    it('[DLV-05] of workers that race for the same deliveries, each gets some and none is given twice', async () => {
      const ids = numbers(40).map((n) => `dlv_${n}`);
      const store = await filled(make, ...numbers(40).map((n) => numbered(n)));
      const won = await Promise.all(numbers(8).map((worker) => claim(store, ids, `worker ${worker}`)));
      const taken = won.flat().map(({ id }) => id);
      expect(taken.toSorted()).toEqual(ids.toSorted());
      expect(won.flat().every(({ claims }) => claims === 1)).toBe(true);
    });

    it('that is given back is not counted', async () => {
      const store = await filled(make, numbered(1));
      await claim(store, ['dlv_1']);
      await release(store, 'dlv_1', 'lease', { kind: 'put off', until: later(5) });
      expect(await store.ofSubscription('wh_1', 'dlv_1')).toEqual(numbered(1, { claimableAt: later(5) }));
      await release(store, 'dlv_1', 'lease', { kind: 'put off', until: later(9) });
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
      expect(await store.ofSubscription('wh_1', 'dlv_1')).toMatchObject({ claimableAt: later(3), leaseToken: null, claims: 1 });
      expect(await store.ofSubscription('wh_1', 'dlv_2')).toEqual(numbered(2, { claimableAt: later(60) }));
    });
  });

const describeOutcomes = (make: Make) =>
  describe('an outcome', () => {
    it('[DLV-04] is recorded with its line and the next due time in one write', async () => {
      const store = await filled(make, numbered(1));
      const [claimed] = await claim(store, ['dlv_1']);
      const outcome = recorded(claimed ?? numbered(1));
      expect(await release(store, 'dlv_1', 'lease', { kind: 'recorded', recorded: outcome })).toBe(true);
      expect(await store.ofSubscription('wh_1', 'dlv_1')).toEqual(
        numbered(1, { attempt: 1, claims: 1, claimableAt: later(62), log: [outcome.line] }),
      );
    });

    it('[DLV-05] of a lease that was lost changes nothing and says so', async () => {
      const store = await filled(make, numbered(1));
      await claim(store, ['dlv_1']);
      await claim(store, ['dlv_1'], 'other', later(60));
      const before = await store.ofSubscription('wh_1', 'dlv_1');
      expect(await release(store, 'dlv_1', 'lease', { kind: 'recorded', recorded: recorded(numbered(1)) })).toBe(false);
      expect(await release(store, 'dlv_1', 'lease', { kind: 'cancelled', reason: 'plan_required', at: later(61) })).toBe(false);
      expect(await store.ofSubscription('wh_1', 'dlv_1')).toEqual(before);
    });

    it('is recorded once: the lease ends with it', async () => {
      const store = await filled(make, numbered(1));
      await claim(store, ['dlv_1']);
      expect(await release(store, 'dlv_1', 'lease', { kind: 'cancelled', reason: 'team_archived', at: later(3) })).toBe(true);
      expect(await release(store, 'dlv_1', 'lease', { kind: 'recorded', recorded: recorded(numbered(1)) })).toBe(false);
      expect(await store.ofSubscription('wh_1', 'dlv_1')).toMatchObject({
        status: 'cancelled',
        reason: 'team_archived',
        finishedAt: later(3),
        attempt: 0,
        log: [],
      });
    });

    it('[DLV-05] comes with those of others in one write, which counts the leases that there were', async () => {
      const store = await filled(make, numbered(1), numbered(2), numbered(3), numbered(4));
      await claim(store, ['dlv_1', 'dlv_2', 'dlv_3']);
      const ends: readonly LeaseEnd[] = [
        { id: 'dlv_1', leaseToken: 'lease', as: { kind: 'recorded', recorded: recorded(numbered(1)) } },
        { id: 'dlv_2', leaseToken: 'lease', as: { kind: 'cancelled', reason: 'plan_required', at: later(3) } },
        { id: 'dlv_3', leaseToken: 'lease', as: { kind: 'put off', until: later(5) } },
        { id: 'dlv_4', leaseToken: 'lease', as: { kind: 'put off', until: later(5) } },
      ];
      expect(await store.release(ends)).toBe(3);
      expect(await store.ofSubscription('wh_1', 'dlv_1')).toMatchObject({ attempt: 1, claimableAt: later(62) });
      expect(await store.ofSubscription('wh_1', 'dlv_2')).toMatchObject({ status: 'cancelled' });
      expect(await store.ofSubscription('wh_1', 'dlv_3')).toMatchObject({ claims: 0, claimableAt: later(5) });
      expect(await store.ofSubscription('wh_1', 'dlv_4')).toEqual(numbered(4));
      expect(await store.release([])).toBe(0);
    });

    it('of a delivery that is sent again and again leaves the latest lines', async () => {
      const store = await filled(make, numbered(1));
      for (let now = later(0), n = 0; n < 60; n += 1) {
        const [claimed = numbered(0)] = await claim(store, ['dlv_1'], `lease ${n}`, now);
        const outcome = record({ ...claimed, base: n, budget: 5 }, FAILED, { startedAt: now, endedAt: now });
        await release(store, 'dlv_1', `lease ${n}`, { kind: 'recorded', recorded: outcome });
        now = outcome.claimableAt;
      }
      const delivery = await store.ofSubscription('wh_1', 'dlv_1');
      expect(delivery?.log.map(({ n }) => n)).toEqual(numbers(60).slice(10));
      expect(delivery?.attempt).toBe(60);
    });
  });

const QUEUE = { epoch: 1, origin: 'https://new.example.com', at: later(20), base: 0, budget: 5 };

const describeLog = (make: Make) =>
  describe('the log', () => {
    it('pages newest first, in a total order, by status where it is asked to', async () => {
      const at = [3, 1, 2, 2, 2];
      const status = (n: number) => (n % 2 === 0 ? 'succeeded' : 'pending');
      const store = await filled(
        make,
        ...at.map((seconds, n) => numbered(n, { createdAt: later(seconds), status: status(n) })),
        numbered(9, { subscriptionId: 'wh_2' }),
      );
      expect(await logOf(store)).toEqual(['dlv_0', 'dlv_4', 'dlv_3', 'dlv_2', 'dlv_1']);
      expect(await logOf(store, { limit: 2 })).toEqual(['dlv_0', 'dlv_4']);
      expect(await logOf(store, { position: { createdAt: later(2), id: 'dlv_4' } })).toEqual(['dlv_3', 'dlv_2', 'dlv_1']);
      expect(await logOf(store, { position: { createdAt: later(2), id: 'dlv_gone' } })).toEqual(['dlv_4', 'dlv_3', 'dlv_2', 'dlv_1']);
      expect(await logOf(store, { status: 'pending' })).toEqual(['dlv_3', 'dlv_1']);
      expect(await logOf(store, { status: 'pending', position: { createdAt: later(2), id: 'dlv_3' } })).toEqual(['dlv_1']);
    });

    it('queues a finished delivery anew, with a schedule of its own', async () => {
      const line = recorded(numbered(1)).line;
      const finished = numbered(1, { status: 'exhausted', attempt: 5, claims: 7, finishedAt: later(9), log: [line], reason: null });
      const store = await filled(make, finished);
      const again = await store.requeue('dlv_1', { ...QUEUE, epoch: 3, base: 5, budget: 1 });
      expect(again).toEqual({
        ...finished,
        status: 'pending',
        origin: QUEUE.origin,
        epoch: 3,
        base: 5,
        budget: 1,
        claims: 5,
        claimableAt: later(20),
        finishedAt: null,
      });
      expect(await dueAt(store, { now: later(20) })).toEqual(['dlv_1']);
    });

    it('queues nothing that is pending, absent or has gone on meanwhile', async () => {
      const store = await filled(make, numbered(1), numbered(2, { status: 'succeeded', attempt: 2 }));
      expect(await store.requeue('dlv_1', QUEUE)).toBeNull();
      expect(await store.requeue('dlv_absent', QUEUE)).toBeNull();
      expect(await store.requeue('dlv_2', { ...QUEUE, base: 1 })).toBeNull();
    });

    it('of two who queue it at once, one does', async () => {
      const store = await filled(make, numbered(1, { status: 'succeeded', attempt: 1 }));
      const queue = { ...QUEUE, base: 1 };
      const both = await Promise.all([store.requeue('dlv_1', queue), store.requeue('dlv_1', queue)]);
      expect(both.filter((one) => one !== null)).toHaveLength(1);
    });

    it('forgets what is old and finished, however much it is', async () => {
      const old = numbers(1100).map((n) => numbered(n, { status: 'succeeded', createdAt: later(-n) }));
      const store = await filled(make, ...old, numbered(2000, { createdAt: later(-5) }), numbered(2001, { status: 'succeeded' }));
      await store.sweep(later(0));
      expect(await logOf(store)).toEqual(['dlv_2001', 'dlv_2000']);
    });
  });

export const describeDeliveryStore = (engine: string, make: Make): void =>
  describe(`DeliveryStore on ${engine}`, () => {
    describeDue(make);
    describeClaim(make);
    describeOutcomes(make);
    describeLog(make);
  });
