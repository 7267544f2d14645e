import { expect, it } from '@jest/globals';
import { aDelivery, NOON } from '../../test/builders.ts';
import type { LeaseRelease } from '../ports.ts';
import { leaseReleases } from './record-outcomes.ts';

const GONE: LeaseRelease['as'] = { kind: 'cancelled', reason: 'subscription_deleted', at: NOON };

/** A store that keeps the leases; what it does may get lost on the way there or on the way back. */
const counting = () => {
  const leases = new Set<string>();
  const counted = { lost: 0, cancelled: 0 };
  let loses: 'request' | 'answer' | null = null;
  const metrics = {
    attempted: () => undefined,
    exhausted: () => undefined,
    disabled: () => undefined,
    postponed: () => undefined,
    cancelled: (_: string, count: number) => {
      counted.cancelled += count;
    },
    leasesLost: (count: number) => {
      counted.lost += count;
    },
  };
  const release = async (ends: readonly LeaseRelease[]) => {
    const how = loses;
    loses = null;
    await Promise.resolve();
    const ended = how === 'request' ? 0 : ends.filter(({ id }) => leases.delete(id)).length;
    if (how !== null) throw new Error('away');
    return ended;
  };
  return {
    leases,
    counted,
    end: leaseReleases({ deliveries: { release }, metrics }),
    lose: (what: 'request' | 'answer') => {
      loses = what;
    },
  };
};

it.each(['request', 'answer'] as const)('[DLV-06] a lease is ended, not lost, when the %s of the first write got lost', async (what) => {
  const { leases, counted, end, lose } = counting();
  const delivery = aDelivery();
  leases.add(delivery.id);
  lose(what);
  await expect(end(delivery, GONE)).rejects.toThrow('away');
  await end(delivery, GONE);
  expect(counted).toEqual({ lost: 0, cancelled: 1 });
});

it('[DLV-06] a lease is lost when another has it by then', async () => {
  const { leases, counted, end } = counting();
  const [kept, taken] = [aDelivery({ id: 'dlv_1' }), aDelivery({ id: 'dlv_2' })];
  leases.add(kept.id);
  await Promise.all([end(kept, GONE), end(taken, GONE)]);
  expect(counted).toEqual({ lost: 1, cancelled: 1 });
});
