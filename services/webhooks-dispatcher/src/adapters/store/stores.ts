import type { Database } from '@bubbles/store/collection.ts';
import type { DeliveryStore, EventStore, ReplayStore, SubscriptionStore } from '../../ports.ts';
import { DELIVERY_INDEXES, type DeliveryDoc, DROPPED_DELIVERY_INDEXES, deliveryStore } from './deliveries.ts';
import { EVENT_INDEXES, type EventDoc, eventStore } from './events.ts';
import { REPLAY_INDEXES, type ReplayDoc, replayStore } from './replays.ts';
import { SUBSCRIPTION_INDEXES, type SubscriptionDoc, subscriptionStore } from './subscriptions.ts';

export interface Stores {
  readonly subscriptions: SubscriptionStore;
  readonly events: EventStore;
  readonly deliveries: DeliveryStore;
  readonly replays: ReplayStore;
  ensureIndexes(): Promise<void>;
}

/** Everything that the dispatcher keeps. */
export function stores(database: Database): Stores {
  const subscriptions = database.collection<SubscriptionDoc>('subscriptions');
  const events = database.collection<EventDoc>('events');
  const deliveries = database.collection<DeliveryDoc>('deliveries');
  const replays = database.collection<ReplayDoc>('replays');
  return {
    subscriptions: subscriptionStore(subscriptions),
    events: eventStore(events),
    deliveries: deliveryStore(deliveries),
    replays: replayStore(replays),
    async ensureIndexes() {
      await replays.ensureIndexes(REPLAY_INDEXES);
      await subscriptions.ensureIndexes(SUBSCRIPTION_INDEXES);
      await events.ensureIndexes(EVENT_INDEXES);
      await deliveries.ensureIndexes(DELIVERY_INDEXES, DROPPED_DELIVERY_INDEXES);
    },
  };
}
