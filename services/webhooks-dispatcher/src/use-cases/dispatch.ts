import type { Clock } from '@bubbles/shared/clock.ts';
import type { Ids } from '@bubbles/shared/ids.ts';
import type { Delivery } from '../domain/delivery.ts';
import type { DeliveryStore } from '../ports.ts';
import { type BatchListener, type Prepared, PUT_OFF_MS } from './attempt.ts';
import { type Batch, claims } from './claims.ts';
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
export function dispatcher({ prepare, wake, ...ports }: Ports): Dispatcher {
  const { deliveries, clock, limits } = ports;
  const slot = slots(limits);
  const nextBatch = claims({ ...ports, slot });
  const batches = new Set<Promise<void>>();
  /** While somebody is away a few batches find out every few seconds, not the whole backlog again and again. */
  let pausedUntil = Number.NEGATIVE_INFINITY;
  let retired = false;

  /** Null when nothing is due that fits. */
  const claim = async (): Promise<Batch | null> => (retired || clock.monotonic() < pausedUntil ? null : nextBatch());
  const listenerOf = ({ candidates }: Batch): BatchListener => ({
    ended: ({ subscriptionId }, result) => slot.hear(subscriptionId, result),
    done({ id }) {
      const candidate = candidates.get(id);
      if (candidate !== undefined) slot.free(candidate);
      wake();
    },
    away() {
      pausedUntil = clock.monotonic() + PUT_OFF_MS;
    },
  });
  const start = (attempts: Prepared) => {
    const batch = attempts().then(() => {
      batches.delete(batch);
    });
    batches.add(batch);
  };

  return {
    async run() {
      // One batch is prepared at a time: what ends meanwhile makes room for the next one to be large.
      for (let batch = await claim(); batch !== null; batch = await claim()) start(await prepare(batch.claimed, listenerOf(batch)));
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
