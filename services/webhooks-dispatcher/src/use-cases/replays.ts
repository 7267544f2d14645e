import type { Clock } from '@bubbles/kernel/clock.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import { newId } from '../domain/ids.ts';
import { isReplayable, type Replay } from '../domain/replay.ts';
import type { Subscription } from '../domain/subscription.ts';
import type { Access, DeliveryStore, ReplayStore, SubscriptionStore } from '../ports.ts';
import { type Owner, ownSubscription, requireEnabled } from './subscriptions.ts';

interface StartPorts {
  readonly replays: ReplayStore;
  readonly clock: Clock;
  /** Wakes the replay loop. */
  readonly wakeReplays: () => void;
}
interface Ports extends StartPorts {
  readonly subscriptions: SubscriptionStore;
  readonly access: Access;
}

interface Span {
  readonly since: Date;
  /** Null for the time of the request. */
  readonly until: Date | null;
}
interface ReplayRequest extends Span {
  readonly subscriptionId: string;
  /** The ids of the request: when it is repeated it finds the replay that it started. */
  readonly ids: Ids;
}

/** Sorts after every id, so that deliveries of the position's own millisecond are taken too. */
const AFTER_ALL_IDS = '~';

/** Position at which a replay of the span starts. */
const startOf = ({ since, until }: Span, now: Date): Replay['position'] => {
  const position = until === null || until > now ? { createdAt: now, id: AFTER_ALL_IDS } : { createdAt: until, id: '' };
  if (since >= position.createdAt) throw new DomainError('invalid', 'since: must be in the past and before until');
  return position;
};

/** Stores the request only: the replay loop does the work. */
const start = async (
  { replays, clock, wakeReplays }: StartPorts,
  subscription: Subscription,
  { ids, includesReceived, ...span }: Span & Required<Pick<Replay, 'includesReceived'>> & Pick<ReplayRequest, 'ids'>,
): Promise<Replay> => {
  const now = clock.now();
  const position = startOf(span, now);
  requireEnabled(subscription);
  const replay: Replay = {
    id: newId('rpl', ids),
    subscriptionId: subscription.id,
    epoch: subscription.epoch,
    since: span.since,
    until: position.createdAt,
    includesReceived,
    position,
    dueAt: now,
    leaseToken: null,
  };
  if (await replays.insert(replay)) {
    wakeReplays();
    return replay;
  }
  const running = await replays.ofSubscription(subscription.id);
  if (running?.id === replay.id) return running;
  throw new DomainError('out_of_order', 'A replay of this subscription is in progress: wait for its end.', { retryAfterSeconds: 1 });
};

export const requestReplay = (ports: Ports) => {
  const own = ownSubscription(ports);
  return async (owner: Owner, { subscriptionId, ...request }: ReplayRequest): Promise<Replay> => {
    startOf(request, ports.clock.now());
    return start(ports, await own(owner, subscriptionId), { ...request, includesReceived: false });
  };
};

interface OperatorRequest extends ReplayRequest, Required<Pick<Replay, 'includesReceived'>> {}

const anySubscription = async ({ subscriptions }: Pick<Ports, 'subscriptions'>, id: string): Promise<Subscription> => {
  const found = (await subscriptions.byIds([id])).get(id);
  if (found === undefined) throw new DomainError('not_found', 'No such webhook subscription.');
  return found;
};

/** Called by operators for any subscription. */
export const redeliverSpan =
  (ports: Omit<Ports, 'access'>) =>
  async ({ subscriptionId, ...request }: OperatorRequest): Promise<Replay> =>
    start(ports, await anySubscription(ports, subscriptionId), request);

const COUNTED_PER_PAGE = 1000;

/** Counts one page of the deliveries that `redeliverSpan` would queue; `next` starts the next page, null after the last one. */
export const countSpan =
  ({ deliveries, clock, ...ports }: Pick<Ports, 'subscriptions' | 'clock'> & { readonly deliveries: DeliveryStore }) =>
  async ({
    subscriptionId,
    after,
    ...request
  }: Omit<OperatorRequest, 'ids'> & { readonly after: Replay['position'] | null }): Promise<{
    readonly matching: number;
    readonly next: Replay['position'] | null;
  }> => {
    const begin = startOf(request, clock.now());
    const subscription = await anySubscription(ports, subscriptionId);
    requireEnabled(subscription);
    const rows = await deliveries.page({ subscriptionId, status: null, position: after ?? begin, limit: COUNTED_PER_PAGE });
    const inSpan = rows.filter(({ createdAt }) => createdAt >= request.since);
    const last = inSpan.length < COUNTED_PER_PAGE ? undefined : inSpan.at(-1);
    return {
      matching: inSpan.filter((delivery) => isReplayable(delivery, subscription, request)).length,
      next: last === undefined ? null : { createdAt: last.createdAt, id: last.id },
    };
  };
