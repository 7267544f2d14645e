import type { Collection } from '@bubbles/store/collection.ts';
import type { RevokedKey, RevokedKeyStore } from '../../ports.ts';

/** `_id` is the hash of the token. */
export type RevokedKeyDoc = Omit<RevokedKey, 'hash'> & { readonly _id: string };

export const REVOKED_KEY_INDEXES = [{ name: 'revoked_at', keys: { revokedAt: 1 } }] as const;

export const revokedKeyStore = (collection: Collection<RevokedKeyDoc>): RevokedKeyStore => ({
  put: async ({ hash, ...key }) => {
    await collection.insert({ ...key, _id: hash });
  },
  revokedBefore: async (at, limit) =>
    (await collection.find({ revokedAt: { $lt: at } }, { sort: { revokedAt: 1 }, limit })).map(({ _id, ...key }) => ({
      ...key,
      hash: _id,
    })),
  forget: async (hashes) => {
    await collection.deleteMany({ _id: { $in: [...hashes] } });
  },
});
