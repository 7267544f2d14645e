import type { CancelReason, Delivery } from '../domain/delivery.ts';
import type { DeliveryStore, DispatchMetrics, LeaseEnd } from '../ports.ts';
import { grouped, type Write } from './grouped.ts';

interface Ports {
  readonly deliveries: Pick<DeliveryStore, 'release'>;
  readonly metrics: DispatchMetrics;
}

/** Ends the leases of deliveries, many at a time, and counts those that it ended: what another worker has by then is that one's to count. */
export function leaseEnds({ deliveries, metrics }: Ports): (delivery: Delivery, as: LeaseEnd['as']) => Promise<void> {
  /** One group for all that are counted alike: a write says how many leases there still were, not which. */
  const ending = (count: (ended: number) => void): Write<LeaseEnd> =>
    grouped(async (ends) => {
      const ended = await deliveries.release(ends);
      if (ended < ends.length) metrics.leasesLost(ends.length - ended);
      if (ended > 0) count(ended);
    });
  const goingOn = ending(() => undefined);
  const exhausted = ending(metrics.exhausted);
  const cancelled = new Map<CancelReason, Write<LeaseEnd>>();
  const cancelledFor = (reason: CancelReason): Write<LeaseEnd> => {
    const known = cancelled.get(reason) ?? ending((count) => metrics.cancelled(reason, count));
    cancelled.set(reason, known);
    return known;
  };
  const writeOf = (as: LeaseEnd['as']): Write<LeaseEnd> => {
    if (as.kind === 'cancelled') return cancelledFor(as.reason);
    return as.kind === 'recorded' && as.recorded.status === 'exhausted' ? exhausted : goingOn;
  };
  return ({ id, leaseToken }, as) => writeOf(as)({ id, leaseToken: leaseToken ?? '', as });
}
