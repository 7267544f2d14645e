import type { Clock } from '@bubbles/kernel/clock.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import { StartupError } from '@bubbles/kernel/run-process.ts';
import { type Abortable, type Collection as DriverCollection, MongoClient, type OperationOptions } from 'mongodb';
import { type Collection, type Database, type Doc, storeRefusal } from './collection.ts';
import { duplicatesAmong, isDuplicateKey, storeError } from './mongo-errors.ts';
import { makeIndexes } from './mongo-indexes.ts';
import { asFields, isPlainObject, refuseForeignData, refuseUnstorableDocument } from './plain-data.ts';
import { createReconnectingClient, type ReconnectingClient } from './reconnecting-client.ts';

interface MongoOptions {
  readonly url: string;
  /** The database's name. A name in the URL is used for the login only. */
  readonly name: string;
  readonly log: Log;
  readonly clock: Clock;
  /** Time limit for building indexes, in milliseconds; the limit of a start by default. */
  readonly indexesMs?: number;
}

/** What an open database needs. */
type Settings = Omit<MongoOptions, 'url'>;

const OPERATION_MS = 3_000;
/** Indexes are made at start, over all existing documents. */
const INDEXES_MS = 60_000;
/** A socket outlasts the longest operation; each operation has a time limit of its own. */
const SOCKET_MARGIN_MS = 20_000;
const SLOW_MS = 1_000;

const LIMITS = {
  serverSelectionTimeoutMS: 3_000,
  connectTimeoutMS: 3_000,
  heartbeatFrequencyMS: 10_000,
  waitQueueTimeoutMS: 1_000,
  maxPoolSize: 50,
} as const;

/** Every operation of the driver heeds a signal, whether its own type says so or not. */
type Deadline = OperationOptions & Abortable;

/** Runs one operation within its deadline; a failure is turned into the port's error. */
type Perform = <R>(operation: string, work: (deadline: Deadline) => Promise<R>, withinMs?: number) => Promise<R>;

const performer = (collection: string, client: ReconnectingClient<MongoClient>, { log, clock }: Settings): Perform => {
  return async (operation, work, withinMs = OPERATION_MS) => {
    const begin = clock.monotonic();
    try {
      const result = await work({ signal: AbortSignal.timeout(withinMs) });
      // A failure is logged by the caller.
      const tookMs = Math.round(clock.monotonic() - begin);
      if (tookMs >= SLOW_MS) log.warn('store was slow', { collection, operation, tookMs });
      return result;
    } catch (error) {
      const reason = foundNoServer(error) ? client.whyNoServer() : null;
      client.replaceIfBroken();
      throw storeError(reason ?? error);
    }
  };
};

const foundNoServer = (error: unknown): boolean =>
  Error.isError(error) && ['TimeoutError', 'MongoServerSelectionError', 'MongoTopologyClosedError'].includes(error.name);

/** The result of the work, or `taken` when a unique key was taken. */
const unlessTaken = async <R>(work: Promise<R>, taken: R): Promise<R> => {
  try {
    return await work;
  } catch (error) {
    if (isDuplicateKey(error)) return taken;
    throw error;
  }
};

/** Which inserts met a unique key that was taken; rejects when anything else went wrong. */
const takenAmong = async (work: Promise<unknown>): Promise<ReadonlySet<number>> => {
  try {
    await work;
    return new Set();
  } catch (error) {
    const taken = duplicatesAmong(error);
    if (taken === null) throw error;
    return taken;
  }
};

const namesId = (fields: unknown): boolean => {
  if (!isPlainObject(fields)) return false;
  const id = fields['_id'];
  return typeof id === 'string' || (isPlainObject(id) && typeof id['$eq'] === 'string');
};

const refuseForeignUpdate = (filter: object, update: object, upsert: boolean) => {
  refuseForeignData(filter);
  refuseForeignData(update);
  const { $set, $setOnInsert } = asFields(update);
  if (upsert && ![filter, $set, $setOnInsert].some(namesId)) throw storeRefusal('An upsert must name the _id.');
};

type Reads<T extends Doc> = Pick<Collection<T>, 'findOne' | 'find' | 'count'>;
type Updates<T extends Doc> = Pick<Collection<T>, 'updateOne' | 'updateMany' | 'updateEach' | 'findOneAndUpdate'>;

const reads = <T extends Doc>(collection: () => DriverCollection<T>, perform: Perform): Reads<T> => ({
  findOne: (filter, options) =>
    perform('findOne', async (deadline) => {
      refuseForeignData(filter);
      // The driver's WithId<T> of a T that has its _id is T.
      return (await collection().findOne(filter, { ...options, ...deadline })) as T | null;
    }),
  find: (filter, options) =>
    perform('find', async (deadline) => {
      refuseForeignData(filter);
      const found = await collection()
        .find(filter, { ...options, ...deadline })
        .toArray();
      // As above.
      return found as unknown as T[];
    }),
  count: (filter, options) =>
    perform('count', (deadline) => {
      refuseForeignData(filter);
      return collection().countDocuments(filter, { ...options, ...deadline });
    }),
});

const inserts = <T extends Doc>(collection: () => DriverCollection<T>, perform: Perform): Pick<Collection<T>, 'insert' | 'insertEach'> => {
  const insertable = (doc: T) => {
    refuseUnstorableDocument(asFields(doc));
    // The driver's type for a document to be inserted is T when T has its _id.
    return { ...doc } as Parameters<DriverCollection<T>['insertOne']>[0];
  };
  return {
    insert: (doc) =>
      perform('insert', (deadline) => {
        const work = collection().insertOne(insertable(doc), deadline);
        return unlessTaken(
          work.then(() => true),
          false,
        );
      }),
    insertEach: (docs) =>
      perform('insertEach', async (deadline) => {
        if (docs.length === 0) return [];
        const taken = await takenAmong(collection().insertMany(docs.map(insertable), { ordered: false, ...deadline }));
        return docs.map((_, n) => !taken.has(n));
      }),
  };
};

const updates = <T extends Doc>(collection: () => DriverCollection<T>, perform: Perform): Updates<T> => ({
  updateOne: (filter, update, { upsert = false } = {}) =>
    perform('updateOne', async (deadline) => {
      refuseForeignUpdate(filter, update, upsert);
      const result = await unlessTaken(collection().updateOne(filter, update, { upsert, ...deadline }), null);
      if (!result) return 'duplicate';
      if (result.upsertedCount > 0) return 'inserted';
      return result.matchedCount > 0 ? 'updated' : 'none';
    }),
  updateMany: (filter, update) =>
    perform('updateMany', async (deadline) => {
      refuseForeignUpdate(filter, update, false);
      return (await collection().updateMany(filter, update, deadline)).matchedCount;
    }),
  updateEach: (all) =>
    perform('updateEach', async (deadline) => {
      if (all.length === 0) return 0;
      for (const { filter, update } of all) refuseForeignUpdate(filter, update, false);
      const operations = all.map(({ filter, update }) => ({ updateOne: { filter, update } }));
      return (await collection().bulkWrite(operations, { ordered: false, ...deadline })).matchedCount;
    }),
  findOneAndUpdate: (filter, update, { upsert = false, ...options } = {}) =>
    perform('findOneAndUpdate', async (deadline) => {
      refuseForeignUpdate(filter, update, upsert);
      const work = collection().findOneAndUpdate(filter, update, { returnDocument: 'after', upsert, ...options, ...deadline });
      // The driver's WithId<T> of a T that has its _id is T.
      return (await unlessTaken(work, null)) as T | null;
    }),
});

function mongoCollection<T extends Doc>(name: string, client: ReconnectingClient<MongoClient>, options: Settings): Collection<T> {
  const perform = performer(name, client, options);
  const collection = ofCurrent(client, (current) => current.db(options.name).collection<T>(name));
  return {
    name,
    ...reads(collection, perform),
    ...updates(collection, perform),
    ...inserts(collection, perform),
    replaceOne: (filter, doc, { upsert = false } = {}) =>
      perform('replaceOne', async (deadline) => {
        refuseForeignData(filter);
        refuseUnstorableDocument(asFields(doc));
        const result = await unlessTaken(collection().replaceOne(filter, doc, { upsert, ...deadline }), null);
        return result !== null && result.matchedCount + result.upsertedCount > 0;
      }),
    deleteOne: (filter) =>
      perform('deleteOne', async (deadline) => {
        refuseForeignData(filter);
        return (await collection().deleteOne(filter, deadline)).deletedCount;
      }),
    deleteMany: (filter) =>
      perform('deleteMany', async (deadline) => {
        refuseForeignData(filter);
        return (await collection().deleteMany(filter, deadline)).deletedCount;
      }),
    async ensureIndexes(wanted, dropped = []) {
      const work = (deadline: Deadline) => makeIndexes(collection(), { wanted, dropped }, deadline);
      const refused = await perform('ensureIndexes', work, options.indexesMs ?? INDEXES_MS);
      if (refused) throw refused;
    },
  };
}

/** Makes a value of the current client once and again after the client was replaced. */
const ofCurrent = <R>(client: ReconnectingClient<MongoClient>, make: (current: MongoClient) => R): (() => R) => {
  let made: { readonly of: MongoClient; readonly value: R } | null = null;
  return () => {
    const current = client.current();
    if (made?.of !== current) made = { of: current, value: make(current) };
    return made.value;
  };
};

/** The port on a client of the official driver. */
export function mongoDatabase(client: ReconnectingClient<MongoClient>, options: Settings): Database {
  const performAdmin = performer('admin', client, options);
  return {
    collection: <T extends Doc>(name: string) => mongoCollection<T>(name, client, options),
    ping: () =>
      performAdmin('ping', async (deadline) => {
        await client.current().db(options.name).command({ ping: 1 }, deadline);
      }),
    close: () => client.close(),
  };
}

/** Connects at the first operation, and again after the client was replaced. */
export function openMongo(options: MongoOptions): Database {
  const open = () => {
    try {
      return new MongoClient(options.url, {
        ...LIMITS,
        socketTimeoutMS: SOCKET_MARGIN_MS + (options.indexesMs ?? INDEXES_MS),
        retryWrites: true,
        writeConcern: { w: 'majority', journal: true },
        promoteBuffers: true,
        ignoreUndefined: false,
      });
    } catch (error) {
      throw new StartupError(`MONGODB_URL: ${Error.isError(error) ? error.message : String(error)}.`, error);
    }
  };
  return mongoDatabase(createReconnectingClient({ open, limits: LIMITS, clock: options.clock, log: options.log }), options);
}
