import type { Clock } from '@bubbles/shared/clock.ts';
import type { Candidate, DeliveryStore } from '../ports.ts';
import type { Lane, Slots } from './slots.ts';

interface Ports {
  readonly deliveries: DeliveryStore;
  readonly clock: Clock;
  readonly slot: Slots;
}

/** Subscriptions with deliveries that are due and had no room. They take turns. */
export interface Lanes {
  queueUp(lane: Lane): void;
  subscriptionIds(): readonly string[];
  /** Deliveries of those that have room now; they have their slots. */
  take(): Promise<readonly Candidate[]>;
}

/** What of its room a lane may use. */
interface Share {
  readonly lane: Lane;
  readonly limit: number;
}

const LANES_A_LOOK = 32;

export function lanes({ deliveries, clock, slot }: Ports): Lanes {
  const originOf = new Map<string, string>();

  /** At the end. */
  const queueUp = ({ subscriptionId, origin }: Lane) => {
    originOf.delete(subscriptionId);
    originOf.set(subscriptionId, origin);
  };

  /** Lanes with room, each with its part of it: what one gets of an origin the others do not. */
  const open = (): readonly Share[] => {
    const given = new Map<string, number>();
    const found: Share[] = [];
    for (const [subscriptionId, origin] of originOf) {
      if (found.length === LANES_A_LOOK) break;
      const lane = { subscriptionId, origin };
      const limit = slot.roomOf(lane, given.get(origin));
      if (limit <= 0) continue;
      given.set(origin, (given.get(origin) ?? 0) + limit);
      found.push({ lane, limit });
    }
    return found;
  };

  const takeOf = ({ lane, limit }: Share, found: readonly Candidate[], firstOnly: boolean): readonly Candidate[] => {
    const taken = found.filter(slot.take);
    const isEmpty = !firstOnly && found.length < limit && taken.length === found.length;
    if (isEmpty) originOf.delete(lane.subscriptionId);
    else queueUp(found.at(-1) ?? lane);
    return taken;
  };

  return {
    queueUp,
    subscriptionIds: () => [...originOf.keys()],
    async take() {
      if (!slot.fits(0)) return [];
      const firstOnly = !slot.fits(1);
      const shares = open();
      const now = clock.now();
      // Slots are taken when all were read: those of a look that fails nobody would give back.
      const found = await Promise.all(shares.map(({ lane, limit }) => deliveries.dueOf(lane.subscriptionId, { now, firstOnly, limit })));
      return shares.flatMap((share, n) => takeOf(share, found[n] ?? [], firstOnly));
    },
  };
}
