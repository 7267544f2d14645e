import type { Clock } from '@bubbles/shared/clock.ts';
import type { Ids } from '@bubbles/shared/ids.ts';
import type { Delivery } from '../domain/delivery.ts';
import type { Candidate, ClaimRequest, DeliveryStore } from '../ports.ts';
import { lookOut } from './look-out.ts';
import type { Slots } from './slots.ts';

interface Ports {
  readonly deliveries: DeliveryStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly limits: { readonly leaseMs: number };
  readonly slot: Slots;
}

type Candidates = ReadonlyMap<string, Candidate>;

/** Deliveries that have their slots, and the lease that is asked for them. */
interface Claim {
  readonly candidates: Candidates;
  readonly request: ClaimRequest;
}

/** Deliveries under a lease, and by id what each was when it got its slot. */
export interface Batch {
  readonly candidates: Candidates;
  readonly claimed: readonly Delivery[];
}

/** Claims what is due and fits, batch by batch; null when there is nothing. */
export function claims({ deliveries, clock, ids, limits, slot }: Ports): () => Promise<Batch | null> {
  const look = lookOut({ deliveries, clock, slot });
  /** The store did not say what became of it. Asked for again under its token it is the same claim, whether it was made or not. */
  let unanswered: Claim | null = null;

  const claimOf = (found: readonly Candidate[]): Claim => {
    const now = clock.now();
    const candidates = new Map(found.map((candidate) => [candidate.id, candidate]));
    const leaseUntil = new Date(now.getTime() + limits.leaseMs);
    return { candidates, request: { now, leaseUntil, leaseToken: ids.uuid(), ids: [...candidates.keys()] } };
  };
  const giveUp = ({ candidates }: Claim) => {
    for (const candidate of candidates.values()) slot.free(candidate);
    look.forget();
  };
  const next = async (): Promise<Claim | null> => {
    if (unanswered !== null && clock.now() < unanswered.request.leaseUntil) return unanswered;
    if (unanswered !== null) giveUp(unanswered);
    unanswered = null;
    const found = await look.find();
    return found.length === 0 ? null : claimOf(found);
  };
  /** Each with the origin at which it has its slot, whatever has become of its origin since. */
  const answered = async (claim: Claim): Promise<Batch> => {
    const { candidates, request } = claim;
    unanswered = claim;
    const answer = await deliveries.claim(request).catch(() => deliveries.claim(request));
    unanswered = null;
    const claimed = answer.map((delivery) => ({ ...delivery, origin: candidates.get(delivery.id)?.origin ?? delivery.origin }));
    const mine = new Set(claimed.map(({ id }) => id));
    for (const candidate of candidates.values()) if (!mine.has(candidate.id)) slot.free(candidate);
    return { candidates, claimed };
  };

  return async () => {
    for (let claim = await next(); claim !== null; claim = await next()) {
      const batch = await answered(claim);
      if (batch.claimed.length > 0) return batch;
    }
    return null;
  };
}
