import type { Database } from '@bubbles/store/collection.ts';
import { indexedCollections } from '@bubbles/store/indexed-collections.ts';
import { openDeliveries } from './deliveries.ts';
import { openEvents } from './events.ts';
import { openReplays } from './replays.ts';
import { openSubscriptions } from './subscriptions.ts';

/** Everything that the dispatcher keeps. */
export const openStores = (database: Database) => {
  const { open, ensureIndexes } = indexedCollections(database);
  return {
    subscriptions: openSubscriptions(open),
    events: openEvents(open),
    deliveries: openDeliveries(open),
    replays: openReplays(open),
    ensureIndexes,
  };
};
