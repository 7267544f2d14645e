import type { Clock } from '@bubbles/kernel/clock.ts';
import { memo } from '@bubbles/kernel/concurrency.ts';
import { isUnavailable } from '@bubbles/kernel/errors.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import { type AttemptOutcome, type Delivery, leaseLasts, originOf, wasLostTooOften } from '../domain/delivery.ts';
import { subscriptionRefusal } from '../domain/eligibility.ts';
import type { Subscription } from '../domain/subscription.ts';
import type {
  Access,
  AttemptReport,
  DeliveryStore,
  DispatchMetrics,
  EventStore,
  PostponeReason,
  PrepareAttempts,
  Readability,
  SubscriptionStore,
} from '../ports.ts';
import { checkEligibility, type Eligible } from './check-eligibility.ts';
import { type PostPorts, post } from './post.ts';
import { recordOutcomes } from './record-outcomes.ts';

interface Ports extends PostPorts {
  readonly deliveries: DeliveryStore;
  readonly subscriptions: SubscriptionStore;
  readonly events: EventStore;
  readonly access: Access;
  readonly readability: Readability;
  readonly metrics: DispatchMetrics;
  readonly clock: Clock;
  readonly log: Log;
  readonly timing: { readonly deadlineMs: number };
}

const LOST: AttemptOutcome = {
  outcome: 'worker_lost',
  status: null,
  tookMs: 0,
  preview: null,
  detail: 'The attempt was lost with the process of ours that made it.',
};

/** Read last before the POSTs, so that none starts after the DELETE of its subscription has returned. Null when they could not be read. */
const readSubscriptions = ({ subscriptions, log }: Pick<Ports, 'subscriptions' | 'log'>, eligible: readonly Delivery[]) =>
  subscriptions.byIds([...new Set(eligible.map(({ subscriptionId }) => subscriptionId))]).catch((error: unknown) => {
    log.warn('subscriptions not read', { count: eligible.length, error });
    return null;
  });

export const prepareAttempts = (ports: Ports): PrepareAttempts => {
  const { deliveries, timing, clock, log } = ports;
  const record = recordOutcomes(ports);

  /** Never rejects: what could not be postponed is no fault for which to postpone it again. */
  const postponed = (delivery: Delivery, reason: PostponeReason): Promise<AttemptReport> =>
    record.postponed(delivery, reason).catch((cause: unknown) => {
      log.warn('delivery waits for the end of its lease', { deliveryId: delivery.id, error: cause });
      return { outcome: null, isFinished: false };
    });
  /** A fault of ours never ends a delivery: it is postponed, or its lease runs out. */
  const postponedByFault = (delivery: Delivery, error: unknown): Promise<AttemptReport> => {
    log[isUnavailable(error) ? 'warn' : 'error']('attempt failed on our side', { deliveryId: delivery.id, error });
    return postponed(delivery, isUnavailable(error) ? 'service_away' : 'our_fault');
  };

  return async (batch, onAway) => {
    const eligibilities = await checkEligibility(ports, batch, (error) => {
      log.warn('deliveries postponed', { count: batch.claimed.length, error });
      onAway();
    });
    const found = await readSubscriptions(
      ports,
      batch.claimed.filter(({ id }) => eligibilities.get(id)?.refusal === null),
    );
    const send = post(ports);
    const redirect = memo((subscription: Subscription) => deliveries.redirect(subscription.id, originOf(subscription)));

    const attemptAt = async (delivery: Delivery, subscription: Subscription, eligible: Eligible) => {
      const startedAt = clock.now();
      if (!leaseLasts(delivery, startedAt, timing.deadlineMs)) return postponed(delivery, 'lease_too_short');
      const reason = subscriptionRefusal(delivery, subscription, eligible);
      if (reason !== null) return record.cancelled(delivery, reason);
      if (originOf(subscription) !== delivery.origin) {
        // It has no slot at its new origin: it is due again at once, and takes its turn there.
        await redirect.get(subscription);
        return postponed(delivery, 'moved');
      }
      const outcome = await send(delivery, subscription, { body: eligible.body, at: startedAt }).catch((error: unknown) => {
        if (isUnavailable(error)) onAway();
        throw error;
      });
      return record.attempted(delivery, outcome, startedAt);
    };
    const attempt = (delivery: Delivery): Promise<AttemptReport> => {
      const eligibility = eligibilities.get(delivery.id);
      if (wasLostTooOften(delivery)) return record.attempted(delivery, LOST, clock.now());
      if (eligibility === undefined || found === null) return postponed(delivery, 'service_away');
      if (eligibility.refusal !== null) return record.cancelled(delivery, eligibility.refusal);
      const subscription = found.get(delivery.subscriptionId);
      return subscription === undefined
        ? record.cancelled(delivery, 'subscription_deleted')
        : attemptAt(delivery, subscription, eligibility);
    };
    return (delivery) => attempt(delivery).catch((error: unknown) => postponedByFault(delivery, error));
  };
};
