import { deliveryId } from './ids.ts';
import type { AttemptResult, Outcome } from './outcome.ts';
import type { ReadyBubble } from './ready-bubble.ts';
import type { DeliveredType, Subscription } from './subscription.ts';

export type DeliveryStatus = 'pending' | 'succeeded' | 'exhausted' | 'cancelled';

/** Frozen at fan-out: every attempt at every subscriber sends these bytes. */
export interface WebhookEvent {
  /** `evt_…` */
  readonly id: string;
  readonly type: DeliveredType;
  /** Null for a test. */
  readonly bubble: ReadyBubble | null;
  readonly body: Uint8Array;
  /** When it was frozen; it is kept as long as deliveries of that day. */
  readonly createdAt: Date;
}

export interface Attempt extends Omit<AttemptResult, 'detail'> {
  /** From 1, through redeliveries too. */
  readonly n: number;
  readonly startedAt: Date;
  /** Absent from lines that are older than it. */
  readonly detail?: AttemptResult['detail'];
}

export interface Delivery {
  /** `dlv_…`, the same over all attempts. */
  readonly id: string;
  readonly eventId: string;
  readonly subscriptionId: string;
  readonly ownerId: string;
  readonly type: DeliveredType;
  readonly bubble: ReadyBubble | null;
  /** Where the subscription led when this was queued or when an attempt last looked: deliveries to one origin share its room. */
  readonly origin: string;
  /** Of the subscription when this was queued. */
  readonly epoch: number;
  readonly status: DeliveryStatus;
  /** Why it was cancelled. */
  readonly reason: CancelReason | null;
  /** Attempts recorded so far. */
  readonly attempt: number;
  /** Attempts that were recorded when it was queued last: the schedule counts from here. */
  readonly base: number;
  /** How many attempts this queuing is worth. */
  readonly budget: number;
  /** Claims since it was made, less those that were given back. A claim without a recorded attempt was lost with its worker. */
  readonly claims: number;
  /** When it falls due, or when the lease of the one who works on it ends: the same thing. */
  readonly claimableAt: Date;
  readonly leaseToken: string | null;
  /** The request that queued it again by hand; null before the first. */
  readonly requeuedBy: string | null;
  readonly createdAt: Date;
  readonly finishedAt: Date | null;
  readonly log: readonly Attempt[];
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
/** Of a test to a disabled subscription. */
const ONE_ATTEMPT = 1;
const FIRST_DELAY_SECONDS = 60;
const MAX_DELAY_SECONDS = 900;
/** Claims that ended without a word before they use up an attempt. */
const MAX_LOST_CLAIMS = 3;

/** How many attempts a queuing is worth. */
export const budgetOf = (type: DeliveredType, { status }: Pick<Subscription, 'status'>): number =>
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
  attempt: 0,
  base: 0,
  budget: budgetOf(event.type, subscription),
  claims: 0,
  claimableAt: at,
  leaseToken: null,
  requeuedBy: null,
  createdAt: at,
  finishedAt: null,
  log: [],
});

/** As a claim leaves it. */
export const leased = (delivery: Delivery, lease: { readonly leaseUntil: Date; readonly leaseToken: string }): Delivery => ({
  ...delivery,
  claims: delivery.claims + 1,
  claimableAt: lease.leaseUntil,
  leaseToken: lease.leaseToken,
});

/** What a disabled subscription misses: in its log, and never sent unless somebody asks for it. */
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
  { attempt, base, createdAt, log }: Pick<Delivery, 'attempt' | 'base' | 'createdAt' | 'log'>,
  startedAt: Date,
): number {
  const last = log.at(-1);
  if (last === undefined) return startedAt.getTime() - createdAt.getTime();
  if (attempt === base) return 0;
  return startedAt.getTime() - (last.startedAt.getTime() + last.tookMs + retryDelaySeconds(attempt - base) * 1000);
}

/** Judged on a delivery that has just been claimed. */
export const wasLostTooOften = ({ claims, attempt }: Pick<Delivery, 'claims' | 'attempt'>): boolean =>
  claims - 1 - attempt >= MAX_LOST_CLAIMS;

/** What the receiver cannot be blamed for. */
export const chargesReceiver = (outcome: Outcome): boolean => outcome !== 'worker_lost';

export type Recorded = Pick<Delivery, 'status' | 'attempt' | 'claims' | 'claimableAt' | 'finishedAt'> & { readonly line: Attempt };

/** The state of a delivery after an attempt that ended at `endedAt`. */
export function record(delivery: Delivery, result: AttemptResult, times: { readonly startedAt: Date; readonly endedAt: Date }): Recorded {
  const { startedAt, endedAt } = times;
  const n = delivery.attempt + 1;
  const line: Attempt = { n, startedAt, ...result };
  const step = { attempt: n, claims: n, line };
  if (result.outcome === '2xx') return { ...step, status: 'succeeded', claimableAt: endedAt, finishedAt: endedAt };
  const round = n - delivery.base;
  if (round >= delivery.budget) return { ...step, status: 'exhausted', claimableAt: endedAt, finishedAt: endedAt };
  return { ...step, status: 'pending', claimableAt: new Date(endedAt.getTime() + retryDelaySeconds(round) * 1000), finishedAt: null };
}
