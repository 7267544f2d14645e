import type { DestinationPolicy } from '@bubbles/address-guard/destination-url.ts';
import type { Clock } from '@bubbles/kernel/clock.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import type { Seal } from '@bubbles/kernel/seal.ts';
import { createDeliveryLoop, type DeliveryLoopLimits } from './delivery-loop/delivery-loop.ts';
import { createReplayLoop } from './delivery-loop/replay-loop.ts';
import type { SubscriptionQuota } from './domain/subscription.ts';
import type {
  Access,
  DeliveryStore,
  DispatchMetrics,
  EventStore,
  Readability,
  Receiver,
  ReplayStore,
  SubscriptionStore,
  Traces,
} from './ports.ts';
import { prepareAttempts } from './use-cases/attempt.ts';
import { listDeliveries, listFailures, readDelivery, redeliver, testSubscription } from './use-cases/deliveries.ts';
import { fanOut } from './use-cases/fan-out.ts';
import { countSpan, redeliverSpan, requestReplay } from './use-cases/replays.ts';
import { dropBodies, sweepDeliveries } from './use-cases/retention.ts';
import {
  changeSubscription,
  createSubscription,
  deleteSubscription,
  getSubscription,
  listSubscriptions,
  rotateSecret,
} from './use-cases/subscriptions.ts';

interface AppPorts {
  readonly subscriptions: SubscriptionStore;
  readonly events: EventStore;
  readonly deliveries: DeliveryStore;
  readonly replays: ReplayStore;
  readonly access: Access;
  readonly readability: Readability;
  readonly receiver: Receiver;
  readonly receivers: DestinationPolicy;
  readonly seal: Seal;
  readonly metrics: DispatchMetrics;
  readonly traces: Traces;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly limits: DeliveryLoopLimits;
  readonly quota: SubscriptionQuota;
  readonly timing: { readonly deadlineMs: number; readonly pollMs: number };
  readonly headerName: string;
  readonly userAgent: string;
  readonly sampleBubble: (id: string, at: Date) => unknown;
  /** Wakes the delivery loop. */
  readonly wake: () => void;
  /** Wakes the replay loop. */
  readonly wakeReplays: () => void;
  /** Called when no attempt is in flight any more. */
  readonly quiet: () => void;
}

/** Use cases that queue deliveries hand them to the loop. */
const withDeliveryLoop = (ports: AppPorts) => {
  const deliveryLoop = createDeliveryLoop({ ...ports, prepare: ports.traces.ofAttempts(prepareAttempts(ports)) });
  return { ...ports, deliveryLoop, wake: deliveryLoop.wake, enqueue: deliveryLoop.enqueue };
};

/** What the webhooks dispatcher can do. */
export const createApp = (given: AppPorts) => {
  const ports = withDeliveryLoop(given);
  return {
    createSubscription: createSubscription(ports),
    listSubscriptions: listSubscriptions(ports),
    getSubscription: getSubscription(ports),
    changeSubscription: changeSubscription(ports),
    deleteSubscription: deleteSubscription(ports),
    rotateSecret: rotateSecret(ports),
    testSubscription: testSubscription(ports),
    listDeliveries: listDeliveries(ports),
    readDelivery: readDelivery(ports),
    redeliver: redeliver(ports),
    listFailures: listFailures(ports),
    requestReplay: requestReplay(ports),
    redeliverSpan: redeliverSpan(ports),
    countSpan: countSpan(ports),

    fanOut: fanOut(ports),
    replays: createReplayLoop(ports),
    dropBodies: dropBodies(ports),
    deliveryLoop: ports.deliveryLoop,
    sweepDeliveries: sweepDeliveries(ports),
  };
};
export type App = ReturnType<typeof createApp>;
