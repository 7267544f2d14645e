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
   * Takes slots for deliveries that are due and returns them; none when there is nothing that fits. When `everything` is false, only blocked subscriptions
   * are searched, since nothing else can be due, except retries that had no room.
   */
  find(everything: boolean): Promise<readonly DueDelivery[]>;
  /** The delivery fell due just now and has no room. */
  block(due: DueDelivery): void;
  /** Whether there may be deliveries that are due and have not had room. */
  hasBacklog(): boolean;
  /** Whether a delivery that is due just now may have room before any other that is known to wait for it. */
  mayGoFirst(key: SubscriptionKey): boolean;
  /** Deliveries that were found were not taken on after all: searches from the start again. */
  restart(): void;
}

const DELIVERIES_PER_READ = 64;
/**
 * A delivery may become visible after it fell due: because its write took time, because clocks differ, or because the store was late or restored. The
 * further back, the rarer that is and the more there is to read again.
 */
const RESCAN_WINDOWS = [
  { everyMs: 60_000, byMs: Number.POSITIVE_INFINITY },
  { everyMs: 5000, byMs: 60_000 },
  { everyMs: 500, byMs: 5000 },
  { everyMs: 0, byMs: 50 },
] as const;

/** Where to read from: everything that fell due before was seen, and was taken or belongs to a blocked subscription. */
function position() {
  let seenAt = 0;
  let looking: { readonly since: Date } | null = null;
  const begunAt = RESCAN_WINDOWS.map(() => Number.NEGATIVE_INFINITY);
  const begin = (now: number): { readonly since: Date } => {
    // A clock that was set back is a reason too.
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

/** Reads what is due in the order of due times, each delivery once. */
function scanForward({ deliveries, clock, slots }: Ports, blocked: BlockedSubscriptions) {
  let positions = fromTheBeginning();
  /** Whether everything that was due at the last read was taken or belongs to a blocked subscription. */
  let caughtUp = false;
  /** Whether the last search to its end left retries out, because there was no room for them. */
  let retriesUnread = false;

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
    if (caughtUp) retriesUnread = firstOnly;
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
    /** Whether a read may find more than is known. */
    mayFind: () => !caughtUp || (retriesUnread && slots.fits(1)),
    mayBeMore: () => !caughtUp || retriesUnread,
    restart() {
      positions = fromTheBeginning();
      caughtUp = false;
    },
  };
}

/**
 * Finds due deliveries for which there is room. A subscription without room is blocked: reads leave it out, and it is read on its own when it has room again,
 * so that a long queue of one subscription costs the others nothing.
 */
export function createDueDeliveryFinder(ports: Ports): DueDeliveryFinder {
  const blocked = createBlockedSubscriptions(ports);
  const reader = scanForward(ports, blocked);
  let blockedFirst = false;
  return {
    async find(everything) {
      if (!everything && !reader.mayFind()) return blocked.take();
      blockedFirst = !blockedFirst;
      const [first, second] = blockedFirst ? [blocked.take, reader.take] : [reader.take, blocked.take];
      const taken = await first();
      return taken.length > 0 ? taken : second();
    },
    block(due) {
      // Otherwise the next reads find it.
      if (reader.isCaughtUp()) blocked.addNew(due);
    },
    hasBacklog: () => reader.mayBeMore() || !blocked.isEmpty(),
    mayGoFirst: (key) => reader.isCaughtUp() && !blocked.waitBefore(key),
    restart: reader.restart,
  };
}
