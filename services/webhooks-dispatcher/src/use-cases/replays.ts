import type { Clock } from '@bubbles/kernel/clock.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import { newId } from '../domain/ids.ts';
import type { Replay } from '../domain/replay.ts';
import type { Access, ReplayStore, SubscriptionStore } from '../ports.ts';
import { type Owner, ownSubscription, requireEnabled } from './subscriptions.ts';

interface Ports {
  readonly subscriptions: SubscriptionStore;
  readonly replays: ReplayStore;
  readonly access: Access;
  readonly clock: Clock;
  /** Wakes the replay loop. */
  readonly wakeReplays: () => void;
}

interface ReplayRequest {
  readonly subscriptionId: string;
  readonly since: Date;
  /** Null for the time of the request. */
  readonly until: Date | null;
  /** The ids of the request: when it is repeated it finds the replay that it started. */
  readonly ids: Ids;
}

/** Sorts after every id, so that deliveries of the position's own millisecond are taken too. */
const AFTER_ALL_IDS = '~';

/** Stores the request only: the replay loop does the work. */
export const requestReplay = (ports: Ports) => {
  const own = ownSubscription(ports);
  return async (owner: Owner, { subscriptionId, since, until, ids }: ReplayRequest): Promise<Replay> => {
    const now = ports.clock.now();
    const position = until === null || until > now ? { createdAt: now, id: AFTER_ALL_IDS } : { createdAt: until, id: '' };
    const end = position.createdAt;
    if (since >= end) throw new DomainError('invalid', 'since: must be in the past and before until');
    const subscription = await own(owner, subscriptionId);
    requireEnabled(subscription);
    const replay: Replay = {
      id: newId('rpl', ids),
      subscriptionId: subscription.id,
      epoch: subscription.epoch,
      since,
      until: end,
      position,
      dueAt: now,
      leaseToken: null,
    };
    if (await ports.replays.insert(replay)) {
      ports.wakeReplays();
      return replay;
    }
    const running = await ports.replays.ofSubscription(subscription.id);
    if (running?.id === replay.id) return running;
    throw new DomainError('out_of_order', 'A replay of this subscription is in progress: wait for its end.', { retryAfterSeconds: 1 });
  };
};
