import type { Database } from '@bubbles/shared/store/collection.ts';
import { openEmbedded } from '@bubbles/shared/store/embedded/open-embedded.ts';
import { memoryLog } from '@bubbles/shared/testing/memory-log.ts';

/** An empty store in memory, on which a query without an index is a fault. */
export const memoryDatabase = (): Database =>
  openEmbedded({
    path: ':memory:',
    log: memoryLog(),
    onScan: (space, query) => {
      throw new Error(`no index of ${space} serves ${JSON.stringify(query)}`);
    },
  }).database('bubbles_webhooks');
