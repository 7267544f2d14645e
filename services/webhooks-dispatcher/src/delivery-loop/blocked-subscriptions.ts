import type { Clock } from '@bubbles/kernel/clock.ts';
import type { DeliveryStore, DueDelivery } from '../ports.ts';
import { counter, type Slots, type SubscriptionKey } from './slots.ts';

interface Ports {
  readonly deliveries: DeliveryStore;
  readonly clock: Clock;
  readonly slots: Slots;
}

/** Subscriptions with due deliveries that had no room. Owners take turns, and so do the subscriptions of each owner. */
export interface BlockedSubscriptions {
  add(key: SubscriptionKey): void;
  /** Adds the subscription of a delivery that fell due just now. */
  addNew(due: DueDelivery): void;
  ids(): readonly string[];
  isEmpty(): boolean;
  /** Whether another delivery already waits for the same room: one of the same owner, or at the same origin. */
  waitBefore(key: SubscriptionKey): boolean;
  /** Takes slots for deliveries of the subscriptions that have room now, and returns them. */
  take(): Promise<readonly DueDelivery[]>;
}

/** A subscription that waits for room. */
interface Waiting {
  readonly key: SubscriptionKey;
  /** Its deliveries that were read and have had no room yet, the longest due first. */
  readonly known: readonly DueDelivery[];
  /** Whether these were all that was due at the last read. */
  readonly isAll: boolean;
  /** Whether no first attempt but these was due then. */
  readonly isAllFirst: boolean;
}

/** What a subscription may take now. */
interface Room {
  readonly waiting: Waiting;
  readonly limit: number;
  readonly firstOnly: boolean;
}

/** Deliveries of one subscription that are due, and whether they are all. */
interface Read extends Pick<Waiting, 'isAll' | 'isAllFirst'> {
  readonly found: readonly DueDelivery[];
}

const SUBSCRIPTIONS_PER_ROUND = 32;
/** Others may have taken what is due of the first ones, or only their retries wait. */
const ROUNDS_PER_TAKE = 8;
/** One read serves this many slots that become free one after the other. */
const DELIVERIES_PER_READ = 32;

/** For a subscription that is not blocked: the next delivery that falls due is all there is. */
const NOTHING_WAITS: Omit<Waiting, 'key'> = { known: [], isAll: true, isAllFirst: true };

const NOTHING_SURE = { isAll: false, isAllFirst: false };

const isFirst = ({ attemptCount }: DueDelivery): boolean => attemptCount === 0;

const keyOf = ({ subscriptionId, ownerId, origin }: SubscriptionKey): SubscriptionKey => ({ subscriptionId, ownerId, origin });

/** Subscriptions in the order of their turns, by owner. */
function queuesByOwner() {
  const owners = new Map<string, Map<string, Waiting>>();
  const origins = counter();
  const remove = ({ ownerId, subscriptionId }: SubscriptionKey): Map<string, Waiting> => {
    const own = owners.get(ownerId) ?? new Map<string, Waiting>();
    const known = own.get(subscriptionId);
    if (known !== undefined) origins.add(known.key.origin, -1);
    own.delete(subscriptionId);
    if (own.size === 0) owners.delete(ownerId);
    return own;
  };
  return {
    remove,
    of: ({ ownerId, subscriptionId }: SubscriptionKey): Waiting | null => owners.get(ownerId)?.get(subscriptionId) ?? null,
    add(waiting: Waiting) {
      const { ownerId, subscriptionId, origin } = waiting.key;
      const own = remove(waiting.key).set(subscriptionId, waiting);
      owners.set(ownerId, own);
      origins.add(origin, 1);
    },
    /** Moves the owner to the end of the queue. */
    passTurn({ ownerId }: SubscriptionKey) {
      const own = owners.get(ownerId);
      if (own === undefined) return;
      owners.delete(ownerId);
      owners.set(ownerId, own);
    },
    /** The subscriptions of each owner. */
    all: () => [...owners.values()].map((own) => own.values()),
    ids: () => [...owners.values()].flatMap((own) => [...own.keys()]),
    isEmpty: () => owners.size === 0,
    waitBefore: ({ ownerId, origin }: SubscriptionKey) => owners.has(ownerId) || origins.of(origin) > 0,
  };
}

/** Whether something is known to wait that the room is for, or retries may have it too. */
const isSure = ({ waiting, firstOnly }: Room): boolean => !firstOnly || waiting.known.some(isFirst);

/** The blocked subscriptions that have room now. */
function roomsOf(queued: ReturnType<typeof queuesByOwner>, slots: Slots): () => readonly Room[] {
  const roomOf = (waiting: Waiting): Room | null => {
    const forFirst = slots.roomOf(waiting.key, 0);
    if (forFirst <= 0) return null;
    const forAny = slots.roomOf(waiting.key, 1);
    return forAny > 0 ? { waiting, limit: forAny, firstOnly: false } : { waiting, limit: forFirst, firstOnly: true };
  };
  /** Room for first attempts alone goes to one that is known to wait, before a subscription of which only retries may wait. */
  const nextOf = (queue: Iterator<Waiting>, mayUse: (unsure: Room) => boolean): Room | null => {
    let unsure: Room | null = null;
    for (let next = queue.next(); !next.done; next = queue.next()) {
      const room = roomOf(next.value);
      if (room === null) continue;
      if (isSure(room)) return room;
      if (mayUse(room)) unsure ??= room;
    }
    return unsure;
  };
  /** One subscription of each owner in turn. Each reserves its part, so that what one gets the others do not. */
  const takeTurns = (mayUse: (unsure: Room) => boolean): readonly Room[] => {
    const found: Room[] = [];
    const reserved: (() => void)[] = [];
    const takeTurn = (queue: Iterator<Waiting>): boolean => {
      const room = found.length < SUBSCRIPTIONS_PER_ROUND && slots.fits(0) ? nextOf(queue, mayUse) : null;
      if (room === null) return false;
      reserved.push(slots.reserve(room.waiting.key, room.limit));
      found.push(room);
      return true;
    };
    for (let queues = queued.all(); queues.length > 0; ) queues = queues.filter(takeTurn);
    for (const giveBack of reserved) giveBack();
    return found;
  };
  return () => {
    let passedOver = false;
    const found = takeTurns(({ waiting: { isAllFirst } }) => {
      passedOver ||= isAllFirst;
      return !isAllFirst;
    });
    // Where only retries were found, another process may have queued a first attempt since: that is looked for last.
    return passedOver && found.length === 0 ? takeTurns(() => true) : found;
  };
}

export function createBlockedSubscriptions({ deliveries, clock, slots }: Ports): BlockedSubscriptions {
  const queued = queuesByOwner();

  const rooms = roomsOf(queued, slots);

  return {
    add: (key) => queued.add({ key: keyOf(key), known: [], ...NOTHING_SURE }),
    addNew(due) {
      const { known, isAll, isAllFirst } = queued.of(due) ?? NOTHING_WAITS;
      const fits = isAll && known.length < DELIVERIES_PER_READ;
      const added = fits ? { known: [...known, due], isAllFirst } : { known, isAllFirst: isAllFirst && !isFirst(due) };
      queued.add({ key: keyOf(due), isAll: fits, ...added });
    },
    ids: queued.ids,
    isEmpty: queued.isEmpty,
    waitBefore: queued.waitBefore,
    async take() {
      for (let round = 0; round < ROUNDS_PER_TAKE && slots.fits(0); round += 1) {
        const open = rooms();
        const taken = await takeFrom(open);
        // Those of which something new became known make way for others.
        if (taken.length > 0 || !open.some((room) => isSure(room) || !room.waiting.isAllFirst)) return taken;
      }
      return [];
    },
  };

  async function takeFrom(open: readonly Room[]): Promise<readonly DueDelivery[]> {
    // Slots are taken after all reads: when one fails, no slot has to be given back.
    const read = await Promise.all(open.map((room) => readFor(room)));
    return open.flatMap((room, n) => takeOf(room, read[n] ?? null));
  }
  /** What is due for the room; null when enough was read before. */
  async function readFor({ waiting, limit, firstOnly }: Room): Promise<Read | null> {
    if (waiting.known.some((due) => !firstOnly || isFirst(due))) return null;
    const most = firstOnly ? limit : Math.max(limit, DELIVERIES_PER_READ);
    const found = await deliveries.dueOf(waiting.key.subscriptionId, { now: clock.now(), firstOnly, limit: most });
    const isAllFirst = found.length < most;
    return { found, isAll: !firstOnly && isAllFirst, isAllFirst };
  }
  function takeOf({ waiting, limit, firstOnly }: Room, read: Read | null): readonly DueDelivery[] {
    const { key, known } = waiting;
    const taken: DueDelivery[] = [];
    const left: DueDelivery[] = [];
    for (const due of [...known, ...(read?.found ?? [])]) {
      const fits = taken.length < limit && (!firstOnly || isFirst(due)) && slots.take(due);
      (fits ? taken : left).push(due);
    }
    // When it changed during the read, a delivery fell due that the read may have missed.
    const { isAll, isAllFirst } = queued.of(key) === waiting ? (read ?? waiting) : NOTHING_SURE;
    queued.passTurn(key);
    queued.remove(key);
    // It stays blocked until a read finds nothing more: other processes queue deliveries too.
    if (left.length > 0 || read === null || !isAll) queued.add({ key: left[0] ?? taken.at(-1) ?? key, known: left, isAll, isAllFirst });
    return taken;
  }
}
