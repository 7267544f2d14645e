import { createServer } from 'node:net';
import type { Collection, Doc, IndexSpec } from '@bubbles/store/collection.ts';
import { openEmbedded } from '@bubbles/store-embedded/open-embedded.ts';
import { SILENT_LOG } from '@bubbles/testing/http.ts';
import type { Document } from 'mongodb';
import { serveParent, settings, tellParent } from '../harness/in-child.ts';
import { serveWire } from './mongo-wire.ts';

/** How often each command was asked since the parent asked last; those of the driver's own housekeeping are left out. */
export type CommandCounts = Readonly<Record<string, number>>;

const DUPLICATE_KEY = 11_000;
const MEBIBYTE = 1_048_576;
const HELLO = {
  ismaster: true,
  isWritablePrimary: true,
  helloOk: true,
  maxBsonObjectSize: 16 * MEBIBYTE,
  maxMessageSizeBytes: 48 * MEBIBYTE,
  maxWriteBatchSize: 100_000,
  logicalSessionTimeoutMinutes: 30,
  minWireVersion: 0,
  maxWireVersion: 25,
  readOnly: false,
};

type Rows = Collection<Doc>;
type Command = (rows: Rows, command: Document) => Promise<Document>;

const store = openEmbedded({ path: ':memory:', log: SILENT_LOG });
const cursor = (firstBatch: readonly unknown[]): Document => ({ cursor: { id: 0n, ns: 'bench.rows', firstBatch } });
const taken = (index: number): Document => ({ index, code: DUPLICATE_KEY, errmsg: 'E11000 duplicate key error' });
const isUpdate = (update: Document): boolean => Object.keys(update).some((key) => key.startsWith('$'));

/** What came of one update of a command. */
interface Matched {
  readonly n: number;
  readonly upserted: string | null;
  readonly duplicate: boolean;
}
const matched = (n: number): Matched => ({ n, upserted: null, duplicate: false });

const update = async (rows: Rows, { q, u, multi = false, upsert = false }: Document): Promise<Matched> => {
  if (multi) return matched(await rows.updateMany(q, u));
  // A document that replaces one is whole.
  if (!isUpdate(u)) return matched(Number(await rows.replaceOne(q, u as Doc, { upsert })));
  const outcome = await rows.updateOne(q, u, { upsert });
  if (outcome === 'inserted') return { n: 1, upserted: String(q['_id']), duplicate: false };
  return { n: Number(outcome === 'updated'), upserted: null, duplicate: outcome === 'duplicate' };
};

/** Counting is all that is asked so. */
const count = async (rows: Rows, pipeline: readonly Document[]): Promise<Document> => {
  const stage = (name: string): Document | undefined => pipeline.find((one) => name in one)?.[name];
  const limit = stage('$limit');
  const n = await rows.count(stage('$match') ?? {}, limit === undefined ? {} : { limit: Number(limit) });
  return cursor(n === 0 ? [] : [{ _id: 1, n }]);
};

const COMMANDS: Readonly<Record<string, Command>> = {
  async find(rows, { filter = {}, sort, limit, projection }) {
    const options = { ...(sort && { sort }), ...(limit && { limit }), ...(projection && { projection }) };
    return cursor(await rows.find(filter, options));
  },
  async insert(rows, { documents }) {
    const inserted = await Promise.all(documents.map((doc: Doc) => rows.insert(doc)));
    const writeErrors = inserted.flatMap((done, index) => (done ? [] : [taken(index)]));
    return { n: inserted.length - writeErrors.length, ...(writeErrors.length > 0 && { writeErrors }) };
  },
  async update(rows, { updates }) {
    const done = await Promise.all(updates.map((one: Document) => update(rows, one)));
    const n = done.reduce((sum, one) => sum + one.n, 0);
    const upserted = done.flatMap(({ upserted: _id }, index) => (_id === null ? [] : [{ index, _id }]));
    const writeErrors = done.flatMap(({ duplicate }, index) => (duplicate ? [taken(index)] : []));
    return { n, nModified: n, ...(upserted.length > 0 && { upserted }), ...(writeErrors.length > 0 && { writeErrors }) };
  },
  async findAndModify(rows, { query, sort, update: change, new: after = false, upsert = false }) {
    const returnDocument = after ? 'after' : 'before';
    const value = await rows.findOneAndUpdate(query, change, { ...(sort && { sort }), returnDocument, upsert });
    return { value, lastErrorObject: { n: Number(value !== null), updatedExisting: value !== null } };
  },
  async delete(rows, { deletes }) {
    const done = await Promise.all(deletes.map(({ q, limit }: Document) => (limit === 1 ? rows.deleteOne(q) : rows.deleteMany(q))));
    return { n: done.reduce((sum, one) => sum + one, 0) };
  },
  aggregate: (rows, { pipeline }) => count(rows, pipeline),
  async createIndexes(rows, { indexes }) {
    await rows.ensureIndexes(indexes.map(({ key, ...rest }: Document): IndexSpec => ({ keys: key, name: rest['name'], ...rest })));
    return {};
  },
  listIndexes: async () => cursor([]),
};

const counts = new Map<string, number>();
const answer = async (command: Document): Promise<Document> => {
  const [name = ''] = Object.keys(command);
  const work = COMMANDS[name];
  if (work === undefined) return { ok: 1, ...HELLO };
  const collection = String(command[name]);
  const counted = `${name} ${collection}`;
  counts.set(counted, (counts.get(counted) ?? 0) + 1);
  try {
    return { ok: 1, ...(await work(store.database(command['$db']).collection<Doc>(collection), command)) };
  } catch (error) {
    process.stderr.write(`${counted}: ${error}\n`);
    return { ok: 0, code: 8, errmsg: String(error) };
  }
};

settings<object>();
const server = createServer({ noDelay: true }, (socket) => serveWire(socket, answer));
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  tellParent({ url: `mongodb://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}` });
});
serveParent((): CommandCounts => {
  const asked = Object.fromEntries(counts);
  counts.clear();
  return asked;
});
