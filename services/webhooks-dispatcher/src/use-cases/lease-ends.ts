import type { CancelReason, Delivery } from '../domain/delivery.ts';
import type { DeliveryStore, DispatchMetrics, LeaseRelease } from '../ports.ts';
import { grouped, type Write } from './grouped.ts';

interface Ports {
  readonly deliveries: Pick<DeliveryStore, 'release'>;
  readonly metrics: DispatchMetrics;
}

interface Ending extends LeaseRelease {
  readonly delivery: Delivery;
}

/** Ends the leases of deliveries, many at a time, and counts those that it ended: what another worker has by then is that one's to count. */
export function leaseEnds({ deliveries, metrics }: Ports): (delivery: Delivery, as: LeaseRelease['as']) => Promise<void> {
  /** Their end was written once, and nobody said what became of that: when it is written again there may be no lease any more. */
  const unconfirmed = new WeakSet<Delivery>();
  const release = async (ends: readonly Ending[]): Promise<number> => {
    try {
      return await deliveries.release(ends);
    } catch (error) {
      for (const { delivery } of ends) unconfirmed.add(delivery);
      throw error;
    }
  };
  /** One group for all that are counted alike: a write says how many leases there still were, not which. */
  const ending = (count: (ended: number) => void): Write<Ending> =>
    grouped(async (ends) => {
      const endedBefore = ends.filter(({ delivery }) => unconfirmed.has(delivery)).length;
      const lost = Math.max(0, ends.length - (await release(ends)) - endedBefore);
      if (lost > 0) metrics.leasesLost(lost);
      if (lost < ends.length) count(ends.length - lost);
    });
  const retained = ending(() => undefined);
  const exhausted = ending(metrics.exhausted);
  const cancelled = new Map<CancelReason, Write<Ending>>();
  const cancelledFor = (reason: CancelReason): Write<Ending> => {
    const known = cancelled.get(reason) ?? ending((count) => metrics.cancelled(reason, count));
    cancelled.set(reason, known);
    return known;
  };
  const writeOf = (as: LeaseRelease['as']): Write<Ending> => {
    if (as.kind === 'cancelled') return cancelledFor(as.reason);
    return as.kind === 'attempted' && as.delivery.status === 'exhausted' ? exhausted : retained;
  };
  return (delivery, as) => writeOf(as)({ id: delivery.id, leaseToken: delivery.leaseToken ?? '', as, delivery });
}
