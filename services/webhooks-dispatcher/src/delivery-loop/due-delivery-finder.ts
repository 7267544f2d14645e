import type { Clock } from '@bubbles/kernel/clock.ts';
import type { DeliveryStore, DueDelivery } from '../ports.ts';
import { type BlockedSubscriptions, createBlockedSubscriptions } from './blocked-subscriptions.ts';
import type { Slots, SubscriptionKey } from './slots.ts';

interface Ports {
  readonly deliveries: DeliveryStore;
  readonly clock: Clock;
  readonly slots: Slots;
}

export interface DueDeliveryFinder {
  /**
   * Deliveries that are due and have their slots now; none when there is nothing for which there is room. Only those of blocked subscriptions are looked
   * for where nothing else can be due: `everything` says whether it can.
   */
  find(everything: boolean): Promise<readonly DueDelivery[]>;
  /** It fell due just now and has no room. */
  block(due: DueDelivery): void;
  /** Whether there may be deliveries that are due and have not had room. */
  hasBacklog(): boolean;
  /** Whether a delivery that is due just now may have room before any other that is known to wait for it. */
  mayGoFirst(key: SubscriptionKey): boolean;
  /** What was found was not taken on after all: looks from the beginning again. */
  restart(): void;
}

const DELIVERIES_PER_READ = 64;
/**
 * A delivery may come to light after it fell due: by the time that its write took, by as much as clocks differ, or whenever a store says so. The further
 * back, the rarer that is and the more there is to read again.
 */
const RESCAN_WINDOWS = [
  { everyMs: 60_000, byMs: Number.POSITIVE_INFINITY },
  { everyMs: 5000, byMs: 60_000 },
  { everyMs: 500, byMs: 5000 },
  { everyMs: 0, byMs: 50 },
] as const;

/** From when on to look: everything before was seen, and was taken or is of a blocked subscription. */
function position() {
  let seenAt = 0;
  let looking: { readonly since: Date } | null = null;
  const begunAt = RESCAN_WINDOWS.map(() => Number.NEGATIVE_INFINITY);
  const begin = (now: number): { readonly since: Date } => {
    // A clock that was set back is as good a reason as time that has passed.
    const depth = RESCAN_WINDOWS.findIndex(({ everyMs }, at) => Math.abs(now - (begunAt[at] ?? 0)) >= everyMs);
    for (let at = depth; at < begunAt.length; at += 1) begunAt[at] = now;
    return { since: new Date(Math.max(0, Math.min(seenAt, now) - (RESCAN_WINDOWS[depth]?.byMs ?? 0))) };
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
function scanForward({ deliveries, clock, slots }: Ports, blocked: BlockedSubscriptions) {
  let positions = fromTheBeginning();
  /** All that was due at the last look has room or is of a blocked subscription. */
  let caughtUp = false;

  /** Takes those that fit; true when the subscriptions of the others are blocked. */
  const takeOrBlock = (found: readonly DueDelivery[], taken: DueDelivery[]): boolean => {
    let allKnown = true;
    for (const due of found) {
      if (slots.take(due)) taken.push(due);
      else if (slots.fits(due.attemptCount)) blocked.add(due);
      else allKnown = false;
    }
    return allKnown;
  };

  /** True when there may be more that fits. */
  const read = async (taken: DueDelivery[]): Promise<boolean> => {
    const now = clock.now();
    const firstOnly = !slots.fits(1);
    const from = firstOnly ? positions.firstOnly : positions.all;
    const query = { since: from.since(now), now, firstOnly, not: blocked.ids(), limit: DELIVERIES_PER_READ };
    const found = await deliveries.due(query);
    const allKnown = takeOrBlock(found, taken);
    caughtUp = allKnown && found.length < DELIVERIES_PER_READ;
    if (found.length === DELIVERIES_PER_READ) return true;
    if (allKnown) from.allSeen(now);
    return !allKnown && !firstOnly;
  };

  return {
    async take(): Promise<readonly DueDelivery[]> {
      const taken: DueDelivery[] = [];
      for (let more = true; more && taken.length === 0 && slots.fits(0); ) more = await read(taken);
      return taken;
    },
    isCaughtUp: () => caughtUp,
    restart() {
      positions = fromTheBeginning();
      caughtUp = false;
    },
  };
}

/**
 * Finds deliveries for which there is room. A subscription without room is blocked: it is left out, and looked at by itself when there is room again, so that
 * the long queue of one costs the others nothing.
 */
export function createDueDeliveryFinder(ports: Ports): DueDeliveryFinder {
  const blocked = createBlockedSubscriptions(ports);
  const reader = scanForward(ports, blocked);
  let blockedFirst = false;
  return {
    async find(everything) {
      if (!everything && reader.isCaughtUp()) return blocked.take();
      blockedFirst = !blockedFirst;
      const [first, second] = blockedFirst ? [blocked.take, reader.take] : [reader.take, blocked.take];
      const taken = await first();
      return taken.length > 0 ? taken : second();
    },
    block(due) {
      // Otherwise it is found in its turn.
      if (reader.isCaughtUp()) blocked.addNew(due);
    },
    hasBacklog: () => !reader.isCaughtUp() || !blocked.isEmpty(),
    mayGoFirst: (key) => reader.isCaughtUp() && !blocked.waitBefore(key),
    restart: reader.restart,
  };
}
