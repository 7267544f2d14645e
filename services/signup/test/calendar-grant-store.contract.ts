import type { WorkQueue } from '@bubbles/store/work/work-queue.ts';
import type { FakeClock } from '@bubbles/testing/fake-clock.ts';
import { describe, expect, it } from '@jest/globals';
import { leasedGrant, type openCalendarGrants } from '../src/adapters/store/calendar-grants.ts';
import type { CalendarGrantStore, LeasedGrant } from '../src/calendar-ports.ts';
import type { CalendarGrant } from '../src/domain/calendar.ts';
import { NOON } from './signup.ts';

type GrantDoc = ReturnType<typeof openCalendarGrants>['grantChecks'] extends WorkQueue<infer D> ? D : never;
interface Stores {
  readonly calendarGrants: CalendarGrantStore;
  readonly grantChecks: WorkQueue<GrantDoc>;
  readonly clock: FakeClock;
}

const LEASE_MS = 60_000;
const later = (ms: number): Date => new Date(NOON.getTime() + ms);
const aGrant = (fields: Partial<CalendarGrant> = {}): CalendarGrant => ({
  id: 'grant-1',
  userId: 'ada',
  flowId: 'flow-1',
  provider: 'google',
  sealedToken: 'k1.sealed',
  connectedAt: NOON,
  life: null,
  tries: 0,
  ...fields,
});

export const describeCalendarGrantStore = (engine: string, make: () => Promise<Stores>): void =>
  describe(`CalendarGrantStore on ${engine}`, () => {
    const claim = async ({ grantChecks, clock }: Stores, token = 'lease-1'): Promise<LeasedGrant | null> => {
      const lease = { token, until: new Date(clock.now().getTime() + LEASE_MS) };
      const doc = await grantChecks.claimNext(clock.now(), lease);
      return doc && leasedGrant(doc, lease);
    };

    it('[SIGN-08] a grant that came is to be checked, as it was given', async () => {
      const stores = await make();
      await stores.calendarGrants.put(aGrant());
      expect(await claim(stores)).toEqual({ grant: aGrant(), lease: 'lease-1' });
      expect(await claim(stores)).toBeNull();
    });

    it('[SIGN-08] one of the same id takes its place, and is checked again', async () => {
      const stores = await make();
      const { calendarGrants } = stores;
      await calendarGrants.put(aGrant());
      const claimed = await claim(stores);
      await calendarGrants.put(aGrant({ sealedToken: 'k1.other', flowId: 'flow-2' }));
      if (claimed !== null) await calendarGrants.erase(claimed);
      expect(await claim(stores, 'lease-2')).toMatchObject({ grant: { sealedToken: 'k1.other' } });
      expect([await calendarGrants.isConnected('flow-1', 'google'), await calendarGrants.isConnected('flow-2', 'google')]).toEqual([
        false,
        true,
      ]);
    });

    it('[SIGN-08] twenty of one id at once are one', async () => {
      const stores = await make();
      await Promise.all(Array.from({ length: 20 }, (_, n) => stores.calendarGrants.put(aGrant({ sealedToken: `k1.${n}` }))));
      expect(await claim(stores)).not.toBeNull();
      expect(await claim(stores)).toBeNull();
    });

    it('[SIGN-08] a flow is connected for the provider of its grant alone', async () => {
      const { calendarGrants } = await make();
      await calendarGrants.put(aGrant());
      expect(await calendarGrants.isConnected('flow-1', 'google')).toBe(true);
      expect(await calendarGrants.isConnected('flow-1', 'microsoft')).toBe(false);
      expect(await calendarGrants.isConnected('flow-2', 'google')).toBe(false);
    });

    it('[SIGN-08] one that was checked rests until its account changes', async () => {
      const stores = await make();
      const { calendarGrants, clock } = stores;
      await calendarGrants.put(aGrant({ tries: 3 }));
      await calendarGrants.put(aGrant({ id: 'grant-2', userId: 'ben' }));
      for (let claimed = await claim(stores); claimed !== null; claimed = await claim(stores)) await calendarGrants.settle(claimed, 2);
      await clock.advance(LEASE_MS);
      expect(await claim(stores)).toBeNull();
      await calendarGrants.checkAllOf('ada');
      expect(await claim(stores)).toMatchObject({ grant: { userId: 'ada', life: 2, tries: 0 } });
      expect(await claim(stores)).toBeNull();
    });

    it('[SIGN-08] news of the account take the lease away: what was found before them is not written', async () => {
      const stores = await make();
      const { calendarGrants } = stores;
      await calendarGrants.put(aGrant());
      const before = await claim(stores);
      await calendarGrants.checkAllOf('ada');
      if (before !== null) await calendarGrants.settle(before, 1);
      if (before !== null) await calendarGrants.postpone(before, later(LEASE_MS));
      expect(await claim(stores, 'lease-2')).toMatchObject({ grant: { life: null, tries: 0 } });
    });

    it('[SIGN-08] one that was postponed is due then, with a try more', async () => {
      const stores = await make();
      const { calendarGrants, clock } = stores;
      await calendarGrants.put(aGrant());
      const claimed = await claim(stores);
      if (claimed !== null) await calendarGrants.postpone(claimed, later(120_000));
      await clock.advance(119_999);
      expect(await claim(stores)).toBeNull();
      expect(await stores.grantChecks.nextAfter(clock.now())).toEqual(later(120_000));
      await clock.advance(1);
      const again = await claim(stores);
      expect(again).toMatchObject({ grant: { tries: 1 } });
      if (again !== null) await calendarGrants.erase(again);
      expect(await calendarGrants.isConnected('flow-1', 'google')).toBe(false);
    });
  });
