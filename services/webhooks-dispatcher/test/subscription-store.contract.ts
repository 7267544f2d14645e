import { describe, expect, it } from '@jest/globals';
import { DISABLED_BY_FAILURES, MAX_CONSECUTIVE_FAILURES, type Subscription } from '../src/domain/subscription.ts';
import type { SubscriptionStore } from '../src/ports.ts';
import { aSubscription, NOON } from './builders.ts';

const later = (seconds: number) => new Date(NOON.getTime() + seconds * 1000);
const result = (n: number) => ({ subscriptionId: 'wh_1', epoch: 1, at: later(n), key: `dlv_${n}#1` });
const ALL = { position: null, limit: null };
const QUOTA = { perUser: 20, perTeam: 30, testsPerMinute: 5 };
const add = (store: SubscriptionStore, subscription: Subscription) => store.insert(subscription, QUOTA);
const numbers = (count: number) => Array.from({ length: count }, (_, n) => n + 1);

const describeRecords = (make: () => Promise<SubscriptionStore>) =>
  describe('records', () => {
    it('gives back what was inserted, to its owner', async () => {
      const store = await make();
      const subscription = aSubscription({ filters: { bubbleTypes: ['custom_image'], onlyMyBubbles: false }, teamId: 'team' });
      await add(store, subscription);
      expect(await store.ownedBy('owner', 'wh_1')).toEqual(subscription);
      expect(await store.ownedBy('somebody', 'wh_1')).toBeNull();
      expect(await store.ownedBy('owner', 'wh_absent')).toBeNull();
      expect([...(await store.byIds(['wh_absent', 'wh_1']))]).toEqual([['wh_1', subscription]]);
    });

    it('[AUTH-05] deletes those of earlier lives of their owner, and frees their places', async () => {
      const store = await make();
      await add(store, aSubscription());
      await add(store, aSubscription({ id: 'wh_2', ownerLife: 2 }));
      await add(store, aSubscription({ id: 'wh_other', ownerId: 'other' }));
      await store.deleteOfEarlierLives('owner', 2);
      expect([...(await store.byIds(['wh_1', 'wh_2', 'wh_other'])).keys()]).toEqual(['wh_2', 'wh_other']);
      await store.deleteOfEarlierLives('owner', 3);
      expect(await store.listOf('owner', ALL)).toEqual([]);
    });

    it('[HOOK-04] lists those of an owner, newest first', async () => {
      const store = await make();
      for (const n of [2, 1, 3]) await add(store, aSubscription({ id: `wh_${n}`, createdAt: later(n) }));
      await add(store, aSubscription({ id: 'wh_same', createdAt: later(3) }));
      await add(store, aSubscription({ id: 'wh_other', ownerId: 'other' }));
      expect((await store.listOf('owner', ALL)).map(({ id }) => id)).toEqual(['wh_same', 'wh_3', 'wh_2', 'wh_1']);
      expect(await store.listOf('nobody', ALL)).toEqual([]);
    });

    it('lists them by pages, and those that were made at the same time by their ids', async () => {
      const store = await make();
      for (const n of [1, 2, 3, 4]) await add(store, aSubscription({ id: `wh_${n}`, createdAt: later(n > 1 ? 2 : 1) }));
      await add(store, aSubscription({ id: 'wh_0', ownerId: 'other', createdAt: later(2) }));
      const idsOf = async (page: Parameters<SubscriptionStore['listOf']>[1]) => (await store.listOf('owner', page)).map(({ id }) => id);
      expect(await idsOf({ position: null, limit: 2 })).toEqual(['wh_4', 'wh_3']);
      const position = { createdAt: later(2), id: 'wh_3' };
      expect(await idsOf({ position, limit: 1 })).toEqual(['wh_2']);
      expect(await idsOf({ position, limit: null })).toEqual(['wh_2', 'wh_1']);
      expect(await idsOf({ position: { createdAt: later(1), id: 'wh_1' }, limit: 2 })).toEqual([]);
    });

    it('[EVT-03] finds those of several owners, disabled ones too', async () => {
      const store = await make();
      await add(store, aSubscription({ id: 'wh_a', ownerId: 'a' }));
      await add(store, aSubscription({ id: 'wh_b', ownerId: 'b', status: 'disabled' }));
      await add(store, aSubscription({ id: 'wh_c', ownerId: 'c' }));
      expect((await store.ofOwners(['a', 'b', 'nobody'])).map(({ id }) => id).toSorted()).toEqual(['wh_a', 'wh_b']);
    });

    it('[HOOK-06] deletes once, and only for the owner', async () => {
      const store = await make();
      await add(store, aSubscription());
      expect(await store.delete('somebody', 'wh_1')).toBe(false);
      expect(await store.delete('owner', 'wh_1')).toBe(true);
      expect(await store.delete('owner', 'wh_1')).toBe(false);
      expect(await store.ownedBy('owner', 'wh_1')).toBeNull();
    });
  });

const describeQuota = (make: () => Promise<SubscriptionStore>) =>
  describe('the quota', () => {
    const numbered = (n: number, fields: Partial<Subscription> = {}) => aSubscription({ id: `wh_${n}`, ...fields });

    it('[GEN-14] of an owner holds when many are inserted at once, and again when some were deleted', async () => {
      const store = await make();
      const quota = { perUser: 3, perTeam: 9, testsPerMinute: 5 };
      const insert = (n: number, ownerId: string) => store.insert(numbered(n, { ownerId }), quota);
      const answers = await Promise.all(numbers(10).map((n) => insert(n, 'owner')));
      expect(answers.toSorted()).toEqual([...Array(3).fill('inserted'), ...Array(7).fill('user_full')]);
      expect(await store.listOf('owner', ALL)).toHaveLength(3);
      expect(await insert(11, 'other')).toBe('inserted');
      const [first, second] = await store.listOf('owner', ALL);
      for (const one of [first, second]) await store.delete('owner', one?.id ?? '');
      const again = await Promise.all(numbers(5).map((n) => insert(20 + n, 'owner')));
      expect(again.filter((answer) => answer === 'inserted')).toHaveLength(2);
    });

    it('[GEN-14] of a team counts those of all its members, and not those for all teams', async () => {
      const store = await make();
      const quota = { perUser: 2, perTeam: 3, testsPerMinute: 5 };
      const insert = (n: number, fields: Partial<Subscription>) => store.insert(numbered(n, fields), quota);
      const answers = await Promise.all(numbers(6).map((n) => insert(n, { ownerId: `owner ${n}`, teamId: 'team' })));
      expect(answers.toSorted()).toEqual([...Array(3).fill('inserted'), ...Array(3).fill('team_full')]);
      expect(await insert(7, { ownerId: 'owner', teamId: 'team' })).toBe('team_full');
      expect(await insert(8, { ownerId: 'owner', teamId: 'another' })).toBe('inserted');
      expect(await insert(9, { ownerId: 'owner', teamId: null })).toBe('inserted');
    });

    it('[GEN-13] counts one of an id that is there already once', async () => {
      const store = await make();
      const quota = { ...QUOTA, perUser: 2 };
      expect(await store.insert(numbered(1), quota)).toBe('inserted');
      expect(await store.insert(numbered(1), quota)).toBe('id_taken');
      expect(await store.insert(numbered(2), quota)).toBe('inserted');
      expect(await store.insert(numbered(1), quota)).toBe('user_full');
    });

    it('that was lowered lets nobody insert until enough are gone', async () => {
      const store = await make();
      for (const n of numbers(5)) await add(store, numbered(n));
      const quota = { perUser: 3, perTeam: 9, testsPerMinute: 5 };
      for (const n of [1, 2]) {
        expect(await store.insert(numbered(6), quota)).toBe('user_full');
        await store.delete('owner', `wh_${n}`);
      }
      expect(await store.insert(numbered(6), quota)).toBe('user_full');
      await store.delete('owner', 'wh_3');
      expect(await store.insert(numbered(6), quota)).toBe('inserted');
    });
  });

const describeUpdate = (make: () => Promise<SubscriptionStore>) =>
  describe('update', () => {
    it('of an absent one, or one of somebody else, changes nothing and says so', async () => {
      const store = await make();
      await add(store, aSubscription());
      const change = () => ({ url: 'https://elsewhere.example.com/' });
      expect(await store.update('owner', 'wh_absent', change)).toBeNull();
      expect(await store.update('somebody', 'wh_1', change)).toBeNull();
      expect(await store.ownedBy('owner', 'wh_1')).toEqual(aSubscription());
    });

    it('sets the fields that it is given, and answers what is there then', async () => {
      const store = await make();
      await add(store, aSubscription({ filters: { onlyMyBubbles: true } }));
      const after = await store.update('owner', 'wh_1', () => ({ filters: null, events: ['screen_recording.ready'] }));
      expect(after).toEqual(aSubscription({ filters: null, events: ['screen_recording.ready'] }));
      expect(await store.update('owner', 'wh_1', () => ({}))).toEqual(after);
    });

    it('runs again when another one won: those that race all count', async () => {
      const store = await make();
      await add(store, aSubscription());
      await Promise.all(numbers(8).map(() => store.update('owner', 'wh_1', ({ epoch }) => ({ epoch: epoch + 1 }))));
      expect((await store.ownedBy('owner', 'wh_1'))?.epoch).toBe(9);
    });

    it('leaves results that come beside it alone', async () => {
      const store = await make();
      await add(store, aSubscription());
      await Promise.all([
        ...numbers(5).map((n) => store.failed(result(n))),
        store.update('owner', 'wh_1', () => ({ url: 'https://elsewhere.example.com/' })),
      ]);
      expect(await store.ownedBy('owner', 'wh_1')).toMatchObject({ url: 'https://elsewhere.example.com/', consecutiveFailures: 5 });
    });
  });

const describeCounter = (make: () => Promise<SubscriptionStore>) =>
  describe('the counter', () => {
    it('[HOOK-08] the 20th failure in a row disables, and no earlier one', async () => {
      const store = await make();
      await add(store, aSubscription());
      const disabled: boolean[] = [];
      for (const n of numbers(21)) disabled.push(await store.failed(result(n)));
      expect(disabled.indexOf(true)).toBe(MAX_CONSECUTIVE_FAILURES - 1);
      expect(disabled.filter(Boolean)).toHaveLength(1);
      expect(await store.ownedBy('owner', 'wh_1')).toMatchObject({
        status: 'disabled',
        disabledAt: later(20),
        disabledReason: DISABLED_BY_FAILURES,
        lastFailureAt: later(21),
      });
    });

    it('[HOOK-08] of 50 failures that come at once all count, and one of them disables', async () => {
      const store = await make();
      await add(store, aSubscription());
      const disabled = await Promise.all(numbers(50).map((n) => store.failed(result(n))));
      expect(disabled.filter(Boolean)).toHaveLength(1);
      const after = await store.ownedBy('owner', 'wh_1');
      expect(after).toMatchObject({ status: 'disabled', consecutiveFailures: 50, lastFailureAt: later(50) });
      expect(after?.countedFailureKeys).toHaveLength(MAX_CONSECUTIVE_FAILURES);
    });

    it('[HOOK-08] 19 that come at once do not', async () => {
      const store = await make();
      await add(store, aSubscription());
      expect(await Promise.all(numbers(19).map((n) => store.failed(result(n))))).not.toContain(true);
      expect(await store.ownedBy('owner', 'wh_1')).toMatchObject({ status: 'active', consecutiveFailures: 19 });
    });

    it('[DLV-05] a failure that is reported again counts once', async () => {
      const store = await make();
      await add(store, aSubscription());
      await Promise.all(numbers(10).map(() => store.failed(result(1))));
      await store.failed({ ...result(1), at: later(9) });
      expect(await store.ownedBy('owner', 'wh_1')).toMatchObject({ consecutiveFailures: 1, lastFailureAt: later(1) });
    });

    it('[DLV-05] a report that comes again makes good a disabling that was lost', async () => {
      const store = await make();
      await add(store, aSubscription({ consecutiveFailures: 20, countedFailureKeys: [result(20).key] }));
      expect(await store.failed({ ...result(20), at: later(30) })).toBe(true);
      expect(await store.ownedBy('owner', 'wh_1')).toMatchObject({ status: 'disabled', consecutiveFailures: 20, disabledAt: later(30) });
    });

    it('[HOOK-08] [HOOK-09] a success resets it', async () => {
      const store = await make();
      await add(store, aSubscription());
      for (const n of numbers(19)) await store.failed(result(n));
      await store.succeeded([result(20)]);
      expect(await store.ownedBy('owner', 'wh_1')).toMatchObject({
        consecutiveFailures: 0,
        countedFailureKeys: [],
        lastSuccessAt: later(20),
        lastFailureAt: later(19),
      });
      await store.failed(result(21));
      expect(await store.ownedBy('owner', 'wh_1')).toMatchObject({ status: 'active', consecutiveFailures: 1 });
    });

    it('[HOOK-09] the times never go back, in whatever order results come', async () => {
      const store = await make();
      await add(store, aSubscription());
      for (const n of [5, 3]) await store.succeeded([result(n)]);
      for (const n of [6, 4]) await store.failed(result(n));
      expect(await store.ownedBy('owner', 'wh_1')).toMatchObject({ lastSuccessAt: later(5), lastFailureAt: later(6) });
    });

    it('[HOOK-09] of successes that come together each resets its own', async () => {
      const store = await make();
      for (const id of ['wh_1', 'wh_2']) await add(store, aSubscription({ id }));
      for (const id of ['wh_1', 'wh_2']) await store.failed({ ...result(1), subscriptionId: id });
      await store.succeeded([result(3), { ...result(2), epoch: 7 }, { ...result(2), subscriptionId: 'wh_2' }, result(2)]);
      const both = [...(await store.byIds(['wh_1', 'wh_2'])).values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
      expect(both).toMatchObject([
        { consecutiveFailures: 0, lastSuccessAt: later(3) },
        { consecutiveFailures: 0, lastSuccessAt: later(2) },
      ]);
    });

    it('[HOOK-08] results of another life change nothing', async () => {
      const store = await make();
      await add(store, aSubscription({ epoch: 2, consecutiveFailures: 19 }));
      expect(await store.failed(result(1))).toBe(false);
      await store.succeeded([result(2)]);
      expect(await store.ownedBy('owner', 'wh_1')).toEqual(aSubscription({ epoch: 2, consecutiveFailures: 19 }));
    });

    it('results of one that was deleted make nothing', async () => {
      const store = await make();
      await store.succeeded([result(1)]);
      expect(await store.failed(result(2))).toBe(false);
      expect(await store.ownedBy('owner', 'wh_1')).toBeNull();
    });
  });

export const describeSubscriptionStore = (engine: string, make: () => Promise<SubscriptionStore>): void =>
  describe(`SubscriptionStore on ${engine}`, () => {
    describeRecords(make);
    describeQuota(make);
    describeUpdate(make);
    describeCounter(make);
  });
