import type { Clock } from '@bubbles/shared/clock.ts';
import type { Ids } from '@bubbles/shared/ids.ts';
import type { Delivery } from '../domain/delivery.ts';
import type { Candidate, DeliveryStore, Saturated } from '../ports.ts';
import { type BatchListener, PUT_OFF_MS } from './attempt.ts';

export interface DispatchLimits {
  /** Attempts in flight at one subscription. */
  readonly perSubscription: number;
  /** Attempts in flight at one origin, however many subscriptions lead there. */
  readonly perOrigin: number;
  /** Attempts in flight in this process. */
  readonly perProcess: number;
  /** Of those, kept for deliveries that were never tried. */
  readonly reservedForFirst: number;
  /** How long a claim keeps others away, milliseconds; longer than an attempt can take. */
  readonly leaseMs: number;
}

interface Ports {
  readonly deliveries: DeliveryStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly limits: DispatchLimits;
  /** Makes the attempts of one batch. Never rejects. */
  readonly attemptAll: (claimed: readonly Delivery[], listener: BatchListener) => Promise<void>;
  /** There is room again. */
  readonly wake: () => void;
}

export interface Dispatcher {
  /** Takes on all that is due and fits; answers when the next delivery falls due. */
  run(): Promise<Date | null>;
  /** Resolves when no attempt is in flight. */
  drained(): Promise<void>;
  inFlight(): { readonly attempts: number; readonly saturated: number };
}

const CANDIDATES_A_READ = 64;

type Place = Pick<Candidate, 'subscriptionId' | 'origin'>;

/** Room for so many at each of a kind. */
function room(limit: number) {
  const busy = new Map<string, number>();
  return {
    has: (key: string) => (busy.get(key) ?? 0) < limit,
    saturated: () => [...busy].filter(([, count]) => count >= limit).map(([key]) => key),
    take: (key: string) => busy.set(key, (busy.get(key) ?? 0) + 1),
    free(key: string) {
      const left = (busy.get(key) ?? 1) - 1;
      if (left === 0) busy.delete(key);
      else busy.set(key, left);
    },
  };
}

/** Who is on the wire now. */
function slots({ perSubscription, perOrigin, perProcess, reservedForFirst }: DispatchLimits) {
  const subscriptions = room(perSubscription);
  const origins = room(perOrigin);
  let total = 0;
  /** Room for a delivery; those tried before leave the reserved slots alone. */
  const fits = (attempt: number) => total < (attempt === 0 ? perProcess : perProcess - reservedForFirst);
  return {
    total: () => total,
    fits,
    saturated: (): Saturated => ({ subscriptionIds: subscriptions.saturated(), origins: origins.saturated() }),
    take({ subscriptionId, origin, attempt }: Candidate): boolean {
      if (!fits(attempt) || !subscriptions.has(subscriptionId) || !origins.has(origin)) return false;
      subscriptions.take(subscriptionId);
      origins.take(origin);
      total += 1;
      return true;
    },
    free({ subscriptionId, origin }: Place): void {
      subscriptions.free(subscriptionId);
      origins.free(origin);
      total -= 1;
    },
  };
}

/** Claims what is due under leases and keeps one slow receiver from holding up the others. */
export function dispatcher({ deliveries, clock, ids, limits, attemptAll, wake }: Ports): Dispatcher {
  const slot = slots(limits);
  const batches = new Set<Promise<void>>();
  /** While somebody is away a few batches find out every few seconds, not the whole backlog again and again. */
  let pausedUntil = new Date(0);

  const lease = async (taken: readonly Candidate[], now: Date): Promise<readonly Delivery[]> => {
    const leaseUntil = new Date(now.getTime() + limits.leaseMs);
    let mine = new Set<string>();
    try {
      const claimed = await deliveries.claim({ now, leaseUntil, leaseToken: ids.uuid(), ids: taken.map(({ id }) => id) });
      mine = new Set(claimed.map(({ id }) => id));
      return claimed;
    } finally {
      for (const candidate of taken) if (!mine.has(candidate.id)) slot.free(candidate);
    }
  };

  /** Empty when nothing is due that fits. */
  const claim = async (): Promise<readonly Delivery[]> => {
    for (let now = clock.now(); slot.fits(0) && now >= pausedUntil; now = clock.now()) {
      const candidates = await deliveries.due({ now, firstOnly: !slot.fits(1), not: slot.saturated(), limit: CANDIDATES_A_READ });
      const taken = candidates.filter(slot.take);
      if (taken.length === 0) return [];
      const claimed = await lease(taken, now);
      if (claimed.length > 0) return claimed;
    }
    return [];
  };

  const listener: BatchListener = {
    done(delivery) {
      slot.free(delivery);
      wake();
    },
    away() {
      pausedUntil = new Date(clock.now().getTime() + PUT_OFF_MS);
    },
  };
  const start = (claimed: readonly Delivery[]) => {
    const batch = attemptAll(claimed, listener).then(() => {
      batches.delete(batch);
    });
    batches.add(batch);
  };

  return {
    async run() {
      for (let claimed = await claim(); claimed.length > 0; claimed = await claim()) start(claimed);
      return deliveries.nextDueAfter(clock.now());
    },
    async drained() {
      while (batches.size > 0) await Promise.all(batches);
    },
    inFlight() {
      const { subscriptionIds, origins } = slot.saturated();
      return { attempts: slot.total(), saturated: subscriptionIds.length + origins.length };
    },
  };
}
