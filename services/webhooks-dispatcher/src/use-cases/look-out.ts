import type { Clock } from '@bubbles/kernel/clock.ts';
import type { DeliveryStore, DueDelivery } from '../ports.ts';
import { type BlockedSubscriptions, blockedSubscriptions } from './blocked-subscriptions.ts';
import type { Slots, SubscriptionKey } from './slots.ts';

interface Ports {
  readonly deliveries: DeliveryStore;
  readonly clock: Clock;
  readonly slot: Slots;
}

export interface LookOut {
  /**
   * Deliveries that are due and have their slots now; none when there is nothing for which there is room. Only those of blocked subscriptions are looked
   * for where nothing else can be due: `everything` says whether it can.
   */
  find(everything: boolean): Promise<readonly DueDelivery[]>;
  /** It fell due just now and has no room. */
  block(candidate: DueDelivery): void;
  /** Whether there may be deliveries that are due and have not had room. */
  hasBacklog(): boolean;
  /** Whether a delivery that is due just now may have room before any other that is known to wait for it. */
  mayGoFirst(key: SubscriptionKey): boolean;
  /** What was found was not taken on after all: looks from the beginning again. */
  forget(): void;
}

const CANDIDATES_A_READ = 64;
/**
 * A delivery may come to light after it fell due: by the time that its write took, by as much as clocks differ, or whenever a store says so. The further
 * back, the rarer that is and the more there is to read over.
 */
const LOOKS_BACK = [
  { everyMs: 60_000, byMs: Number.POSITIVE_INFINITY },
  { everyMs: 5000, byMs: 60_000 },
  { everyMs: 500, byMs: 5000 },
  { everyMs: 0, byMs: 50 },
] as const;

/** From when on to look: everything before was seen, and was taken or is of a blocked subscription. */
function position() {
  let seenAt = 0;
  let looking: { readonly since: Date } | null = null;
  const begunAt = LOOKS_BACK.map(() => Number.NEGATIVE_INFINITY);
  const begin = (now: number): { readonly since: Date } => {
    // A clock that was set back is as good a reason as time that has passed.
    const depth = LOOKS_BACK.findIndex(({ everyMs }, at) => Math.abs(now - (begunAt[at] ?? 0)) >= everyMs);
    for (let at = depth; at < begunAt.length; at += 1) begunAt[at] = now;
    return { since: new Date(Math.max(0, Math.min(seenAt, now) - (LOOKS_BACK[depth]?.byMs ?? 0))) };
  };
  return {
    since(now: Date): Date {
      looking ??= begin(now.getTime());
      return looking.since;
    },
    allSeen(now: Date): void {
      seenAt = now.getTime();
      looking = null;
    },
  };
}

const fromTheBeginning = () => ({ all: position(), firstOnly: position() });

/** Reads what falls due in order of time, and each piece once. */
function ahead({ deliveries, clock, slot }: Ports, blocked: BlockedSubscriptions) {
  let positions = fromTheBeginning();
  /** All that was due at the last look has room or is of a blocked subscription. */
  let caughtUp = false;

  /** Takes those that fit; true when the subscriptions of the others are blocked. */
  const takeOrBlock = (candidates: readonly DueDelivery[], taken: DueDelivery[]): boolean => {
    let allKnown = true;
    for (const candidate of candidates) {
      if (slot.take(candidate)) taken.push(candidate);
      else if (slot.fits(candidate.attemptCount)) blocked.add(candidate);
      else allKnown = false;
    }
    return allKnown;
  };

  /** True when there may be more that fits. */
  const read = async (taken: DueDelivery[]): Promise<boolean> => {
    const now = clock.now();
    const firstOnly = !slot.fits(1);
    const place = firstOnly ? positions.firstOnly : positions.all;
    const query = { since: place.since(now), now, firstOnly, not: blocked.ids(), limit: CANDIDATES_A_READ };
    const found = await deliveries.due(query);
    const allKnown = takeOrBlock(found, taken);
    caughtUp = allKnown && found.length < CANDIDATES_A_READ;
    if (found.length === CANDIDATES_A_READ) return true;
    if (allKnown) place.allSeen(now);
    return !allKnown && !firstOnly;
  };

  return {
    async take(): Promise<readonly DueDelivery[]> {
      const taken: DueDelivery[] = [];
      for (let more = true; more && taken.length === 0 && slot.fits(0); ) more = await read(taken);
      return taken;
    },
    isCaughtUp: () => caughtUp,
    forget() {
      positions = fromTheBeginning();
      caughtUp = false;
    },
  };
}

/**
 * Finds deliveries for which there is room. A subscription without room is blocked: it is left out, and looked at by itself when there is room again, so that
 * the long queue of one costs the others nothing.
 */
export function lookOut(ports: Ports): LookOut {
  const blocked = blockedSubscriptions(ports);
  const reader = ahead(ports, blocked);
  let blockedFirst = false;
  return {
    async find(everything) {
      if (!everything && reader.isCaughtUp()) return blocked.take();
      blockedFirst = !blockedFirst;
      const [first, second] = blockedFirst ? [blocked.take, reader.take] : [reader.take, blocked.take];
      const taken = await first();
      return taken.length > 0 ? taken : second();
    },
    block(candidate) {
      // Otherwise it is found in its turn.
      if (reader.isCaughtUp()) blocked.addNew(candidate);
    },
    hasBacklog: () => !reader.isCaughtUp() || !blocked.isEmpty(),
    mayGoFirst: (key) => reader.isCaughtUp() && !blocked.waitBefore(key),
    forget: reader.forget,
  };
}
