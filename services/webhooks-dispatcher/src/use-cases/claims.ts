import type { Clock } from '@bubbles/kernel/clock.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import type { Delivery } from '../domain/delivery.ts';
import type { ClaimRequest, DeliveryStore, DueDelivery } from '../ports.ts';
import type { LookOut } from './look-out.ts';
import type { Slots } from './slots.ts';

interface Ports {
  readonly deliveries: DeliveryStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly limits: { readonly leaseMs: number };
  readonly slot: Slots;
  readonly look: Pick<LookOut, 'find' | 'forget'>;
}

type Candidates = ReadonlyMap<string, DueDelivery>;

/** Deliveries that have their slots, and the lease that is asked for them. */
export interface Claim {
  readonly candidates: Candidates;
  readonly request: ClaimRequest;
}

/** Deliveries under a lease, and by id what each was when it got its slot. */
export interface Batch {
  readonly candidates: Candidates;
  readonly claimed: readonly Delivery[];
  /** By event, those that need not be read. */
  readonly bodies: ReadonlyMap<string, Uint8Array>;
}

const NO_BODIES: ReadonlyMap<string, Uint8Array> = new Map();

/** The claims of one worker. */
export interface Claims {
  /** Claims what is due and fits; null when there is nothing. `everything` as in the look-out. */
  next(everything: boolean): Promise<Batch | null>;
  /** The store did not say what became of this claim. Asked for again under its token it is the same one, whether it was made or not. */
  askAgain(claim: Claim): void;
}

/** Claims batch by batch what the look-out finds. */
export function claims({ deliveries, clock, ids, limits, slot, look }: Ports): Claims {
  const unanswered: Claim[] = [];

  const claimOf = (found: readonly DueDelivery[]): Claim => {
    const now = clock.now();
    const candidates = new Map(found.map((candidate) => [candidate.id, candidate]));
    const leaseUntil = new Date(now.getTime() + limits.leaseMs);
    return { candidates, request: { now, leaseUntil, leaseToken: ids.uuid(), ids: [...candidates.keys()] } };
  };
  const giveUp = ({ candidates }: Claim) => {
    for (const candidate of candidates.values()) slot.free(candidate);
    look.forget();
  };
  const nextClaim = async (everything: boolean): Promise<Claim | null> => {
    for (let claim = unanswered.shift(); claim !== undefined; claim = unanswered.shift()) {
      if (clock.now() < claim.request.leaseUntil) return claim;
      giveUp(claim);
    }
    const found = await look.find(everything);
    return found.length === 0 ? null : claimOf(found);
  };
  /** Each with the origin at which it has its slot, whatever has become of its origin since. */
  const answered = async (claim: Claim): Promise<Batch> => {
    const { candidates, request } = claim;
    const answer = await deliveries
      .claim(request)
      .catch(() => deliveries.claim(request))
      .catch((error: unknown) => {
        unanswered.push(claim);
        throw error;
      });
    const claimed = answer.map((delivery) => ({ ...delivery, origin: candidates.get(delivery.id)?.origin ?? delivery.origin }));
    const mine = new Set(claimed.map(({ id }) => id));
    for (const candidate of candidates.values()) if (!mine.has(candidate.id)) slot.free(candidate);
    return { candidates, claimed, bodies: NO_BODIES };
  };

  return {
    async next(everything) {
      for (let claim = await nextClaim(everything); claim !== null; claim = await nextClaim(everything)) {
        const batch = await answered(claim);
        if (batch.claimed.length > 0) return batch;
      }
      return null;
    },
    askAgain: (claim) => void unanswered.push(claim),
  };
}
