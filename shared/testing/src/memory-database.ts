import type { Database } from '@bubbles/store/collection.ts';
import { openEmbedded } from '@bubbles/store-embedded/open-embedded.ts';
import { SILENT_LOG } from './http.ts';

/** An empty store in memory, on which a query without an index is a fault. */
export const memoryDatabase = (): Database =>
  openEmbedded({
    path: ':memory:',
    log: SILENT_LOG,
    onScan: (space, query) => {
      throw new Error(`no index of ${space} serves ${JSON.stringify(query)}`);
    },
  }).database('tested');
