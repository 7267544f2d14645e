import { type AggregateStore, type Stored, stateOf } from '@bubbles/store/aggregates.ts';
import type { Collection } from '@bubbles/store/collection.ts';
import { OUTBOX_INDEX } from '@bubbles/store/outbox.ts';
import type { Account, VersionedAccount } from '../../domain/account.ts';
import { MAX_ACTIVE_KEYS } from '../../domain/token.ts';
import type { AccountStore } from '../../ports.ts';
import { readsOf } from './reads.ts';

export type AccountDoc = Stored<Account>;

export const ACCOUNT_INDEXES = [OUTBOX_INDEX, { name: 'keys.hash', keys: { 'keys.hash': 1 } }] as const;

export const versionedAccountOf = (doc: AccountDoc): VersionedAccount => ({ account: stateOf<Account>(doc), version: doc.version });

/** The place of the last key that fits: whoever has it has them all. */
const LAST_PLACE = `keys.${MAX_ACTIVE_KEYS - 1}`;

/** The aggregate's own writes carry events; those of keys are told by none. */
export const accountStore = (aggregates: AggregateStore<Account>, collection: Collection<AccountDoc>): AccountStore => ({
  ...readsOf(collection, (doc) => stateOf<Account>(doc)),
  insert: async ({ state, events }) => {
    await aggregates.insert(state, events);
  },
  update: (id, change) => aggregates.update(id, change),
  addKey: async (id, key) => {
    const outcome = await collection.updateOne(
      { _id: id, [LAST_PLACE]: { $exists: false }, 'keys.id': { $ne: key.id } },
      { $push: { keys: key }, $inc: { version: 1 } },
    );
    return outcome === 'updated';
  },
  removeKey: async (id, keyId) => {
    const outcome = await collection.updateOne({ _id: id, 'keys.id': keyId }, { $pull: { keys: { id: keyId } }, $inc: { version: 1 } });
    return outcome === 'updated';
  },
});
