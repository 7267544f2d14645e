import type { IndexSpec } from '@bubbles/store/collection.ts';
import type { OpenCollection } from '@bubbles/store/indexed-collections.ts';
import type { SealedKey, SigningKeyStore } from '../../ports.ts';

/** `dropAt` is `deleteAt`, under the name that replicas of the release before read. */
type SigningKeyDoc<K> = Omit<SealedKey<K>, 'kid' | 'deleteAt'> & { readonly _id: string; readonly dropAt: Date };

const INDEXES: readonly IndexSpec[] = [
  { name: 'slot', keys: { slot: 1 }, unique: true },
  { name: 'dropAt', keys: { dropAt: 1 } },
];

export const openSigningKeys = <K>(open: OpenCollection, collection: string): SigningKeyStore<K> => {
  const documents = open<SigningKeyDoc<K>>(collection, INDEXES);
  return {
    all: async () =>
      (await documents.find({}, { sort: { slot: 1 } })).map(({ _id, dropAt, ...key }) => ({ ...key, kid: _id, deleteAt: dropAt })),
    insert: ({ kid, deleteAt, ...key }) => documents.insert({ ...key, _id: kid, dropAt: deleteAt }),
    deleteDue: async (now, keepAfterMs) => {
      await documents.deleteMany({ dropAt: { $lte: now }, signUntil: { $lte: new Date(now.getTime() - keepAfterMs) } });
    },
  };
};
