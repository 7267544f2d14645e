import type { Clock } from '@bubbles/kernel/clock.ts';
import { isUnavailable } from '@bubbles/kernel/errors.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import {
  type AttemptOutcome,
  afterAttempt,
  type CancelReason,
  chargesReceiver,
  type Delivery,
  lateness,
  leaseLasts,
  originOf,
  POSTPONE_MS,
  wasLostTooOften,
} from '../domain/delivery.ts';
import { lifeRefusal, subscriptionRefusal } from '../domain/eligibility.ts';
import { DISABLED_BY_FAILURES, failureKey, type Subscription } from '../domain/subscription.ts';
import type { Access, DeliveryStore, DispatchMetrics, EventStore, PostponeReason, Readability, SubscriptionStore } from '../ports.ts';
import { askLive, type Cleared } from './ask-live.ts';
import type { Batch } from './claims.ts';
import { grouped } from './grouped.ts';
import { inTurn } from './in-turn.ts';
import { leaseEnds } from './lease-ends.ts';
import { type PostPorts, post } from './post.ts';

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

const RECORD_RETRY_MS = 250;
const LOST: AttemptOutcome = {
  outcome: 'worker_lost',
  status: null,
  tookMs: 0,
  preview: null,
  detail: 'The attempt was lost with the process of ours that made it.',
};

/** Writes what became of deliveries, many at a time, and answers whether they are finished. Outcomes wait in memory while the store is away, for as long as nobody else may claim them. */
function recorder({ deliveries, subscriptions, metrics, clock, log }: Ports) {
  const end = leaseEnds({ deliveries, metrics });
  const succeeded = grouped(subscriptions.succeeded);
  const turn = inTurn();

  const whileLeased = async (delivery: Delivery, write: () => Promise<void>): Promise<void> => {
    for (;;) {
      try {
        return await write();
      } catch (error) {
        if (clock.now() >= delivery.claimableAt) throw error;
        log.warn('an outcome could not be recorded yet', { delivery_id: delivery.id, error });
        await clock.sleepUntil(new Date(clock.now().getTime() + RECORD_RETRY_MS), 'poll');
      }
    }
  };

  const disabled = ({ subscriptionId, ownerId, log: records }: Delivery) => {
    const last = records.at(-1);
    metrics.disabled();
    log.warn('webhook subscription disabled', {
      subscriptionId,
      ownerId,
      reason: DISABLED_BY_FAILURES,
      outcome: last?.outcome,
      status: last?.status,
    });
  };

  /** In the order in which this process's attempts at the subscription ended: a success must not wipe a failure that came after it. */
  const counted = (delivery: Delivery, after: Delivery, at: Date): Promise<void> => {
    const ended = { subscriptionId: delivery.subscriptionId, epoch: delivery.epoch, at };
    const success = after.status === 'succeeded';
    const count = async () => {
      if (success) await succeeded(ended);
      else if (await subscriptions.failed({ ...ended, key: failureKey(delivery.id, after.attemptCount) })) disabled(after);
    };
    return turn({ key: ended.subscriptionId, shared: success, work: () => whileLeased(delivery, count) });
  };

  return {
    async postpone(delivery: Delivery, reason: PostponeReason): Promise<boolean> {
      metrics.postponed(reason);
      const forMs = reason === 'moved' ? 0 : POSTPONE_MS;
      await end(delivery, { kind: 'postponed', until: new Date(clock.now().getTime() + forMs) });
      return false;
    },

    async cancelled(delivery: Delivery, reason: CancelReason): Promise<boolean> {
      await whileLeased(delivery, () => end(delivery, { kind: 'cancelled', reason, at: clock.now() }));
      return true;
    },

    /** The counter first: a crash between the two makes the attempt again, and its key keeps it from counting twice. */
    async attempted(delivery: Delivery, result: AttemptOutcome, startedAt: Date): Promise<boolean> {
      const endedAt = clock.now();
      const after = afterAttempt(delivery, result, { startedAt, endedAt });
      metrics.attempted({
        outcome: result.outcome,
        tookMs: result.tookMs,
        first: delivery.attemptCount === 0,
        lateMs: lateness(delivery, startedAt),
      });
      if (chargesReceiver(result)) await counted(delivery, after, endedAt);
      await whileLeased(delivery, () => end(delivery, { kind: 'attempted', delivery: after }));
      return after.status !== 'pending';
    },
  };
}

/** The work of the first call with a key is that of all with it. */
const once = <A extends readonly unknown[]>(work: (key: string, ...rest: A) => Promise<void>): typeof work => {
  const begun = new Map<string, Promise<void>>();
  return (key, ...rest) => {
    const running = begun.get(key) ?? work(key, ...rest);
    begun.set(key, running);
    return running;
  };
};

/** Who made a batch hears of it. */
export interface BatchListener {
  /** Its attempt ended so. */
  ended(delivery: Delivery, result: AttemptOutcome): void;
  /** The delivery is out of this worker's hands, and never falls due again unless somebody asks for it. */
  done(delivery: Delivery, isFinished: boolean): void;
  /** Somebody who is asked before each attempt is away, or the name servers are. */
  away(): void;
}

/** Makes the attempts that were prepared, each to its recorded end; never rejects. They begin in the turn in which it is called. */
export type Prepared = () => Promise<void>;

/** Read last before the POSTs: none begins after the DELETE of its subscription has returned. Null when they could not be read. */
const readSubscriptions = ({ subscriptions, log }: Pick<Ports, 'subscriptions' | 'log'>, going: readonly Delivery[]) =>
  subscriptions.byIds([...new Set(going.map(({ subscriptionId }) => subscriptionId))]).catch((error: unknown) => {
    log.warn('subscriptions could not be read', { count: going.length, error });
    return null;
  });

/** Learns for a batch of claimed deliveries all that must be known before their attempts. Never rejects. */
export const prepareAttempts = (ports: Ports) => {
  const { deliveries, timing, clock, log } = ports;
  const recording = recorder(ports);

  /** A fault of ours never ends a delivery: it is put off, or its lease runs out. */
  const guarded = async (delivery: Delivery, work: () => Promise<boolean>): Promise<boolean> => {
    try {
      return await work();
    } catch (error) {
      log[isUnavailable(error) ? 'warn' : 'error']('an attempt failed on our side', { delivery_id: delivery.id, error });
      await recording
        .postpone(delivery, isUnavailable(error) ? 'service_away' : 'our_fault')
        .catch((cause) => log.warn('a delivery waits for the end of its lease', { delivery_id: delivery.id, error: cause }));
      return false;
    }
  };

  return async (batch: Pick<Batch, 'claimed' | 'bodies'>, { ended, done, away }: BatchListener): Promise<Prepared> => {
    const { claimed } = batch;
    const answers = await askLive(ports, batch, (error) => {
      log.warn('deliveries are put off', { count: claimed.length, error });
      away();
    });
    const found = await readSubscriptions(
      ports,
      claimed.filter(({ id }) => answers.get(id)?.refusal === null),
    );
    const send = post(ports);
    const redirect = once((subscriptionId: string, origin: string) => deliveries.redirect(subscriptionId, origin));

    const attempt = async (
      delivery: Delivery,
      subscription: Subscription | undefined,
      { body, bubble, ownerLife }: Cleared,
    ): Promise<boolean> => {
      const startedAt = clock.now();
      if (!leaseLasts(delivery, startedAt, timing.deadlineMs)) return recording.postpone(delivery, 'lease_too_short');
      if (subscription === undefined) return recording.cancelled(delivery, 'subscription_deleted');
      const reason = lifeRefusal(subscription, ownerLife) ?? subscriptionRefusal(delivery, bubble, subscription);
      if (reason !== null) return recording.cancelled(delivery, reason);
      const origin = originOf(subscription);
      if (origin !== delivery.origin) {
        // It has no room at the origin to which it leads now: it is due again at once, and looks for it there like others.
        await redirect(delivery.subscriptionId, origin);
        return recording.postpone(delivery, 'moved');
      }
      const result = await send(delivery, subscription, { body, at: startedAt }).catch((error: unknown) => {
        if (isUnavailable(error)) away();
        throw error;
      });
      ended(delivery, result);
      return recording.attempted(delivery, result, startedAt);
    };
    const work = (delivery: Delivery): Promise<boolean> => {
      const asked = answers.get(delivery.id);
      if (wasLostTooOften(delivery)) return recording.attempted(delivery, LOST, clock.now());
      if (asked === undefined || found === null) return recording.postpone(delivery, 'service_away');
      if (asked.refusal !== null) return recording.cancelled(delivery, asked.refusal);
      return attempt(delivery, found.get(delivery.subscriptionId), asked);
    };
    return async () => {
      await Promise.all(
        claimed.map(async (delivery) => {
          done(delivery, await guarded(delivery, () => work(delivery)));
        }),
      );
    };
  };
};
