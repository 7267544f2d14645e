import type { Clock } from '@bubbles/shared/clock.ts';
import type { Candidate, DeliveryStore } from '../ports.ts';
import type { Slots, SubscriptionKey } from './slots.ts';

interface Ports {
  readonly deliveries: DeliveryStore;
  readonly clock: Clock;
  readonly slot: Slots;
}

/** Subscriptions with deliveries that are due and had no room. Their owners take turns, and of each owner its subscriptions. */
export interface BlockedSubscriptions {
  add(key: SubscriptionKey): void;
  ids(): readonly string[];
  /** Deliveries of those that have room now; they have their slots. */
  take(): Promise<readonly Candidate[]>;
}

/** What a subscription may take now. */
interface Room {
  readonly key: SubscriptionKey;
  readonly limit: number;
  readonly firstOnly: boolean;
}

const SUBSCRIPTIONS_PER_TAKE = 32;

/** Subscriptions in the order of their turns, by owner. */
function queuesByOwner() {
  const owners = new Map<string, Map<string, SubscriptionKey>>();
  const remove = ({ ownerId, subscriptionId }: SubscriptionKey): Map<string, SubscriptionKey> => {
    const own = owners.get(ownerId) ?? new Map<string, SubscriptionKey>();
    own.delete(subscriptionId);
    if (own.size === 0) owners.delete(ownerId);
    return own;
  };
  return {
    remove,
    add(key: SubscriptionKey) {
      const own = remove(key).set(key.subscriptionId, key);
      owners.set(key.ownerId, own);
    },
    /** The owner has had a turn. */
    passTurn({ ownerId }: SubscriptionKey) {
      const own = owners.get(ownerId);
      if (own === undefined) return;
      owners.delete(ownerId);
      owners.set(ownerId, own);
    },
    /** Of each owner, its subscriptions. */
    all: () => [...owners.values()].map((own) => own.values()),
    ids: () => [...owners.values()].flatMap((own) => [...own.keys()]),
  };
}

export function blockedSubscriptions({ deliveries, clock, slot }: Ports): BlockedSubscriptions {
  const queued = queuesByOwner();

  const roomOf = (key: SubscriptionKey): Room | null => {
    const forFirst = slot.roomOf(key, 0);
    if (forFirst <= 0) return null;
    const forAny = slot.roomOf(key, 1);
    return forAny > 0 ? { key, limit: forAny, firstOnly: false } : { key, limit: forFirst, firstOnly: true };
  };
  const nextOf = (queue: Iterator<SubscriptionKey>): Room | null => {
    for (let next = queue.next(); !next.done; next = queue.next()) {
      const room = roomOf(next.value);
      if (room !== null) return room;
    }
    return null;
  };
  /** One of each owner in turn, each with its part: what one gets the others do not. */
  const rooms = (): readonly Room[] => {
    const found: Room[] = [];
    const reserved: (() => void)[] = [];
    const takeTurn = (queue: Iterator<SubscriptionKey>): boolean => {
      const room = found.length < SUBSCRIPTIONS_PER_TAKE && slot.fits(0) ? nextOf(queue) : null;
      if (room === null) return false;
      reserved.push(slot.reserve(room.key, room.limit));
      found.push(room);
      return true;
    };
    for (let queues = queued.all(); queues.length > 0; ) queues = queues.filter(takeTurn);
    for (const giveBack of reserved) giveBack();
    return found;
  };

  const takeOf = ({ key, limit, firstOnly }: Room, found: readonly Candidate[]): readonly Candidate[] => {
    const taken = found.filter(slot.take);
    const isEmpty = !firstOnly && found.length < limit && taken.length === found.length;
    queued.passTurn(key);
    queued.remove(key);
    if (!isEmpty) queued.add(found.at(-1) ?? key);
    return taken;
  };

  return {
    add: queued.add,
    ids: queued.ids,
    async take() {
      if (!slot.fits(0)) return [];
      const open = rooms();
      const now = clock.now();
      // Slots are taken when all were read: those of a look that fails nobody would give back.
      const found = await Promise.all(open.map(({ key, ...query }) => deliveries.dueOf(key.subscriptionId, { now, ...query })));
      return open.flatMap((room, n) => takeOf(room, found[n] ?? []));
    },
  };
}
