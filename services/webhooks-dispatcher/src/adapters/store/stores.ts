import type { Database } from '@bubbles/store/collection.ts';
import { createDeliveryStore, DELIVERY_INDEXES, type DeliveryDoc, DROPPED_DELIVERY_INDEXES } from './deliveries.ts';
import { createEventStore, EVENT_INDEXES, type EventDoc } from './events.ts';
import { createReplayStore, REPLAY_INDEXES, type ReplayDoc } from './replays.ts';
import { createSubscriptionStore, SUBSCRIPTION_INDEXES, type SubscriptionDoc } from './subscriptions.ts';

/** Everything that the dispatcher keeps. */
export const openStores = (database: Database) => {
  const subscriptions = database.collection<SubscriptionDoc>('subscriptions');
  const events = database.collection<EventDoc>('events');
  const deliveries = database.collection<DeliveryDoc>('deliveries');
  const replays = database.collection<ReplayDoc>('replays');
  return {
    subscriptions: createSubscriptionStore(subscriptions),
    events: createEventStore(events),
    deliveries: createDeliveryStore(deliveries),
    replays: createReplayStore(replays),
    ensureIndexes: async (): Promise<void> => {
      await replays.ensureIndexes(REPLAY_INDEXES);
      await subscriptions.ensureIndexes(SUBSCRIPTION_INDEXES);
      await events.ensureIndexes(EVENT_INDEXES);
      await deliveries.ensureIndexes(DELIVERY_INDEXES, DROPPED_DELIVERY_INDEXES);
    },
  };
};
export type Stores = ReturnType<typeof openStores>;
