import { describe, expect, it } from '@jest/globals';
import type { Replay } from '../src/domain/replay.ts';
import type { ReplayStore } from '../src/ports.ts';
import { NOON } from './builders.ts';
import { later } from './stored-deliveries.ts';

const aReplay = (overrides: Partial<Replay> = {}): Replay => ({
  id: 'rpl_1',
  subscriptionId: 'wh_1',
  epoch: 1,
  since: later(-60),
  until: NOON,
  position: { createdAt: NOON, id: '' },
  dueAt: NOON,
  leaseToken: null,
  ...overrides,
});
const claim = (store: ReplayStore, token: string, seconds = 0) => store.claim(later(seconds), { token, until: later(seconds + 60) });

export const describeReplayStore = (engine: string, make: () => Promise<ReplayStore>): void =>
  describe(`ReplayStore on ${engine}`, () => {
    it('holds one of a subscription', async () => {
      const store = await make();
      const inserted = await Promise.all([store.insert(aReplay()), store.insert(aReplay({ id: 'rpl_2' }))]);
      expect(inserted.toSorted()).toEqual([false, true]);
      expect(await store.insert(aReplay({ id: 'rpl_3', subscriptionId: 'wh_2' }))).toBe(true);
      expect(await store.ofSubscription('wh_2')).toEqual(aReplay({ id: 'rpl_3', subscriptionId: 'wh_2' }));
      expect(await store.ofSubscription('wh_absent')).toBeNull();
    });

    it('gives each to one worker, the longest due first, and again when its lease has ended', async () => {
      const store = await make();
      await store.insert(aReplay({ dueAt: later(1) }));
      await store.insert(aReplay({ id: 'rpl_2', subscriptionId: 'wh_2' }));
      expect(await claim(store, 'a', -1)).toBeNull();
      expect(await store.nextDue()).toEqual(NOON);
      const both = await Promise.all([claim(store, 'b', 1), claim(store, 'c', 1)]);
      expect(both.map((replay) => replay?.id).toSorted()).toEqual(['rpl_1', 'rpl_2']);
      expect(await claim(store, 'd', 1)).toBeNull();
      expect(await claim(store, 'e', 61)).not.toBeNull();
    });

    it('hastens what nobody works on', async () => {
      const store = await make();
      for (const n of [1, 2, 3]) await store.insert(aReplay({ id: `rpl_${n}`, subscriptionId: `wh_${n}`, dueAt: later(n === 2 ? 0 : 9) }));
      expect(await claim(store, 'of a worker')).toMatchObject({ id: 'rpl_2' });
      await store.hasten(['wh_1', 'wh_2', 'wh_absent'], NOON);
      expect(await claim(store, 'next')).toMatchObject({ id: 'rpl_1' });
      expect(await claim(store, 'last')).toBeNull();
    });

    it('moves and ends it for who has it alone', async () => {
      const store = await make();
      await store.insert(aReplay());
      const late = await claim(store, 'late');
      const current = await claim(store, 'current', 60);
      if (late === null || current === null) throw new Error('none was due');
      const to = { position: { createdAt: later(-5), id: 'dlv_5' }, dueAt: later(70) };
      await store.move(late, { ...to, dueAt: later(99) });
      await store.end(late);
      expect(await store.ofSubscription('wh_1')).toEqual(current);
      await store.move(current, to);
      expect(await store.ofSubscription('wh_1')).toEqual({ ...aReplay(), ...to });
      const last = await claim(store, 'last', 70);
      if (last === null) throw new Error('none was due');
      await store.end(last);
      expect([await store.ofSubscription('wh_1'), await store.nextDue()]).toEqual([null, null]);
    });
  });
