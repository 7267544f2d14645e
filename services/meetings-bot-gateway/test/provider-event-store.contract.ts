import { describe, expect, it } from '@jest/globals';
import type { openStores } from '../src/adapters/store/stores.ts';
import { later, NOON } from './builders.ts';

type Stores = Pick<ReturnType<typeof openStores>, 'providerEvents' | 'hints'>;

export const describeProviderEventStore = (engine: string, make: () => Promise<Stores>): void =>
  describe(`ProviderEventStore on ${engine}`, () => {
    const hint = (id: string) => ({ id, provider: 'recall', joinId: 'mj_1', ref: null, receivedAt: NOON });
    const lease = (token: string, seconds = 60) => ({ token, until: later(seconds) });

    it('keeps an event once, ten at once too, and one of another provider beside it', async () => {
      const { providerEvents } = await make();
      const inserted = await Promise.all(Array.from({ length: 10 }, () => providerEvents.insert(hint('e1'))));
      expect(inserted.filter(Boolean)).toHaveLength(1);
      expect(await providerEvents.insert({ ...hint('e1'), provider: 'vexa' })).toBe(true);
    });

    it('gives each hint to one follower, and again when its lease has ended', async () => {
      const { providerEvents, hints } = await make();
      for (const id of ['e1', 'e2', 'e3']) await providerEvents.insert(hint(id));
      const claims = await Promise.all(['a', 'b'].map((token) => hints.claim(NOON, lease(token))));
      expect(
        claims
          .flat()
          .map(({ id }) => id)
          .toSorted(),
      ).toEqual(['recall:e1', 'recall:e2', 'recall:e3']);
      expect(await hints.claim(later(59), lease('c', 120))).toEqual([]);
      expect(await hints.claim(later(60), lease('c', 120))).toHaveLength(3);
    });

    it('drops what was followed from the work, keeps what waits, and leaves what another one has claimed', async () => {
      const { providerEvents, hints } = await make();
      for (const id of ['e1', 'e2']) await providerEvents.insert(hint(id));
      const claimed = await hints.claim(NOON, lease('a'));
      await hints.end(claimed, 'stolen', new Map());
      expect(await hints.nextAfter(NOON)).toEqual(later(60));
      await hints.end(claimed, 'a', new Map([['recall:e2', later(10)]]));
      expect(await hints.nextAfter(NOON)).toEqual(later(10));
      expect((await hints.claim(later(10), lease('b'))).map(({ id }) => id)).toEqual(['recall:e2']);
      expect(await providerEvents.insert(hint('e1'))).toBe(false);
    });

    it('forgets events after two days', async () => {
      const { providerEvents } = await make();
      await providerEvents.insert(hint('e1'));
      await providerEvents.sweep(later(48 * 3600 - 1));
      expect(await providerEvents.insert(hint('e1'))).toBe(false);
      await providerEvents.sweep(later(48 * 3600));
      expect(await providerEvents.insert(hint('e1'))).toBe(true);
    });
  });
