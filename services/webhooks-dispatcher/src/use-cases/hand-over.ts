import type { Clock } from '@bubbles/kernel/clock.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import type { Delivery } from '../domain/delivery.ts';
import type { ClaimRequest, DeliveryStore, DueDelivery } from '../ports.ts';
import type { Batch, Claims } from './claims.ts';
import type { LookOut } from './look-out.ts';
import type { Slots } from './slots.ts';

interface Ports {
  readonly deliveries: Pick<DeliveryStore, 'insertEach'>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly limits: { readonly leaseMs: number };
  readonly slot: Slots;
  readonly look: Pick<LookOut, 'mayGoFirst'>;
  readonly claims: Pick<Claims, 'askAgain'>;
}

/** A delivery that is not in the store yet. */
export interface NewDelivery {
  readonly delivery: Delivery;
  /** Null when the kept body must be read before its attempt. */
  readonly body: Uint8Array | null;
}

const candidateOf = ({ id, subscriptionId, ownerId, origin, attemptCount }: DueDelivery): DueDelivery => ({
  id,
  subscriptionId,
  ownerId,
  origin,
  attemptCount,
});

/** As a claim leaves it. */
const leased = (delivery: Delivery, { leaseUntil, leaseToken }: Pick<ClaimRequest, 'leaseUntil' | 'leaseToken'>): Delivery => ({
  ...delivery,
  claimCount: delivery.claimCount + 1,
  claimableAt: leaseUntil,
  leaseToken,
});

/** What became of deliveries that were to be inserted. */
export interface HandedOver {
  /** Those that may begin: under a lease, with their slots. */
  readonly batch: Batch;
  /** Those that are due. */
  readonly waiting: readonly DueDelivery[];
  /** Whether there was one already, of which nothing is known. */
  readonly isRepeated: boolean;
}

/**
 * Inserts deliveries. Those that may begin at once are leased by their insert, so that they need no claim. `mayBegin` is whether there may be
 * such ones.
 */
export const handOver = ({ deliveries, clock, ids, limits, slot, look, claims }: Ports) => {
  const request = (): Omit<ClaimRequest, 'ids'> => {
    const now = clock.now();
    return { now, leaseUntil: new Date(now.getTime() + limits.leaseMs), leaseToken: ids.uuid() };
  };
  const takes = ({ delivery, body }: NewDelivery): boolean =>
    body !== null && delivery.status === 'pending' && look.mayGoFirst(delivery) && slot.take(delivery);

  return async (all: readonly NewDelivery[], mayBegin: boolean): Promise<HandedOver> => {
    const lease = request();
    const candidates = new Map<string, DueDelivery>();
    for (const one of all) if (mayBegin && takes(one)) candidates.set(one.delivery.id, one.delivery);
    const rows = all.map(({ delivery }) => (candidates.has(delivery.id) ? leased(delivery, lease) : delivery));
    const inserted = await deliveries.insertEach(rows).catch((error: unknown) => {
      if (candidates.size > 0) claims.askAgain({ candidates, request: { ...lease, ids: [...candidates.keys()] } });
      throw error;
    });
    const claimed = rows.filter(({ id }, n) => inserted[n] && candidates.has(id));
    const mine = new Set(claimed.map(({ id }) => id));
    for (const candidate of candidates.values()) if (!mine.has(candidate.id)) slot.free(candidate);
    const bodies = new Map(all.flatMap(({ delivery, body }) => (body !== null && mine.has(delivery.id) ? [[delivery.eventId, body]] : [])));
    const waiting = rows.filter(({ id, status }, n) => inserted[n] && status === 'pending' && !candidates.has(id)).map(candidateOf);
    return { batch: { candidates, claimed, bodies }, waiting, isRepeated: inserted.includes(false) };
  };
};
