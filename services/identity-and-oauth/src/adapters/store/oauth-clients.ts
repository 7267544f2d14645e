import { type IndexSpec, sweepSlices } from '@bubbles/store/collection.ts';
import type { OpenCollection } from '@bubbles/store/indexed-collections.ts';
import type { RegisteredClient } from '../../domain/oauth-client.ts';
import type { RegisteredClientStore } from '../../ports.ts';
import { readsById } from './accounts.ts';

type ClientDoc = Omit<RegisteredClient, 'id'> & { readonly _id: string };

const INDEXES: readonly IndexSpec[] = [{ name: 'authorized_last_used_at', keys: { authorized: 1, lastUsedAt: 1 } }];

export const openOAuthClients = (open: OpenCollection): RegisteredClientStore => {
  const documents = open<ClientDoc>('oauth_clients', INDEXES);
  return {
    ...readsById(documents, clientOf),
    insert: async ({ id, ...client }) => {
      await documents.insert({ ...client, _id: id });
    },
    change: async (id, metadata) => (await documents.updateOne({ _id: id }, { $set: metadata })) === 'updated',
    noteAuthorized: async (id, at) =>
      (await documents.updateOne({ _id: id }, { $set: { authorized: true }, $max: { lastUsedAt: at } })) === 'updated',
    delete: async (id) => {
      await documents.deleteOne({ _id: id });
    },
    deleteNeverAuthorized: (before) => sweepSlices(documents, { authorized: false, lastUsedAt: { $lt: before } }, 'lastUsedAt'),
    unusedSince: async (before, limit) => {
      const unused = { authorized: true, lastUsedAt: { $lt: before } };
      const docs = await documents.find(unused, { sort: { lastUsedAt: 1 }, limit, projection: { _id: 1 } });
      return docs.map(({ _id }) => _id);
    },
    deleteUnusedSince: async (id, before) => {
      await documents.deleteOne({ _id: id, lastUsedAt: { $lt: before } });
    },
  };
};

const clientOf = ({ _id, ...client }: ClientDoc): RegisteredClient => ({ ...client, id: _id });
