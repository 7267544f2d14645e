import type { Database, IndexSpec } from '@bubbles/store/collection.ts';
import { createDeliveryStore, type DeliveryDoc } from './deliveries.ts';
import { createEventStore, type EventDoc } from './events.ts';
import { createReplayStore, type ReplayDoc } from './replays.ts';
import { createSubscriptionStore, type SubscriptionDoc } from './subscriptions.ts';

/** The indexes of each collection. */
export const INDEXES = {
  subscriptions: [
    { name: 'owner', keys: { ownerId: 1, createdAt: -1, _id: -1 } },
    { name: 'team', keys: { teamId: 1 } },
    { name: 'places', keys: { places: 1 }, unique: true, sparse: true },
  ],
  events: [{ name: 'made', keys: { createdAt: 1 } }],
  deliveries: [
    { name: 'once', keys: { subscriptionId: 1, eventId: 1 }, unique: true },
    { name: 'due_v2', keys: { status: 1, claimableAt: 1, subscriptionId: 1, attempt: 1 } },
    { name: 'due_of', keys: { subscriptionId: 1, status: 1, claimableAt: 1, attempt: 1 } },
    { name: 'log', keys: { subscriptionId: 1, createdAt: -1, _id: -1 } },
    { name: 'log_by_status', keys: { subscriptionId: 1, status: 1, createdAt: -1, _id: -1 } },
    { name: 'made', keys: { createdAt: 1 } },
  ],
  replays: [{ name: 'due_at', keys: { dueAt: 1 } }],
} as const satisfies Readonly<Record<string, readonly IndexSpec[]>>;
const DROPPED_DELIVERY_INDEXES = ['due', 'first_due'];

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
    async ensureIndexes(): Promise<void> {
      await replays.ensureIndexes(INDEXES.replays);
      await subscriptions.ensureIndexes(INDEXES.subscriptions);
      await events.ensureIndexes(INDEXES.events);
      await deliveries.ensureIndexes(INDEXES.deliveries, DROPPED_DELIVERY_INDEXES);
    },
  };
};
