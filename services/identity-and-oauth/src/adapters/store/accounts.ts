import { hash } from 'node:crypto';
import { type AggregateStoreOptions, createAggregateStore, OUTBOX_INDEX, type Stored, stateOf } from '@bubbles/store/aggregates.ts';
import type { Collection, Doc, Filter, IndexSpec } from '@bubbles/store/collection.ts';
import type { OpenCollection } from '@bubbles/store/indexed-collections.ts';
import type { Account } from '../../domain/account.ts';
import type { Team } from '../../domain/team.ts';
import { MAX_ACTIVE_KEYS } from '../../domain/token.ts';
import type { AccountStore, Page, TeamStore } from '../../ports.ts';

export type AccountDoc = Stored<Account>;

const INDEXES: readonly IndexSpec[] = [OUTBOX_INDEX, { name: 'keys.hash', keys: { 'keys.hash': 1 } }];
const TEAM_INDEXES: readonly IndexSpec[] = [
  { name: 'domain_discoverable_archived_created_at', keys: { domain: 1, discoverable: 1, archived: 1, createdAt: 1, _id: 1 } },
];

/** The place of the last key that fits: an account that has a key there is full. */
const LAST_PLACE = `keys.${MAX_ACTIVE_KEYS - 1}`;

/** The store, and the collection whose documents carry events to relay. */
export const openAccounts = (open: OpenCollection, options: AggregateStoreOptions) => {
  const documents = open<AccountDoc>('accounts', INDEXES);
  const aggregates = createAggregateStore<Account>(documents, options);
  const store: AccountStore = {
    ...readsById(documents, (doc) => stateOf<Account>(doc)),
    insert: ({ state, events }) => aggregates.insert(state, events),
    update: aggregates.update,
    addKey: async (id, key) => {
      const result = await documents.updateOne(
        { _id: id, [LAST_PLACE]: { $exists: false }, 'keys.id': { $ne: key.id } },
        { $push: { keys: key }, $inc: { version: 1 } },
      );
      return result === 'updated';
    },
    removeKey: async (id, keyId) => {
      const result = await documents.updateOne({ _id: id, 'keys.id': keyId }, { $pull: { keys: { id: keyId } }, $inc: { version: 1 } });
      return result === 'updated';
    },
  };
  return { store, documents };
};

/** `_id` is a hash of the mailbox, because the document outlives the account. */
interface TrialDoc extends Doc {
  readonly teamId: string;
}

export const openTeams = (open: OpenCollection, options: AggregateStoreOptions): TeamStore => {
  const documents = open<Stored<Team>>('teams', TEAM_INDEXES);
  const aggregates = createAggregateStore<Team>(documents, options);
  const trials = open<TrialDoc>('trials');
  return {
    ...readsById(documents, (doc) => stateOf<Team>(doc)),
    claimTrial: async (mailbox, teamId) => {
      const _id = hash('sha256', `trial of ${mailbox}`, 'hex');
      return (await trials.insert({ _id, teamId })) || (await trials.findOne({ _id }))?.teamId === teamId;
    },
    insert: (team) => aggregates.insert(team),
    discoverable: async (domains, limit) => {
      if (domains.length === 0) return [];
      const domain = { $in: [...domains] };
      const docs = await documents.find({ domain, discoverable: true, archived: false }, { sort: { createdAt: 1, _id: 1 }, limit });
      return docs.map((doc) => stateOf<Team>(doc));
    },
    update: (id, change) =>
      aggregates.update(id, (team) => {
        const changed = change(team);
        return changed && { state: changed, events: [] };
      }),
  };
};

/** Documents of any kind by their ids. */
export const readsById = <D extends Doc, S>(collection: Collection<D>, stateOf: (doc: D) => S) => {
  // The driver's type cannot see that every document has a string id while D is open.
  const idIs = (condition: string | { readonly $in: readonly string[] } | { readonly $gt: string }) => ({ _id: condition }) as Filter<D>;
  return {
    get: async (id: string): Promise<S | null> => {
      const doc = await collection.findOne(idIs(id));
      return doc && stateOf(doc);
    },
    byIds: async (ids: readonly string[]): Promise<ReadonlyMap<string, S>> => {
      if (ids.length === 0) return new Map();
      const docs = await collection.find(idIs({ $in: [...new Set(ids)] }));
      return new Map(docs.map((doc) => [doc._id, stateOf(doc)]));
    },
    page: async ({ after, limit }: Page): Promise<S[]> => {
      const docs = await collection.find(after === null ? {} : idIs({ $gt: after }), { sort: { _id: 1 }, limit });
      return docs.map(stateOf);
    },
  };
};
