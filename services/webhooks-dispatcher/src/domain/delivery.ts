import { deliveryId } from './ids.ts';
import type { DeliveredType, ReadyBubble, Subscription } from './subscription.ts';

/** Frozen at fan-out: every attempt for every subscription sends these bytes. */
export interface WebhookEvent {
  /** `evt_…` */
  readonly id: string;
  readonly type: DeliveredType;
  /** Null for a test. */
  readonly bubble: ReadyBubble | null;
  readonly body: Uint8Array;
  /** When it was frozen. It is kept as long as the deliveries of that day. */
  readonly createdAt: Date;
}

/** How one POST ended. */
export interface AttemptOutcome {
  /** Outcome for log and metrics. */
  readonly outcome:
    | '2xx'
    | '3xx'
    | '4xx'
    | '429'
    | '5xx'
    | 'timeout'
    | 'dns'
    | 'connect'
    | 'tls'
    | 'blocked_address'
    | 'reset'
    | 'protocol'
    | 'worker_lost';
  /** The receiver's status, null when it gave none. */
  readonly status: number | null;
  /** Wall time of the attempt, milliseconds. */
  readonly tookMs: number;
  /** The first characters of the receiver's answer, null when it gave none. */
  readonly preview: string | null;
  /** The reason, in words for the owner; null where status and answer say it. */
  readonly detail: string | null;
}

/** An attempt in the log of its delivery. */
export interface AttemptRecord extends Omit<AttemptOutcome, 'detail'> {
  /** From 1, through redeliveries too. */
  readonly number: number;
  readonly startedAt: Date;
  /** Absent from old records. */
  readonly detail?: AttemptOutcome['detail'];
}

export interface Delivery {
  /** `dlv_…`, the same for all attempts. */
  readonly id: string;
  readonly eventId: string;
  readonly subscriptionId: string;
  readonly ownerId: string;
  readonly type: DeliveredType;
  readonly bubble: ReadyBubble | null;
  /** The origin of the subscription's URL when this was queued, or when an attempt last read it: deliveries to one origin share its slots. */
  readonly origin: string;
  /** The epoch of the subscription when this was queued. */
  readonly epoch: number;
  readonly status: 'pending' | 'succeeded' | 'exhausted' | 'cancelled';
  /** Why it was cancelled. */
  readonly reason: CancelReason | null;
  /** Attempts recorded so far. */
  readonly attemptCount: number;
  /** Attempts recorded before it was queued last: the retry schedule counts from there. */
  readonly attemptsBeforeQueue: number;
  /** How many attempts there may be from then on. */
  readonly maxAttempts: number;
  /** Claims since it was made, less those that were given back. A claim without a recorded attempt was lost with its worker. */
  readonly claimCount: number;
  /** When it falls due; under a lease, when the lease ends: it is due again then. */
  readonly claimableAt: Date;
  readonly leaseToken: string | null;
  /** The request that queued it again by hand; null before the first. */
  readonly requeuedBy: string | null;
  /** `traceparent` of the work that first queued it, for the log. Deliveries of earlier releases have none. */
  readonly causedBy?: string | null;
  readonly createdAt: Date;
  readonly finishedAt: Date | null;
  readonly log: readonly AttemptRecord[];
}

export type CancelReason =
  | 'subscription_deleted'
  | 'subscription_changed'
  | 'subscription_disabled'
  | 'account_closed'
  | 'event_not_selected'
  | 'no_longer_matches'
  | 'plan_required'
  | 'team_archived'
  | 'bubble_not_readable'
  | 'not_participating'
  | 'event_expired';

const MAX_ATTEMPTS = 5;
/** A test to a disabled subscription is sent once. */
const ONE_ATTEMPT = 1;
const FIRST_DELAY_SECONDS = 60;
const MAX_DELAY_SECONDS = 900;
/** How many claims may be lost with their workers before they use up an attempt. */
const MAX_LOST_CLAIMS = 3;
/** How long a delivery waits for a service that could not be asked. */
export const POSTPONE_MS = 5000;

const maxAttemptsOf = (type: DeliveredType, { status }: Pick<Subscription, 'status'>): number =>
  type === 'webhook.test' && status === 'disabled' ? ONE_ATTEMPT : MAX_ATTEMPTS;

export const originOf = ({ url }: Pick<Subscription, 'url'>): string => new URL(url).origin;

/** A delivery of the event that is due now. */
export const queued = (event: Omit<WebhookEvent, 'body'>, subscription: Subscription, at: Date): Delivery => ({
  id: deliveryId(event.id, subscription.id),
  eventId: event.id,
  subscriptionId: subscription.id,
  ownerId: subscription.ownerId,
  type: event.type,
  bubble: event.bubble,
  origin: originOf(subscription),
  epoch: subscription.epoch,
  status: 'pending',
  reason: null,
  attemptCount: 0,
  attemptsBeforeQueue: 0,
  maxAttempts: maxAttemptsOf(event.type, subscription),
  claimCount: 0,
  claimableAt: at,
  leaseToken: null,
  requeuedBy: null,
  createdAt: at,
  finishedAt: null,
  log: [],
});

/** A retry schedule that starts over, for a delivery as it is now. */
export const requeueOf = (
  { attemptCount, type }: Delivery,
  subscription: Subscription,
): Pick<Delivery, 'epoch' | 'origin' | 'attemptsBeforeQueue' | 'maxAttempts'> => ({
  epoch: subscription.epoch,
  origin: originOf(subscription),
  attemptsBeforeQueue: attemptCount,
  maxAttempts: maxAttemptsOf(type, subscription),
});

/** A delivery that a disabled subscription misses: in its log, and sent only when it is queued again by hand. */
export const missed = (event: Omit<WebhookEvent, 'body'>, subscription: Subscription, at: Date): Delivery => ({
  ...queued(event, subscription, at),
  status: 'cancelled',
  reason: 'subscription_disabled',
  finishedAt: at,
});

/** Seconds from the end of the n-th failed attempt to the next. */
export const retryDelaySeconds = (n: number): number => Math.min(FIRST_DELAY_SECONDS * 2 ** (n - 1), MAX_DELAY_SECONDS);

/** Whether an attempt that begins now ends within the lease: after it another worker may make the same one. */
export const leaseLasts = ({ claimableAt }: Pick<Delivery, 'claimableAt'>, now: Date, deadlineMs: number): boolean =>
  now.getTime() + deadlineMs <= claimableAt.getTime();

/** Milliseconds from when an attempt fell due to when it began. */
export function lateness(
  { attemptCount, attemptsBeforeQueue, createdAt, log }: Pick<Delivery, 'attemptCount' | 'attemptsBeforeQueue' | 'createdAt' | 'log'>,
  startedAt: Date,
): number {
  const last = log.at(-1);
  if (last === undefined) return startedAt.getTime() - createdAt.getTime();
  if (attemptCount === attemptsBeforeQueue) return 0;
  const dueAtMs = last.startedAt.getTime() + last.tookMs + retryDelaySeconds(attemptCount - attemptsBeforeQueue) * 1000;
  return startedAt.getTime() - dueAtMs;
}

/** True when too many claims of a just claimed delivery ended without an attempt. */
export const wasLostTooOften = ({ claimCount, attemptCount }: Pick<Delivery, 'claimCount' | 'attemptCount'>): boolean =>
  claimCount - 1 - attemptCount >= MAX_LOST_CLAIMS;

/** The delivery after an attempt that ended at `endedAt`. */
export function afterAttempt(
  delivery: Delivery,
  outcome: AttemptOutcome,
  { startedAt, endedAt }: { readonly startedAt: Date; readonly endedAt: Date },
): Delivery {
  const number = delivery.attemptCount + 1;
  const record: AttemptRecord = { number, startedAt, ...outcome };
  const after = { ...delivery, attemptCount: number, claimCount: number, log: [...delivery.log, record] };
  if (outcome.outcome === '2xx') return { ...after, status: 'succeeded', claimableAt: endedAt, finishedAt: endedAt };
  const round = number - delivery.attemptsBeforeQueue;
  if (round >= delivery.maxAttempts) return { ...after, status: 'exhausted', claimableAt: endedAt, finishedAt: endedAt };
  return { ...after, status: 'pending', claimableAt: new Date(endedAt.getTime() + retryDelaySeconds(round) * 1000), finishedAt: null };
}
