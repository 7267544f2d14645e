import type { Collection } from '@bubbles/shared/store/collection.ts';
import type { RevokedKey, RevokedKeyStore } from '../../ports.ts';

/** `_id` is the hash of the token. */
export type RevokedKeyDoc = Omit<RevokedKey, 'hash'> & { readonly _id: string };

export const revokedKeyStore = (collection: Collection<RevokedKeyDoc>): RevokedKeyStore => ({
  put: async ({ hash, ...key }) => {
    await collection.insert({ ...key, _id: hash });
  },
});
