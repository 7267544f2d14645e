import type { StoreContext } from '@bubbles/host/service.ts';
import { createAggregateStore, OUTBOX_INDEX, type Stored } from '@bubbles/store/aggregates.ts';
import { indexedCollections } from '@bubbles/store/indexed-collections.ts';
import type { Note } from '../../domain/note.ts';
import type { NoteStore } from '../../ports.ts';

const INDEXES = [OUTBOX_INDEX, { name: 'written_at', keys: { writtenAt: 1 } }] as const;

/** Everything that notes keep. */
export const openStores = ({ database, ...context }: StoreContext) => {
  const { open, ensureIndexes } = indexedCollections(database);
  const documents = open<Stored<Note>>('notes', INDEXES);
  const aggregates = createAggregateStore<Note>(documents, context);
  const notes: NoteStore = {
    async insert(note, events) {
      await aggregates.insert(note, events);
    },
    get: aggregates.get,
    async dropWrittenUntil(at) {
      await documents.deleteMany({ writtenAt: { $lte: at } });
    },
  };
  return { notes, relayed: [documents], ensureIndexes };
};
