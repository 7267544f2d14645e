import { describe, expect, it } from '@jest/globals';
import type { openStores } from '../src/adapters/store/stores.ts';
import type { Join } from '../src/domain/join.ts';
import { aJoin, later } from './builders.ts';

type Stores = Pick<ReturnType<typeof openStores>, 'joins' | 'watchQueue'>;

export const describeWatchQueue = (engine: string, make: () => Promise<Stores>): void =>
  describe(`the watched joins of a provider on ${engine}`, () => {
    const watched = async ({ joins }: Stores, ids: readonly string[], fields: Partial<Join> = {}) => {
      for (const id of ids)
        await joins.insert(aJoin({ id, runningKey: id, work: 'watch', providerRef: id, urgency: 'silent', ...fields }), []);
    };
    const names = (prefix: string, count: number) => Array.from({ length: count }, (_, n) => `${prefix}${String(n).padStart(3, '0')}`);
    const claimOn = (queue: ReturnType<Stores['watchQueue']>) => {
      let claims = 0;
      return async (seconds: number): Promise<string | null> => {
        claims += 1;
        return (await queue.claimNext(later(seconds), { token: `lease-${claims}`, until: later(seconds + 3600) }))?._id ?? null;
      };
    };

    it('are never asked about more often than the budget of a minute, over all replicas, whichever minute', async () => {
      const stores = await make();
      await watched(stores, names('mj_', 60));
      const replicas = [1, 2].map(() => claimOn(stores.watchQueue('simulator', 10)));
      const asked: number[] = [];
      for (let seconds = 0; seconds < 180; seconds += 1)
        for (const claim of replicas) if ((await claim(seconds)) !== null) asked.push(seconds);
      const inMinutes = asked.map((start) => asked.filter((at) => at >= start && at < start + 60).length);
      expect(inMinutes.filter((count) => count > 10)).toEqual([]);
      expect(asked.length).toBeGreaterThan(20);
    });

    it('wait for a place without being claimed, and say when there is one', async () => {
      const stores = await make();
      await watched(stores, names('mj_', 3));
      const queue = stores.watchQueue('simulator', 5);
      const claim = claimOn(queue);
      expect([await claim(0), await claim(0)]).toEqual(['mj_000', null]);
      expect(await queue.nextAfter(later(0))).toEqual(later(15));
      expect(await stores.joins.get('mj_001')).toMatchObject({ leaseToken: null, dueAt: later(0) });
      expect([await claim(14), await claim(15)]).toEqual([null, 'mj_001']);
    });

    it('come first when the provider told of them, then when they are on their way, and the silent ones still in their turn', async () => {
      const stores = await make();
      await watched(stores, names('s', 100));
      await watched(stores, names('e', 5), { urgency: 'early', dueAt: later(1) });
      await watched(stores, names('h', 5), { urgency: 'hinted', dueAt: later(2) });
      const claim = claimOn(stores.watchQueue('simulator', 1000));
      const claimed: (string | null)[] = [];
      for (let n = 0; n < 16; n += 1) claimed.push(await claim(3));
      expect(claimed.map((id) => id?.slice(0, 1) ?? '-').join('')).toBe('hhhshheseeese---');
    });

    it('leave room in a used up budget for those of which the provider told', async () => {
      const stores = await make();
      await watched(stores, names('s', 100));
      const claim = claimOn(stores.watchQueue('simulator', 50));
      while ((await claim(10)) !== null);
      await watched(stores, ['hinted'], { urgency: 'hinted', dueAt: later(10) });
      expect(await claim(10)).toBe('hinted');
    });

    it('of one provider wait for no other one', async () => {
      const stores = await make();
      await watched(stores, names('s', 5));
      await watched(stores, ['other'], { provider: 'another' });
      const claim = claimOn(stores.watchQueue('simulator', 1));
      expect([await claim(0), await claim(0)]).toEqual(['s000', null]);
      expect(await claimOn(stores.watchQueue('another', 1))(0)).toBe('other');
    });

    it('wait for no clock that was set back', async () => {
      const stores = await make();
      await watched(stores, names('s', 3), { dueAt: later(-7200) });
      const claim = claimOn(stores.watchQueue('simulator', 1));
      expect([await claim(0), await claim(1)]).toEqual(['s000', null]);
      expect(await claim(-3600)).toBe('s001');
    });

    it('forget with the claim what the provider told', async () => {
      const stores = await make();
      await watched(stores, ['mj_1'], { urgency: 'hinted', hintedAt: later(0) });
      await claimOn(stores.watchQueue('simulator', 10))(0);
      expect(await stores.joins.get('mj_1')).toMatchObject({ hintedAt: null, leaseToken: 'lease-1' });
    });
  });
