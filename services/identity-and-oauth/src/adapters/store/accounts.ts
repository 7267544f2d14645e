import type { AggregateStore } from '@bubbles/shared/store/aggregates.ts';
import type { Collection } from '@bubbles/shared/store/collection.ts';
import type { Account } from '../../domain/account.ts';
import { MAX_ACTIVE_KEYS } from '../../domain/token.ts';
import type { AccountStore } from '../../ports.ts';
import { type AccountDoc, accountOf } from './account-doc.ts';
import { readsOf } from './reads.ts';

/** The place of the last key that fits: whoever has it has them all. */
const LAST_PLACE = `keys.${MAX_ACTIVE_KEYS - 1}`;

/** `aggregates` and `collection` are two views of the same documents: the one writes state with its events, the other the keys, which no event tells. */
export const accountStore = (aggregates: AggregateStore<Account>, collection: Collection<AccountDoc>): AccountStore => ({
  insert: async ({ state, events }) => {
    await aggregates.insert(state, events);
  },
  ...readsOf(collection, accountOf),
  update: (id, change) => aggregates.update(id, change),
  addKey: async (id, key) => {
    const outcome = await collection.updateOne(
      { _id: id, [LAST_PLACE]: { $exists: false } },
      { $push: { keys: key }, $inc: { version: 1 } },
    );
    return outcome === 'updated';
  },
  removeKey: async (id, keyId) => {
    const outcome = await collection.updateOne({ _id: id, 'keys.id': keyId }, { $pull: { keys: { id: keyId } }, $inc: { version: 1 } });
    return outcome === 'updated';
  },
});
