import { SERVICES, type ServiceTable } from '@bubbles/contracts/services.ts';
import { type Document, type IndexDescriptionInfo, MongoClient } from 'mongodb';

interface StoredCollection {
  readonly name: string;
  readonly documents: readonly Document[];
  readonly indexes: readonly IndexDescriptionInfo[];
}

/** The databases by their names. */
export type Backup = ReadonlyMap<string, readonly StoredCollection[]>;

const withClient = async <R>(url: string, work: (client: MongoClient) => Promise<R>): Promise<R> => {
  const client = new MongoClient(url);
  try {
    return await work(client);
  } finally {
    await client.close();
  }
};

/** Documents and indexes of each service's database, one after the other in this order: what `mongodump` takes of a mongod. */
export const takeBackup = (url: string, services: readonly string[]): Promise<Backup> =>
  withClient(url, async (client) => {
    const table: ServiceTable = SERVICES;
    const backup = new Map<string, readonly StoredCollection[]>();
    for (const service of services) {
      const name = table[service]?.database ?? '';
      const database = client.db(name);
      const collections = await database.listCollections({}, { nameOnly: true }).toArray();
      const stored: StoredCollection[] = [];
      for (const { name: collection } of collections.filter((one) => !one.name.startsWith('system.'))) {
        const [documents, indexes] = await Promise.all([
          database.collection(collection).find().toArray(),
          database.collection(collection).indexes(),
        ]);
        stored.push({ name: collection, documents, indexes });
      }
      backup.set(name, stored);
    }
    return backup;
  });

/** Into empty databases, as `mongorestore` does: documents, then indexes. */
export const restoreBackup = (url: string, backup: Backup): Promise<void> =>
  withClient(url, async (client) => {
    for (const [name, collections] of backup)
      for (const { name: collection, documents, indexes } of collections) {
        const target = client.db(name).collection(collection);
        if (documents.length > 0) await target.insertMany([...documents]);
        const made = indexes
          .filter((index) => index.name !== '_id_')
          .map(({ key, name: index, unique, sparse }) => ({
            key,
            ...(index && { name: index }),
            ...(unique && { unique }),
            ...(sparse && { sparse }),
          }));
        if (made.length > 0) await target.createIndexes(made);
      }
  });
