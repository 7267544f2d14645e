import type { Candidate } from '../ports.ts';

/** How many attempts may be in flight. */
export interface SlotLimits {
  /** At one subscription. */
  readonly perSubscription: number;
  /** At one origin, however many subscriptions lead there. */
  readonly perOrigin: number;
  /** In this process. */
  readonly perProcess: number;
  /** Of those, kept for deliveries that were never tried. */
  readonly reservedForFirst: number;
}

export type Lane = Pick<Candidate, 'subscriptionId' | 'origin'>;

/** Room for so many at each of a kind. */
function room(limit: number) {
  const busy = new Map<string, number>();
  return {
    left: (key: string) => limit - (busy.get(key) ?? 0),
    saturated: () => [...busy.values()].filter((count) => count >= limit).length,
    take: (key: string) => busy.set(key, (busy.get(key) ?? 0) + 1),
    free(key: string) {
      const count = (busy.get(key) ?? 1) - 1;
      if (count === 0) busy.delete(key);
      else busy.set(key, count);
    },
  };
}

/** Who is on the wire now. */
export interface Slots {
  total(): number;
  /** Subscriptions and origins without room. */
  saturated(): number;
  /** Whether the process has room for a delivery; those tried before leave the reserved slots alone. */
  fits(attempt: number): boolean;
  /** How many more the subscription and its origin may have, when so many of the origin's are given away. */
  roomOf(lane: Lane, given?: number): number;
  /** False when there is no room. */
  take(candidate: Candidate): boolean;
  free(lane: Lane): void;
}

export function slots({ perSubscription, perOrigin, perProcess, reservedForFirst }: SlotLimits): Slots {
  const subscriptions = room(perSubscription);
  const origins = room(perOrigin);
  let total = 0;
  const fits = (attempt: number) => total < (attempt === 0 ? perProcess : perProcess - reservedForFirst);
  const roomOf = ({ subscriptionId, origin }: Lane, given = 0) =>
    Math.min(subscriptions.left(subscriptionId), origins.left(origin) - given);
  return {
    total: () => total,
    saturated: () => subscriptions.saturated() + origins.saturated(),
    fits,
    roomOf,
    take(candidate) {
      if (!fits(candidate.attempt) || roomOf(candidate) <= 0) return false;
      subscriptions.take(candidate.subscriptionId);
      origins.take(candidate.origin);
      total += 1;
      return true;
    },
    free({ subscriptionId, origin }) {
      subscriptions.free(subscriptionId);
      origins.free(origin);
      total -= 1;
    },
  };
}
