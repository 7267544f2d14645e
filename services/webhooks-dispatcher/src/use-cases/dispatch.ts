import type { Clock } from '@bubbles/shared/clock.ts';
import type { Ids } from '@bubbles/shared/ids.ts';
import type { Delivery } from '../domain/delivery.ts';
import type { Candidate, DeliveryStore } from '../ports.ts';

export interface DispatchLimits {
  /** Attempts in flight at one subscription. */
  readonly perSubscription: number;
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
  /** Makes the attempts of one batch; calls `done` as each ends. Never rejects. */
  readonly attemptAll: (claimed: readonly Delivery[], done: (delivery: Delivery) => void) => Promise<void>;
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

/** Who is on the wire now, by subscription. */
function slots({ perSubscription, perProcess, reservedForFirst }: DispatchLimits) {
  const busy = new Map<string, number>();
  let total = 0;
  return {
    total: () => total,
    saturated: () => [...busy].filter(([, count]) => count >= perSubscription).map(([id]) => id),
    /** Room for a delivery; those tried before leave the reserved slots alone. */
    fits: (attempt: number) => total < (attempt === 0 ? perProcess : perProcess - reservedForFirst),
    take({ subscriptionId, attempt }: Candidate): boolean {
      const count = busy.get(subscriptionId) ?? 0;
      if (count >= perSubscription || !this.fits(attempt)) return false;
      busy.set(subscriptionId, count + 1);
      total += 1;
      return true;
    },
    free(subscriptionId: string): void {
      const count = (busy.get(subscriptionId) ?? 1) - 1;
      total -= 1;
      if (count === 0) busy.delete(subscriptionId);
      else busy.set(subscriptionId, count);
    },
  };
}

/** Claims what is due under leases and keeps one slow receiver from holding up the others. */
export function dispatcher({ deliveries, clock, ids, limits, attemptAll, wake }: Ports): Dispatcher {
  const slot = slots(limits);
  const batches = new Set<Promise<void>>();

  const claim = async (): Promise<readonly Delivery[]> => {
    const now = clock.now();
    const candidates = await deliveries.due({ now, firstOnly: !slot.fits(1), not: slot.saturated(), limit: CANDIDATES_A_READ });
    const taken = candidates.filter((candidate) => slot.take(candidate));
    if (taken.length === 0) return [];
    const leaseUntil = new Date(now.getTime() + limits.leaseMs);
    const claimed = await deliveries.claim({ now, leaseUntil, leaseToken: ids.uuid(), ids: taken.map(({ id }) => id) }).catch((error) => {
      for (const { subscriptionId } of taken) slot.free(subscriptionId);
      throw error;
    });
    const mine = new Set(claimed.map(({ id }) => id));
    for (const { id, subscriptionId } of taken) if (!mine.has(id)) slot.free(subscriptionId);
    return claimed.length > 0 ? claimed : claim();
  };

  const start = (claimed: readonly Delivery[]) => {
    const batch = attemptAll(claimed, ({ subscriptionId }) => {
      slot.free(subscriptionId);
      wake();
    });
    batches.add(batch);
    batch.finally(() => batches.delete(batch)).catch(() => null);
  };

  return {
    async run() {
      for (let claimed = await claim(); claimed.length > 0; claimed = await claim()) start(claimed);
      return deliveries.nextDueAfter(clock.now());
    },
    async drained() {
      while (batches.size > 0) await Promise.allSettled(batches);
    },
    inFlight: () => ({ attempts: slot.total(), saturated: slot.saturated().length }),
  };
}
