import type { StoreContext } from '@bubbles/host/service.ts';
import { indexedCollections } from '@bubbles/store/indexed-collections.ts';
import type { SimulatedRunDoc } from '../notetakers/simulator.ts';
import { openJoins } from './joins.ts';
import { openProviderEvents } from './provider-events.ts';
import { openQuotas } from './quotas.ts';
import { openWatchQueues } from './watch-queue.ts';

/** Everything that the gateway of meetings keeps. */
export const openStores = ({ database, ...options }: StoreContext) => {
  const { open, ensureIndexes } = indexedCollections(database);
  const { joins, documents, queues } = openJoins(open, options);
  return {
    joins,
    queues,
    quotas: openQuotas(open),
    ...openProviderEvents(open),
    ...openWatchQueues(open, documents),
    simulatedRuns: open<SimulatedRunDoc>('simulated_runs', [
      { name: 'requested_at', keys: { requestedAt: 1, _id: 1 } },
      { name: 'link_at', keys: { linkAt: 1 }, sparse: true },
    ]),
    /** Those whose documents carry events. */
    relayed: [documents],
    ensureIndexes,
  };
};
