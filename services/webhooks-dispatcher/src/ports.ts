import type { Plan } from '@bubbles/contracts/access.ts';
import type { CreatedPosition } from '@bubbles/kernel/cursors.ts';
import type { Lease } from '@bubbles/store/work/work-queue.ts';
import type { AttemptOutcome, CancelReason, Delivery, requeueOf, WebhookEvent } from './domain/delivery.ts';
import type { LiveReading } from './domain/eligibility.ts';
import type { Replay } from './domain/replay.ts';
import type { Subscription, SubscriptionQuota } from './domain/subscription.ts';

export interface SubscriptionStore {
  /** Atomic, also with those that others insert meanwhile. Nothing is inserted when its owner or its team has as many as the quota allows. */
  insert(subscription: Subscription, quota: SubscriptionQuota): Promise<'inserted' | 'user_full' | 'team_full' | 'id_taken'>;
  /** Those that there are, by id. */
  byIds(ids: readonly string[]): Promise<ReadonlyMap<string, Subscription>>;
  /** Whichever there is; null when there is none. */
  any(): Promise<Subscription | null>;
  ownedBy(ownerId: string, id: string): Promise<Subscription | null>;
  /** Newest first, from after `position`; all of them when `limit` is null. */
  listOf(ownerId: string, page: ListPage): Promise<Subscription[]>;
  /** Disabled ones too. */
  ofOwners(ownerIds: readonly string[]): Promise<Subscription[]>;
  /** Atomic. `change` runs again when another writer won and answers the fields that change; null means there is no such subscription of the owner. */
  update(ownerId: string, id: string, change: (before: Subscription) => SubscriptionChange): Promise<Subscription | null>;
  /** False when there was no such subscription of the owner. */
  delete(ownerId: string, id: string): Promise<boolean>;
  /** Of the owner, those that were made before this life of the account, which is not the first. */
  deleteOfEarlierLives(ownerId: string, life: number): Promise<void>;
  /** Each success of the life `epoch` ends the failures in a row. */
  succeeded(results: readonly EndedAttempt[]): Promise<void>;
  /** A failure counts once under its key, and the twentieth in a row disables. True when this one did. */
  failed(result: EndedAttempt & { readonly key: string }): Promise<boolean>;
}
export interface ListPage {
  /** Of the last row of the page before. */
  readonly position: CreatedPosition | null;
  readonly limit: number | null;
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
  /** Only what was never tried. */
  readonly firstOnly: boolean;
  readonly limit: number;
}

export interface DeliveryStore {
  /** False when there is one of this id, or of this subscription and event, already. */
  insert(delivery: Delivery): Promise<boolean>;
  /** Many at once, in no order; of each what `insert` says. */
  insertEach(deliveries: readonly Delivery[]): Promise<boolean[]>;
  /** What fell due at `since` or later, the longest due first, without the deliveries of the subscriptions `not`. */
  due(query: DueQuery & { readonly since: Date; readonly not: readonly string[] }): Promise<DueDelivery[]>;
  /** What is due of one subscription, the longest due first. */
  dueOf(subscriptionId: string, query: DueQuery): Promise<DueDelivery[]>;
  /** Those of `ids` that were still due and are under this lease now. Asked again with the same lease it is the same claim. */
  claim(now: Date, lease: Lease, ids: readonly string[]): Promise<Delivery[]>;
  /** Ends leases, each with what became of its delivery; how many leases there still were. What another worker has is left alone. */
  release(releases: readonly LeaseRelease[]): Promise<number>;
  /** The subscription leads to this origin now: so do its deliveries that are pending. */
  redirect(subscriptionId: string, origin: string): Promise<void>;
  /** When the next delivery falls due after `now`, postponed ones aside. */
  nextDueAfter(now: Date): Promise<Date | null>;
  /** Newest first, from after `position`. */
  page(query: DeliveryPage): Promise<Delivery[]>;
  ofSubscription(subscriptionId: string, id: string): Promise<Delivery | null>;
  /** Queues again a delivery that is finished, or waits under another epoch and would be cancelled; null when it is pending otherwise or there is none. */
  requeue(id: string, queue: Requeue): Promise<Delivery | null>;
  /** Leases of a process that is gone are due at once. */
  releaseLeases(now: Date): Promise<void>;
  /** Forgets deliveries that were made before `before` and are finished. */
  sweep(before: Date): Promise<void>;
  countDue(now: Date): Promise<{ readonly due: number; readonly oldest: Date | null }>;
}
export interface LeaseRelease {
  readonly id: string;
  readonly leaseToken: string;
  readonly as: /** An attempt was made: the delivery after it, with its record at the end of the log. */
    | { readonly kind: 'attempted'; readonly delivery: Delivery }
    | { readonly kind: 'cancelled'; readonly reason: CancelReason; readonly at: Date }
    /** The claim is given back, uncounted, until a service can be asked again. */
    | { readonly kind: 'postponed'; readonly until: Date };
}
interface Requeue extends ReturnType<typeof requeueOf> {
  /** Queues a delivery once. */
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
  /** By event, those that need not be read. */
  readonly bodies: ReadonlyMap<string, Uint8Array>;
}
export interface AttemptReport {
  /** Null when nothing was sent. */
  readonly outcome: AttemptOutcome | null;
  /** Whether the delivery never falls due again unless somebody asks for it. */
  readonly isFinished: boolean;
}
/**
 * Learns for a batch all that must be known before its attempts, and answers how to make the attempt at one of its deliveries, to its recorded end. Neither
 * rejects. `onAway` is called when a service that is asked before each attempt is away, or the name servers are.
 */
export type PrepareAttempts = (batch: ClaimedBatch, onAway: () => void) => Promise<(delivery: Delivery) => Promise<AttemptReport>>;

export interface EventStore {
  /** Harmless when it is there already: the id says what is in it. */
  insert(event: WebhookEvent): Promise<void>;
  /** Many at once, in no order; of each whether its body is the one that is kept now. */
  insertEach(events: readonly WebhookEvent[]): Promise<boolean[]>;
  /** Of those that there are, by id; null where it was dropped. */
  bodies(ids: readonly string[]): Promise<ReadonlyMap<string, Uint8Array | null>>;
  /** The body goes, and never comes where it is not there yet. */
  dropBody(event: Pick<WebhookEvent, 'id' | 'type'> & { readonly bubbleId: string; readonly at: Date }): Promise<void>;
  /** Forgets events that were made before `before`. */
  sweep(before: Date): Promise<void>;
}

export interface ReplayStore {
  /** False when the subscription has one already. */
  insert(replay: Replay): Promise<boolean>;
  ofSubscription(subscriptionId: string): Promise<Replay | null>;
  /** The longest due one is this worker's now; null when none is due. */
  claim(now: Date, lease: Lease): Promise<Replay | null>;
  /** Ends the lease; what another worker has is left alone. */
  move(replay: Replay, to: Pick<Replay, 'position' | 'dueAt'>): Promise<void>;
  /** Those of these subscriptions that nobody works on are due. */
  hasten(subscriptionIds: readonly string[], now: Date): Promise<void>;
  /** Forgets it; what another worker has is left alone. */
  end(replay: Replay): Promise<void>;
  nextDue(): Promise<Date | null>;
}

export interface OwnerAccess {
  readonly active: boolean;
  readonly pays: boolean;
  /** Of the account: what was made in an earlier one has ended. */
  readonly life: number;
  readonly memberships: readonly { readonly teamId: string; readonly hidden: boolean; readonly channelIds: readonly string[] }[];
}
interface TeamAccess {
  readonly plan: Plan;
  readonly archived: boolean;
}
/** Identity's live word on accounts and teams; rejects with `unavailable`. */
export interface Access {
  ask(query: { readonly userIds: readonly string[]; readonly teamIds: readonly string[] }): Promise<{
    readonly users: ReadonlyMap<string, OwnerAccess>;
    readonly teams: ReadonlyMap<string, TeamAccess>;
  }>;
}
/** bubbles-query's live word on who may read what, in the order asked; rejects with `unavailable`. */
export interface Readability {
  ask(pairs: readonly { readonly userId: string; readonly bubbleId: string }[]): Promise<LiveReading[]>;
}

interface Post {
  /** Already checked in its text; the address is judged when it is dialled. */
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}
/** Where deliveries go. */
export interface Receiver {
  /**
   * Whatever a receiver does is an outcome. Rejects when something of ours fails before the request is sent, or it is cut: with `unavailable` when no other
   * request would fare better now, as without name servers. Ends within the deadline.
   */
  post(post: Post): Promise<AttemptOutcome>;
  /** Ends every POST that is in flight, with the answer whose head is there or without an outcome. */
  cut(): void;
  close(): Promise<void>;
}

/**
 * Why an attempt waits: a service of ours is away, something of ours failed at it, its lease would not last, or it leads elsewhere now and waits for its
 * turn there.
 */
export type PostponeReason = 'service_away' | 'our_fault' | 'lease_too_short' | 'moved';

/** What an operator watches. */
export interface DispatchMetrics {
  attempted(attempt: Pick<AttemptOutcome, 'outcome' | 'tookMs'> & { readonly first: boolean; readonly lateMs: number }): void;
  cancelled(reason: CancelReason, count: number): void;
  /** An attempt that was due is not made now, and nobody is charged. */
  postponed(reason: PostponeReason): void;
  exhausted(count: number): void;
  disabled(): void;
  leasesLost(count: number): void;
}
