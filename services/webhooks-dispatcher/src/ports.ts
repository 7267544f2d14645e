import type { CreatedPosition } from '@bubbles/kernel/cursors.ts';
import type { Lease } from '@bubbles/store/work/work-queue.ts';
import type { AttemptOutcome, CancelReason, Delivery, requeueOf, WebhookEvent } from './domain/delivery.ts';
import type { LiveReading } from './domain/eligibility.ts';
import type { Replay } from './domain/replay.ts';
import type { Subscription, SubscriptionQuota } from './domain/subscription.ts';

export interface SubscriptionStore {
  /** Atomic against other inserts. Inserts nothing when the owner or the team already has as many as the quota allows. */
  insert(subscription: Subscription, quota: SubscriptionQuota): Promise<'inserted' | 'user_full' | 'team_full' | 'id_taken'>;
  /** By id; ids that do not exist are left out. */
  byIds(ids: readonly string[]): Promise<ReadonlyMap<string, Subscription>>;
  /** Any one subscription; null when there is none. */
  any(): Promise<Subscription | null>;
  ownedBy(ownerId: string, id: string): Promise<Subscription | null>;
  /** Newest first, after `position`; all of them when `limit` is null. */
  listOf(ownerId: string, page: { readonly position: CreatedPosition | null; readonly limit: number | null }): Promise<Subscription[]>;
  /** Also the disabled ones. */
  ofOwners(ownerIds: readonly string[]): Promise<Subscription[]>;
  /** Atomic. `change` returns the fields that change, and runs again when another writer won. Null: the owner has no such subscription. */
  update(ownerId: string, id: string, change: (before: Subscription) => SubscriptionChange): Promise<Subscription | null>;
  /** False when there was no such subscription of the owner. */
  delete(ownerId: string, id: string): Promise<boolean>;
  /** Deletes the owner's subscriptions that were made before this life of the account. `life` is not the first one. */
  deleteOfEarlierLives(ownerId: string, life: number): Promise<void>;
  /** Each success of the life `epoch` ends the failures in a row. */
  succeeded(results: readonly EndedAttempt[]): Promise<void>;
  /** Counts a failure once per key; the twentieth in a row disables the subscription. True when this one did. */
  failed(result: EndedAttempt & { readonly key: string }): Promise<boolean>;
}
export interface EndedAttempt {
  readonly subscriptionId: string;
  readonly epoch: number;
  readonly at: Date;
}
export type SubscriptionChange = Partial<
  Pick<
    Subscription,
    | 'url'
    | 'events'
    | 'filters'
    | 'status'
    | 'secretSealed'
    | 'previousSecret'
    | 'disabledAt'
    | 'disabledReason'
    | 'consecutiveFailures'
    | 'countedFailureKeys'
    | 'epoch'
    | 'testedAt'
  >
>;

/** What the loop knows of a delivery before it has claimed it. */
export type DueDelivery = Pick<Delivery, 'id' | 'subscriptionId' | 'ownerId' | 'origin' | 'attemptCount'>;
interface DueQuery {
  readonly now: Date;
  /** Only deliveries without an attempt. */
  readonly firstOnly: boolean;
  readonly limit: number;
}

export interface DeliveryStore {
  /** False when there already is one with this id, or for this subscription and event. */
  insert(delivery: Delivery): Promise<boolean>;
  /** Many at once, in no order; returns for each what `insert` returns. */
  insertEach(deliveries: readonly Delivery[]): Promise<boolean[]>;
  /** What fell due at `since` or later, the longest due first, without deliveries of the subscriptions `not`. */
  due(query: DueQuery & { readonly since: Date; readonly not: readonly string[] }): Promise<DueDelivery[]>;
  /** What is due for one subscription, the longest due first. */
  dueOf(subscriptionId: string, query: DueQuery): Promise<DueDelivery[]>;
  /** Those of `ids` that were still due and are under this lease now. Asked again with the same lease it is the same claim. */
  claim(now: Date, lease: Lease, ids: readonly string[]): Promise<Delivery[]>;
  /** Ends leases, each with what became of its delivery. Returns how many of the leases still existed; a delivery under another lease is left alone. */
  release(releases: readonly LeaseRelease[]): Promise<number>;
  /** Gives the pending deliveries of a subscription whose URL changed their new origin. */
  redirect(subscriptionId: string, origin: string): Promise<void>;
  /** When the next delivery falls due after `now`, leaving out postponed ones. */
  nextDueAfter(now: Date): Promise<Date | null>;
  /** Newest first, after `position`. */
  page(query: DeliveryPage): Promise<Delivery[]>;
  ofSubscription(subscriptionId: string, id: string): Promise<Delivery | null>;
  /** Queues again a delivery that is finished, or waits under another epoch and would be cancelled; null when it is pending otherwise or there is none. */
  requeue(id: string, queue: Requeue): Promise<Delivery | null>;
  /** Makes all leased deliveries due. Only safe while no other process is working. */
  releaseLeases(now: Date): Promise<void>;
  /** Deletes finished deliveries that were created before `before`. */
  sweep(before: Date): Promise<void>;
  countDue(now: Date): Promise<{ readonly due: number; readonly oldest: Date | null }>;
}
export interface LeaseRelease {
  readonly id: string;
  readonly leaseToken: string;
  readonly as: /** An attempt was made: the delivery after it, with its record at the end of the log. */
    | { readonly kind: 'attempted'; readonly delivery: Delivery }
    | { readonly kind: 'cancelled'; readonly reason: CancelReason; readonly at: Date }
    /** The claim is given back and does not count; the delivery is due again at `until`. */
    | { readonly kind: 'postponed'; readonly until: Date };
}
interface Requeue extends ReturnType<typeof requeueOf> {
  /** The request; it queues a delivery once. */
  readonly requeuedBy: string;
  readonly at: Date;
}
export interface DeliveryPage {
  readonly subscriptionId: string;
  readonly status: Delivery['status'] | null;
  readonly position: CreatedPosition | null;
  readonly limit: number;
}

/** A delivery that is not in the store yet. */
export interface NewDelivery {
  readonly delivery: Delivery;
  /** Null when the kept body must be read before its attempt. */
  readonly body: Uint8Array | null;
}
/** Deliveries under a lease of this worker. */
export interface ClaimedBatch {
  readonly claimed: readonly Delivery[];
  /** Bodies by event id, of the events whose body need not be read. */
  readonly bodies: ReadonlyMap<string, Uint8Array>;
}
export interface AttemptReport {
  /** Null when nothing was sent. */
  readonly outcome: AttemptOutcome | null;
  /** Whether the delivery is done: it falls due again only when it is queued again by hand. */
  readonly isFinished: boolean;
}
/**
 * Reads and asks, for a whole batch, what must be known before its attempts. Returns the function that makes the attempt of one delivery, through to its
 * recorded outcome. Neither rejects. `onAway` is called when a service that is asked before each attempt cannot be reached, or the name servers cannot.
 */
export type PrepareAttempts = (batch: ClaimedBatch, onAway: () => void) => Promise<(delivery: Delivery) => Promise<AttemptReport>>;

/** Reads the trace of the current work. */
export interface Traces {
  /** `traceparent` of the current work; null outside of a trace. */
  current(): string | null;
  /** Wraps attempts so that each runs in the trace of its delivery and is logged. */
  ofAttempts(prepare: PrepareAttempts): PrepareAttempts;
}

export interface EventStore {
  /** Changes nothing when it is already stored: equal ids mean equal content. */
  insert(event: WebhookEvent): Promise<void>;
  /** Many at once, in no order; returns for each whether the stored body is this one. */
  insertEach(events: readonly WebhookEvent[]): Promise<boolean[]>;
  /** By id; null where the body was dropped, absent where there is no event. */
  bodies(ids: readonly string[]): Promise<ReadonlyMap<string, Uint8Array | null>>;
  /** Deletes the body, and keeps it from being stored later when the event does not exist yet. */
  dropBody(event: Pick<WebhookEvent, 'id' | 'type'> & { readonly bubbleId: string; readonly at: Date }): Promise<void>;
  /** Deletes events that were created before `before`. */
  sweep(before: Date): Promise<void>;
}

export interface ReplayStore {
  /** False when the subscription has one already. */
  insert(replay: Replay): Promise<boolean>;
  ofSubscription(subscriptionId: string): Promise<Replay | null>;
  /** Claims the one that has been due longest; null when none is due. */
  claim(now: Date, lease: Lease): Promise<Replay | null>;
  /** Ends the lease and writes the progress; a replay under another lease is left alone. */
  move(replay: Replay, to: Pick<Replay, 'position' | 'dueAt'>): Promise<void>;
  /** Makes the replays of these subscriptions due that are not under a lease. */
  hasten(subscriptionIds: readonly string[], now: Date): Promise<void>;
  /** Deletes it; a replay under another lease is left alone. */
  end(replay: Replay): Promise<void>;
  nextDue(): Promise<Date | null>;
}

export interface OwnerAccess {
  readonly active: boolean;
  readonly pays: boolean;
  /** The life of the account: subscriptions of an earlier one have ended. */
  readonly life: number;
  readonly memberships: readonly { readonly teamId: string; readonly hidden: boolean; readonly channelIds: readonly string[] }[];
}
interface TeamAccess {
  readonly plan: string;
  readonly archived: boolean;
}
/** Asks identity about accounts and teams; rejects with `unavailable`. */
export interface Access {
  ask(query: { readonly userIds: readonly string[]; readonly teamIds: readonly string[] }): Promise<{
    readonly users: ReadonlyMap<string, OwnerAccess>;
    readonly teams: ReadonlyMap<string, TeamAccess>;
  }>;
}
/** Asks bubbles-query for read access; answers in the order of the questions. Rejects with `unavailable`. */
export interface Readability {
  ask(pairs: readonly { readonly userId: string; readonly bubbleId: string }[]): Promise<LiveReading[]>;
}

interface Post {
  /** Its text was checked; its address is checked when it is dialled. */
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}
/** Sends deliveries. */
export interface Receiver {
  /**
   * Whatever a receiver does is an outcome. Rejects when something on our side fails before the request is sent, or `cut` ends it; with `unavailable` when no
   * other request could succeed now either, as without name servers. Settles within the deadline.
   */
  post(post: Post): Promise<AttemptOutcome>;
  /** Ends every POST in flight: with its outcome when the head of the answer has arrived, else by a rejection. */
  cut(): void;
  close(): Promise<void>;
}

/**
 * Why a due delivery is not attempted now: a service of ours is away, something failed on our side, its lease would end too soon, or the subscription has
 * another origin now, where it waits for its turn.
 */
export type PostponeReason = 'service_away' | 'our_fault' | 'lease_too_short' | 'moved';

/** Figures for operators. */
export interface DispatchMetrics {
  attempted(attempt: Pick<AttemptOutcome, 'outcome' | 'tookMs'> & { readonly first: boolean; readonly lateMs: number }): void;
  cancelled(reason: CancelReason, count: number): void;
  /** A due attempt is not made now, and does not count as one. */
  postponed(reason: PostponeReason): void;
  exhausted(count: number): void;
  disabled(): void;
  leasesLost(count: number): void;
}
