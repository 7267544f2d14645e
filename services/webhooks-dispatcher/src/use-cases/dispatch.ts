import type { Clock } from '@bubbles/shared/clock.ts';
import type { Ids } from '@bubbles/shared/ids.ts';
import type { Delivery } from '../domain/delivery.ts';
import type { Candidate, DeliveryStore } from '../ports.ts';
import { type BatchListener, type Prepared, PUT_OFF_MS } from './attempt.ts';
import { lookOut } from './look-out.ts';
import { type SlotLimits, slots } from './slots.ts';

export interface DispatchLimits extends SlotLimits {
  /** How long a claim keeps others away, milliseconds; longer than an attempt can take. */
  readonly leaseMs: number;
}

interface Ports {
  readonly deliveries: DeliveryStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly limits: DispatchLimits;
  readonly prepare: (claimed: readonly Delivery[], listener: BatchListener) => Promise<Prepared>;
  /** There is room again. */
  readonly wake: () => void;
}

export interface Dispatcher {
  /** Takes on all that is due and fits; answers when the next delivery falls due. */
  run(): Promise<Date | null>;
  /** Resolves when no attempt is in flight: whether there was any. */
  drained(): Promise<boolean>;
  /** Nothing more is taken on. */
  retire(): void;
  inFlight(): { readonly attempts: number; readonly saturated: number };
}

/** Claims what is due under leases and keeps one slow receiver from holding up the others. */
export function dispatcher({ deliveries, clock, ids, limits, prepare, wake }: Ports): Dispatcher {
  const slot = slots(limits);
  const look = lookOut({ deliveries, clock, slot });
  const batches = new Set<Promise<void>>();
  /** While somebody is away a few batches find out every few seconds, not the whole backlog again and again. */
  let pausedUntil = Number.NEGATIVE_INFINITY;
  let retired = false;

  /** With their slots: these are where each was found, whatever has become of its origin since. */
  const lease = async (taken: readonly Candidate[]): Promise<readonly Delivery[]> => {
    const originOf = new Map(taken.map(({ id, origin }) => [id, origin]));
    const now = clock.now();
    const leaseUntil = new Date(now.getTime() + limits.leaseMs);
    let mine = new Set<string>();
    try {
      const claimed = await deliveries.claim({ now, leaseUntil, leaseToken: ids.uuid(), ids: taken.map(({ id }) => id) });
      mine = new Set(claimed.map(({ id }) => id));
      return claimed.map((delivery) => ({ ...delivery, origin: originOf.get(delivery.id) ?? delivery.origin }));
    } catch (error) {
      look.forget();
      throw error;
    } finally {
      for (const candidate of taken) if (!mine.has(candidate.id)) slot.free(candidate);
    }
  };

  /** Empty when nothing is due that fits. */
  const claim = async (): Promise<readonly Delivery[]> => {
    while (!retired && clock.monotonic() >= pausedUntil) {
      const taken = await look.find();
      if (taken.length === 0) return [];
      const claimed = await lease(taken);
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
      pausedUntil = clock.monotonic() + PUT_OFF_MS;
    },
  };
  const start = (attempts: Prepared) => {
    const batch = attempts().then(() => {
      batches.delete(batch);
    });
    batches.add(batch);
  };

  return {
    async run() {
      // One batch is prepared at a time: what ends meanwhile makes room for the next one to be large.
      for (let claimed = await claim(); claimed.length > 0; claimed = await claim()) start(await prepare(claimed, listener));
      return deliveries.nextDueAfter(clock.now());
    },
    async drained() {
      const wasBusy = batches.size > 0;
      while (batches.size > 0) await Promise.all(batches);
      return wasBusy;
    },
    retire() {
      retired = true;
    },
    inFlight: () => ({ attempts: slot.total(), saturated: slot.saturated() }),
  };
}
