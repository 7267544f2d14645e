import type { Clock } from '@bubbles/kernel/clock.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import type { Lease } from '@bubbles/store/work/work-queue.ts';
import type { Delivery } from '../domain/delivery.ts';
import type { ClaimedBatch, DeliveryStore, DueDelivery, NewDelivery } from '../ports.ts';
import type { DueDeliveryFinder } from './due-delivery-finder.ts';
import type { Slots } from './slots.ts';

interface Ports {
  readonly deliveries: Pick<DeliveryStore, 'claim' | 'insertEach'>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly limits: { readonly leaseMs: number };
  readonly slots: Slots;
  readonly finder: DueDeliveryFinder;
}

/** Deliveries that have their slots, by id, and the lease that is requested for them. */
interface Claim {
  readonly slotted: ReadonlyMap<string, DueDelivery>;
  readonly at: Date;
  readonly lease: Lease;
}

/** Deliveries under a lease, and by id what each was when it got its slot. */
export interface SlottedBatch extends ClaimedBatch {
  readonly slotted: ReadonlyMap<string, DueDelivery>;
}

/** What became of deliveries that were to be inserted. */
interface Inserted {
  /** Those that may begin. */
  readonly batch: SlottedBatch;
  /** Those that are due and wait for room. */
  readonly waiting: readonly DueDelivery[];
  /** Whether one of them was there already, so that nothing is known of it. */
  readonly isRepeated: boolean;
}

const NO_BODIES: ReadonlyMap<string, Uint8Array> = new Map();

/** The delivery as a claim leaves it. */
const leased = (delivery: Delivery, { until, token }: Lease): Delivery => ({
  ...delivery,
  claimCount: delivery.claimCount + 1,
  claimableAt: until,
  leaseToken: token,
});

const dueOf = ({ id, subscriptionId, ownerId, origin, attemptCount }: Delivery): DueDelivery => ({
  id,
  subscriptionId,
  ownerId,
  origin,
  attemptCount,
});

/** By id. One that was found twice, by a read and by what told of it while it was inserted, needs one slot. */
const slottedOnce = (found: readonly DueDelivery[], slots: Slots): Claim['slotted'] => {
  const slotted = new Map<string, DueDelivery>();
  for (const due of found) {
    if (slotted.has(due.id)) slots.free(due);
    else slotted.set(due.id, due);
  }
  return slotted;
};

/** Claims deliveries under leases: those that the finder finds, and new ones as they are inserted. */
export function createClaims({ deliveries, clock, ids, limits, slots, finder }: Ports) {
  /** Claims that the store did not answer. Asking again with the same lease is the same claim, whether the first one was made or not. */
  const unanswered: Claim[] = [];

  const claimOf = (slotted: Claim['slotted']): Claim => {
    const at = clock.now();
    return { slotted, at, lease: { token: ids.uuid(), until: new Date(at.getTime() + limits.leaseMs) } };
  };
  const freeAll = ({ slotted }: Claim, claimed: readonly Delivery[]) => {
    const kept = new Set(claimed.map(({ id }) => id));
    for (const due of slotted.values()) if (!kept.has(due.id)) slots.free(due);
  };
  const nextClaim = async (everything: boolean): Promise<Claim | null> => {
    for (let claim = unanswered.shift(); claim !== undefined; claim = unanswered.shift()) {
      if (clock.now() < claim.lease.until) return claim;
      freeAll(claim, []);
      finder.restart();
    }
    const found = await finder.find(everything);
    return found.length === 0 ? null : claimOf(slottedOnce(found, slots));
  };
  /** Each delivery keeps the origin at which it has its slot, even when its stored origin has changed since. */
  const made = async (claim: Claim): Promise<SlottedBatch> => {
    const { slotted, at, lease } = claim;
    const ask = () => deliveries.claim(at, lease, [...slotted.keys()]);
    const answer = await ask()
      .catch(ask)
      .catch((error: unknown) => {
        unanswered.push(claim);
        throw error;
      });
    const claimed = answer.map((delivery) => ({ ...delivery, origin: slotted.get(delivery.id)?.origin ?? delivery.origin }));
    freeAll(claim, claimed);
    return { slotted, claimed, bodies: NO_BODIES };
  };
  const takeSlots = (all: readonly NewDelivery[]): Claim['slotted'] => {
    const fits = ({ delivery, body }: NewDelivery) =>
      body !== null && delivery.status === 'pending' && finder.mayGoFirst(delivery) && slots.take(delivery);
    return new Map(all.filter(fits).map(({ delivery }) => [delivery.id, delivery]));
  };

  return {
    /** Claims what is due and fits; null when there is nothing. `everything` is passed on to the finder. */
    async next(everything: boolean): Promise<SlottedBatch | null> {
      for (let claim = await nextClaim(everything); claim !== null; claim = await nextClaim(everything)) {
        const batch = await made(claim);
        if (batch.claimed.length > 0) return batch;
      }
      return null;
    },
    /** Inserts deliveries. If `mayBegin`, those for which there is room are leased by their insert and need no claim. */
    async insert(all: readonly NewDelivery[], mayBegin: boolean): Promise<Inserted> {
      const claim = claimOf(mayBegin ? takeSlots(all) : new Map<string, DueDelivery>());
      const { slotted, lease } = claim;
      const rows = all.map(({ delivery }) => (slotted.has(delivery.id) ? leased(delivery, lease) : delivery));
      const inserted = await deliveries.insertEach(rows).catch((error: unknown) => {
        if (slotted.size > 0) unanswered.push(claim);
        throw error;
      });
      const claimed = rows.filter(({ id }, n) => inserted[n] && slotted.has(id));
      freeAll(claim, claimed);
      const bodies = new Map(
        all.flatMap(({ delivery, body }) => (body !== null && slotted.has(delivery.id) ? [[delivery.eventId, body]] : [])),
      );
      const waiting = rows.filter(({ id, status }, n) => inserted[n] && status === 'pending' && !slotted.has(id)).map(dueOf);
      return { batch: { slotted, claimed, bodies }, waiting, isRepeated: inserted.includes(false) };
    },
  };
}
