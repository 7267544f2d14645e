import type { Clock } from '@bubbles/kernel/clock.ts';
import { batchWhileBusy, keyedMutex } from '@bubbles/kernel/concurrency.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import { type AttemptOutcome, afterAttempt, type CancelReason, type Delivery, lateness, POSTPONE_MS } from '../domain/delivery.ts';
import { DISABLED_BY_FAILURES, failureKey } from '../domain/subscription.ts';
import type { AttemptReport, DeliveryStore, DispatchMetrics, LeaseRelease, PostponeReason, SubscriptionStore } from '../ports.ts';

interface Ports {
  readonly deliveries: Pick<DeliveryStore, 'release'>;
  readonly subscriptions: Pick<SubscriptionStore, 'succeeded' | 'failed'>;
  readonly metrics: DispatchMetrics;
  readonly clock: Clock;
  readonly log: Log;
}

const RECORD_RETRY_MS = 250;

interface Release extends LeaseRelease {
  readonly delivery: Delivery;
}
type Write = (release: Release) => Promise<void>;

/** Ends leases of deliveries, many at a time, and counts those that it ended: a lost lease is for the worker that has the delivery now to count. */
export function leaseReleases({ deliveries, metrics }: Pick<Ports, 'deliveries' | 'metrics'>) {
  /** Releases that were written once without an answer: when written again, the lease may be gone because the first write ended it. */
  const unconfirmed = new WeakSet<Delivery>();
  const release = async (releases: readonly Release[]): Promise<number> => {
    try {
      return await deliveries.release(releases);
    } catch (error) {
      for (const { delivery } of releases) unconfirmed.add(delivery);
      throw error;
    }
  };
  /** One batch for all that are counted alike: a write returns how many leases it ended, not which. */
  const batchWrites = (count: (released: number) => void): Write =>
    batchWhileBusy<void, Release>(async (releases) => {
      const releasedBefore = releases.filter(({ delivery }) => unconfirmed.has(delivery)).length;
      const lost = Math.max(0, releases.length - (await release(releases)) - releasedBefore);
      if (lost > 0) metrics.leasesLost(lost);
      if (lost < releases.length) count(releases.length - lost);
    });
  const uncounted = batchWrites(() => undefined);
  const exhausted = batchWrites(metrics.exhausted);
  const cancelled = new Map<CancelReason, Write>();
  const cancelledFor = (reason: CancelReason): Write => {
    const write = cancelled.get(reason) ?? batchWrites((count) => metrics.cancelled(reason, count));
    cancelled.set(reason, write);
    return write;
  };
  const writeOf = (as: LeaseRelease['as']): Write => {
    if (as.kind === 'cancelled') return cancelledFor(as.reason);
    return as.kind === 'attempted' && as.delivery.status === 'exhausted' ? exhausted : uncounted;
  };
  return (delivery: Delivery, as: LeaseRelease['as']): Promise<void> =>
    writeOf(as)({ id: delivery.id, leaseToken: delivery.leaseToken ?? '', as, delivery });
}

/**
 * Writes what became of claimed deliveries, many at a time. Outcomes wait in memory while the store is away, for as long as nobody else may claim
 * their deliveries.
 */
export function recordOutcomes({ deliveries, subscriptions, metrics, clock, log }: Ports) {
  const release = leaseReleases({ deliveries, metrics });
  const succeeded = batchWhileBusy(subscriptions.succeeded);
  const mutex = keyedMutex();

  const whileLeased = async (delivery: Delivery, write: () => Promise<void>): Promise<void> => {
    for (;;) {
      try {
        return await write();
      } catch (error) {
        if (clock.now() >= delivery.claimableAt) throw error;
        log.warn('outcome not recorded, retrying', { deliveryId: delivery.id, error });
        await clock.sleepUntil(new Date(clock.now().getTime() + RECORD_RETRY_MS), 'poll');
      }
    }
  };

  /** In the order in which attempts ended in this process: a success must not reset a failure that came after it. */
  const countOutcome = (delivery: Delivery, { outcome, status }: AttemptOutcome, at: Date): Promise<void> => {
    const { subscriptionId, ownerId, epoch } = delivery;
    const ended = { subscriptionId, epoch, at };
    if (outcome === '2xx') return mutex.shared(subscriptionId, () => whileLeased(delivery, () => succeeded(ended)));
    const fail = async () => {
      if (!(await subscriptions.failed({ ...ended, key: failureKey(delivery.id, delivery.attemptCount + 1) }))) return;
      metrics.disabled();
      log.warn('webhook subscription disabled', { subscriptionId, ownerId, reason: DISABLED_BY_FAILURES, outcome, status });
    };
    return mutex.exclusive(subscriptionId, () => whileLeased(delivery, fail));
  };

  return {
    async postponed(delivery: Delivery, reason: PostponeReason): Promise<AttemptReport> {
      metrics.postponed(reason);
      const forMs = reason === 'moved' ? 0 : POSTPONE_MS;
      await whileLeased(delivery, () => release(delivery, { kind: 'postponed', until: new Date(clock.now().getTime() + forMs) }));
      return { outcome: null, isFinished: false };
    },

    async cancelled(delivery: Delivery, reason: CancelReason): Promise<AttemptReport> {
      await whileLeased(delivery, () => release(delivery, { kind: 'cancelled', reason, at: clock.now() }));
      return { outcome: null, isFinished: true };
    },

    /** Counts first: after a crash between the two writes the attempt is made again, and its key counts once. */
    async attempted(delivery: Delivery, outcome: AttemptOutcome, startedAt: Date): Promise<AttemptReport> {
      const endedAt = clock.now();
      const after = afterAttempt(delivery, outcome, { startedAt, endedAt });
      metrics.attempted({
        outcome: outcome.outcome,
        tookMs: outcome.tookMs,
        first: delivery.attemptCount === 0,
        lateMs: lateness(delivery, startedAt),
      });
      // A receiver cannot be blamed for an attempt that was lost with its worker.
      if (outcome.outcome !== 'worker_lost') await countOutcome(delivery, outcome, endedAt);
      await whileLeased(delivery, () => release(delivery, { kind: 'attempted', delivery: after }));
      return { outcome, isFinished: after.status !== 'pending' };
    },
  };
}
