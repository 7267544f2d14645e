import type { Database } from '@bubbles/shared/store/collection.ts';
import type { DeliveryStore, EventStore, SubscriptionStore } from '../../ports.ts';
import { DELIVERY_INDEXES, type DeliveryDoc, DROPPED_DELIVERY_INDEXES, deliveryStore } from './deliveries.ts';
import { EVENT_INDEXES, type EventDoc, eventStore } from './events.ts';
import { SUBSCRIPTION_INDEXES, type SubscriptionDoc, subscriptionStore } from './subscriptions.ts';

export interface Stores {
  readonly subscriptions: SubscriptionStore;
  readonly events: EventStore;
  readonly deliveries: DeliveryStore;
  ensureIndexes(): Promise<void>;
}

/** Everything that the dispatcher keeps. */
export function stores(database: Database): Stores {
  const subscriptions = database.collection<SubscriptionDoc>('subscriptions');
  const events = database.collection<EventDoc>('events');
  const deliveries = database.collection<DeliveryDoc>('deliveries');
  return {
    subscriptions: subscriptionStore(subscriptions),
    events: eventStore(events),
    deliveries: deliveryStore(deliveries),
    async ensureIndexes() {
      await subscriptions.ensureIndexes(SUBSCRIPTION_INDEXES);
      await events.ensureIndexes(EVENT_INDEXES);
      await deliveries.ensureIndexes(DELIVERY_INDEXES, DROPPED_DELIVERY_INDEXES);
    },
  };
}
