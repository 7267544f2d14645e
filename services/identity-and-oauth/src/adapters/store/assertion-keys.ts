import type { Collection } from '@bubbles/store/collection.ts';
import type { AssertionKeyStore, SealedKey } from '../../ports.ts';

export type AssertionKeyDoc = Omit<SealedKey, 'kid'> & { readonly _id: string };

export const ASSERTION_KEY_INDEXES = [
  { name: 'slot', keys: { slot: 1 }, unique: true },
  { name: 'dropAt', keys: { dropAt: 1 } },
] as const;

export const assertionKeyStore = (collection: Collection<AssertionKeyDoc>): AssertionKeyStore => ({
  all: async () => (await collection.find({}, { sort: { slot: 1 } })).map(({ _id, ...key }) => ({ ...key, kid: _id })),
  insert: ({ kid, ...key }) => collection.insert({ ...key, _id: kid }),
  dropDue: async (now) => {
    await collection.deleteMany({ dropAt: { $lte: now } });
  },
});
