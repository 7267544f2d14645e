import type { Collection } from '@bubbles/store/collection.ts';
import type { AssertionKeyStore, SealedKey } from '../../ports.ts';

/** `dropAt` is `deleteAt`, under the name that replicas of the release before read. */
export type AssertionKeyDoc = Omit<SealedKey, 'kid' | 'deleteAt'> & { readonly _id: string; readonly dropAt: Date };

export const ASSERTION_KEY_INDEXES = [
  { name: 'slot', keys: { slot: 1 }, unique: true },
  { name: 'dropAt', keys: { dropAt: 1 } },
] as const;

export const createAssertionKeyStore = (collection: Collection<AssertionKeyDoc>): AssertionKeyStore => ({
  all: async () =>
    (await collection.find({}, { sort: { slot: 1 } })).map(({ _id, dropAt, ...key }) => ({ ...key, kid: _id, deleteAt: dropAt })),
  insert: ({ kid, deleteAt, ...key }) => collection.insert({ ...key, _id: kid, dropAt: deleteAt }),
  deleteDue: async (now) => {
    await collection.deleteMany({ dropAt: { $lte: now } });
  },
});
