import type { Clock } from '@bubbles/kernel/clock.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import type { Delivery } from '../domain/delivery.ts';
import { ID_BYTES, replayId } from '../domain/ids.ts';
import { isReplayable, type Replay } from '../domain/replay.ts';
import type { Subscription } from '../domain/subscription.ts';
import type { Access, DeliveryStore, ReplayStore, SubscriptionStore } from '../ports.ts';
import { ownSubscription, requeueOf, requireEnabled } from './deliveries.ts';
import type { Owner } from './subscriptions.ts';

interface RequestPorts {
  readonly subscriptions: SubscriptionStore;
  readonly replays: ReplayStore;
  readonly access: Access;
  readonly clock: Clock;
  /** There is a replay to work on. */
  readonly wakeReplays: () => void;
}

export interface ReplayRequest {
  readonly subscriptionId: string;
  readonly since: Date;
  /** Null for the time of the request. */
  readonly until: Date | null;
  /** Those of the request: one that comes again finds the replay that it began. */
  readonly ids: Ids;
}

/** Of one millisecond. */
const AFTER_ALL_IDS = '~';

/** Only notes what is to be sent again: the work is the runner's. */
export const requestReplay = (ports: RequestPorts) => {
  const own = ownSubscription(ports);
  return async (owner: Owner, { subscriptionId, since, until, ids }: ReplayRequest): Promise<Replay> => {
    const now = ports.clock.now();
    const position = until === null || until > now ? { createdAt: now, id: AFTER_ALL_IDS } : { createdAt: until, id: '' };
    const end = position.createdAt;
    if (since >= end) throw new DomainError('invalid', 'since: must be in the past and before until');
    const subscription = await own(owner, subscriptionId);
    requireEnabled(subscription);
    const replay: Replay = {
      id: replayId(ids.bytes(ID_BYTES)),
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

interface RunnerPorts {
  readonly subscriptions: SubscriptionStore;
  readonly deliveries: DeliveryStore;
  readonly replays: ReplayStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** There are deliveries that are due. */
  readonly wake: () => void;
}

const LEASE_MS = 60_000;
const DELIVERIES_PER_STEP = 100;
/** As many of a subscription may be due before it gets more of the past: what becomes ready meanwhile waits behind so many at most. */
const MAX_DUE = 100;
/** A replay without room looks again after it, or when this process has no attempt in flight. */
const PAUSE_MS = 1000;
const REQUEUES_AT_ONCE = 16;

export interface ReplayRunner {
  /** Works on the replays that are due or wait for room, each a step at a time; answers when the next one falls due. */
  run(): Promise<Date | null>;
  /** Whether the last run left replays that wait until deliveries of theirs have ended. */
  waits(): boolean;
  /** Whether it queued deliveries before. */
  advanced(): boolean;
}

/** A step that is cut off is made again and queues nothing twice. */
export const replayRunner = ({ subscriptions, deliveries, replays, clock, ids, log, wake }: RunnerPorts): ReplayRunner => {
  const waiting = new Set<string>();
  let waits = false;
  let queued = 0;
  let advanced = false;

  const hasRoom = async (id: string): Promise<boolean> =>
    (await deliveries.dueOf(id, { now: clock.now(), firstOnly: false, limit: MAX_DUE })).length < MAX_DUE;

  const requeueAll = async (found: readonly Delivery[], subscription: Subscription, requeuedBy: string): Promise<void> => {
    for (let n = 0; n < found.length; n += REQUEUES_AT_ONCE) {
      const request = { at: clock.now(), requeuedBy };
      const some = found.slice(n, n + REQUEUES_AT_ONCE);
      await Promise.all(some.map((delivery) => deliveries.requeue(delivery.id, requeueOf(delivery, subscription, request))));
    }
    if (found.length > 0) wake();
  };

  const end = async (replay: Replay, why: string): Promise<void> => {
    await replays.end(replay);
    log.info('webhook replay ended', { subscriptionId: replay.subscriptionId, replayId: replay.id, why });
  };

  const step = async (replay: Replay): Promise<void> => {
    const { subscriptionId, since, position } = replay;
    const subscription = (await subscriptions.byIds([subscriptionId])).get(subscriptionId);
    if (subscription?.status !== 'active' || subscription.epoch !== replay.epoch) return end(replay, 'subscription changed');
    if (!(await hasRoom(subscriptionId))) {
      waiting.add(subscriptionId);
      return replays.move(replay, { position, dueAt: new Date(clock.now().getTime() + PAUSE_MS) });
    }
    const rows = await deliveries.page({ subscriptionId, status: null, position, limit: DELIVERIES_PER_STEP });
    const inSpan = rows.filter(({ createdAt }) => createdAt >= since);
    const last = inSpan.at(-1);
    const failed = inSpan.filter((delivery) => isReplayable(delivery, subscription));
    await requeueAll(failed, subscription, replay.id);
    queued += failed.length;
    if (last === undefined || inSpan.length < DELIVERIES_PER_STEP) return end(replay, 'done');
    return replays.move(replay, { position: { createdAt: last.createdAt, id: last.id }, dueAt: clock.now() });
  };

  const hasten = async (): Promise<void> => {
    if (waiting.size === 0) return;
    await replays.hasten([...waiting], clock.now());
    waiting.clear();
  };
  const claim = (now: Date) => replays.claim({ now, leaseUntil: new Date(now.getTime() + LEASE_MS), leaseToken: ids.uuid() });

  return {
    async run() {
      queued = 0;
      await hasten();
      for (let replay = await claim(clock.now()); replay !== null; replay = await claim(clock.now())) await step(replay);
      waits = waiting.size > 0;
      advanced = queued > 0;
      return replays.nextDue();
    },
    waits: () => waits,
    advanced: () => advanced,
  };
};
