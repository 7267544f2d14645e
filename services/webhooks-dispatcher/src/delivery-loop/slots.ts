import type { AttemptOutcome } from '../domain/delivery.ts';
import type { DueDelivery } from '../ports.ts';

/** How many attempts may be in flight. Of those at an origin and in the process an owner may have no more than it leaves free for other owners. */
export interface SlotLimits {
  /** Per subscription; one while its receiver times out. */
  readonly perSubscription: number;
  /** Per origin, however many subscriptions share it. */
  readonly perOrigin: number;
  /** In this process. */
  readonly perProcess: number;
  /** Part of `perProcess` that is kept for first attempts. */
  readonly reservedForFirst: number;
  /** Part of `perProcess` that receivers that time out may use. */
  readonly forTimedOut: number;
}

export type SubscriptionKey = Pick<DueDelivery, 'subscriptionId' | 'ownerId' | 'origin'>;

const WHILE_TIMING_OUT = 1;
/** How many receivers that timed out are remembered; the next attempt at a forgotten one finds it again. */
const REMEMBERED = 10_000;

export function counter() {
  const counts = new Map<string, number>();
  return {
    of: (name: string) => counts.get(name) ?? 0,
    names: () => counts.keys(),
    add(name: string, count: number) {
      const sum = (counts.get(name) ?? 0) + count;
      if (sum === 0) counts.delete(name);
      else counts.set(name, sum);
    },
  };
}

/** Slots of which each owner has a share. */
function pool() {
  const owners = counter();
  let total = 0;
  const shareLeft = (ownerId: string, size: number) => Math.ceil((size - total - owners.of(ownerId)) / 2);
  return {
    total: () => total,
    /** How many more of `size` slots the owner may take: one more as long as it has fewer than are free. */
    shareLeft,
    /** Whether some owner has all that it may have of `size` slots. */
    isShareUsed: (size: number) => [...owners.names()].some((ownerId) => shareLeft(ownerId, size) <= 0),
    add(ownerId: string, count: number) {
      owners.add(ownerId, count);
      total += count;
    },
  };
}

/** A pool for each origin at which something is in flight. */
function originPools(size: number) {
  const pools = new Map<string, ReturnType<typeof pool>>();
  return {
    shareLeft: (origin: string, ownerId: string) => pools.get(origin)?.shareLeft(ownerId, size) ?? Math.ceil(size / 2),
    saturated: () => [...pools.values()].filter((one) => one.isShareUsed(size)).length,
    add(origin: string, ownerId: string, count: number) {
      const one = pools.get(origin) ?? pool();
      one.add(ownerId, count);
      if (one.total() === 0) pools.delete(origin);
      else pools.set(origin, one);
    },
  };
}

/** Subscriptions whose receivers let an attempt time out and have not answered since. */
function timingOut() {
  const ids = new Set<string>();
  return {
    has: (subscriptionId: string) => ids.has(subscriptionId),
    noteOutcome(subscriptionId: string, { outcome, status }: Pick<AttemptOutcome, 'outcome' | 'status'>) {
      if (status !== null) ids.delete(subscriptionId);
      if (outcome !== 'timeout') return;
      ids.delete(subscriptionId);
      ids.add(subscriptionId);
      if (ids.size > REMEMBERED) for (const oldest of ids.values().take(1)) ids.delete(oldest);
    },
  };
}

/** Counts the attempts in flight in this process and decides which subscriptions may start more. */
export interface Slots {
  total(): number;
  /** How many subscriptions have no room, and at how many origins some owner has none. */
  saturated(): number;
  /** Whether the process has room for a delivery with this many attempts; retries leave the reserved slots alone. */
  fits(attemptCount: number): boolean;
  /** How many more of the subscription's deliveries may be in flight; none when it, its origin or its owner has no room. */
  roomOf(key: SubscriptionKey, attemptCount: number): number;
  /** Counts this many as in flight until the returned function is called. */
  reserve(key: SubscriptionKey, count: number): () => void;
  /** False when there is no room. */
  take(due: DueDelivery): boolean;
  /** Gives back the slot that it took. */
  free(due: DueDelivery): void;
  /** How an attempt at the subscription ended. */
  noteOutcome(subscriptionId: string, outcome: Pick<AttemptOutcome, 'outcome' | 'status'>): void;
}

export function createSlots({ perSubscription, perOrigin, perProcess, reservedForFirst, forTimedOut }: SlotLimits): Slots {
  const subscriptions = counter();
  const origins = originPools(perOrigin);
  const [all, atTimingOut] = [pool(), pool()];
  const receivers = timingOut();
  const taken = new Map<DueDelivery, () => void>();

  const limitOf = (subscriptionId: string) => (receivers.has(subscriptionId) ? WHILE_TIMING_OUT : perSubscription);
  const sizeFor = (attemptCount: number) => (attemptCount === 0 ? perProcess : perProcess - reservedForFirst);
  const fits = (attemptCount: number) => all.total() < sizeFor(attemptCount);
  const roomOf = ({ subscriptionId, ownerId, origin }: SubscriptionKey, attemptCount: number) => {
    // This runs for every blocked subscription, and most have no room at their subscription or their origin.
    const left = Math.min(limitOf(subscriptionId) - subscriptions.of(subscriptionId), origins.shareLeft(origin, ownerId));
    if (left <= 0) return left;
    const share = Math.min(left, all.shareLeft(ownerId, sizeFor(attemptCount)));
    return receivers.has(subscriptionId) ? Math.min(share, atTimingOut.shareLeft(ownerId, forTimedOut)) : share;
  };
  const reserve = ({ subscriptionId, ownerId, origin }: SubscriptionKey, count: number) => {
    const pools = receivers.has(subscriptionId) ? [all, atTimingOut] : [all];
    const add = (of: number) => {
      subscriptions.add(subscriptionId, of);
      origins.add(origin, ownerId, of);
      for (const one of pools) one.add(ownerId, of);
    };
    add(count);
    return () => add(-count);
  };
  return {
    total: all.total,
    saturated: () => [...subscriptions.names()].filter((id) => subscriptions.of(id) >= limitOf(id)).length + origins.saturated(),
    fits,
    roomOf,
    reserve,
    take(due) {
      if (roomOf(due, due.attemptCount) <= 0) return false;
      taken.set(due, reserve(due, 1));
      return true;
    },
    free(due) {
      taken.get(due)?.();
      taken.delete(due);
    },
    noteOutcome: receivers.noteOutcome,
  };
}
