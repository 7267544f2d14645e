import type { StoreContext } from '@bubbles/host/service.ts';
import { indexedCollections } from '@bubbles/store/indexed-collections.ts';
import { openBubbles } from './bubbles.ts';
import { openCards } from './cards.ts';
import { openComments } from './comments.ts';
import { openPeople } from './people.ts';
import { openTranscripts } from './transcripts.ts';

/** Everything that bubbles-query keeps. */
export const openStores = ({ database, ...options }: StoreContext) => {
  const { open, ensureIndexes } = indexedCollections(database);
  const bubbles = openBubbles(open, options);
  return {
    bubbles: bubbles.store,
    transcripts: openTranscripts(open),
    comments: openComments(open),
    people: openPeople(open),
    cards: openCards(open),
    /** Those whose documents carry events. */
    relayed: [bubbles.documents],
    ensureIndexes,
  };
};
export type Stores = ReturnType<typeof openStores>;
