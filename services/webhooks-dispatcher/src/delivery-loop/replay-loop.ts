import type { Clock } from '@bubbles/kernel/clock.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import { type Delivery, requeueOf } from '../domain/delivery.ts';
import { isReplayable, type Replay } from '../domain/replay.ts';
import type { Subscription } from '../domain/subscription.ts';
import type { DeliveryStore, ReplayStore, SubscriptionStore } from '../ports.ts';

interface Ports {
  readonly subscriptions: SubscriptionStore;
  readonly deliveries: DeliveryStore;
  readonly replays: ReplayStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** Wakes the delivery loop. */
  readonly wake: () => void;
}

const LEASE_MS = 60_000;
const DELIVERIES_PER_STEP = 100;
/** A replay adds deliveries while fewer than this are due: a new one waits behind this many at most. */
const MAX_DUE = 100;
/** When a replay without room looks again, unless this process has no attempt in flight before. */
const PAUSE_MS = 1000;
const REQUEUES_AT_ONCE = 16;

interface ReplayLoop {
  /** Works on the replays that are due or wait for room, one step at a time each; returns when the next one falls due. */
  run(): Promise<Date | null>;
  /** Whether the last run left replays that wait until some of their deliveries have ended. */
  waits(): boolean;
  /** Whether the last run queued deliveries. */
  advanced(): boolean;
}

/** A step that is interrupted is repeated, and queues nothing twice. */
export const createReplayLoop = ({ subscriptions, deliveries, replays, clock, ids, log, wake }: Ports): ReplayLoop => {
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
      await Promise.all(some.map((delivery) => deliveries.requeue(delivery.id, { ...requeueOf(delivery, subscription), ...request })));
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
    const failed = inSpan.filter((delivery) => isReplayable(delivery, subscription, replay));
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
  const claim = (now: Date) => replays.claim(now, { token: ids.uuid(), until: new Date(now.getTime() + LEASE_MS) });

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
