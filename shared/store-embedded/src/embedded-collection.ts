import { type Collection, type Doc, storeRefusal, storeUnavailable, type UpdateResult } from '@bubbles/store/collection.ts';
import { type IndexPlan, indexWork, repeatedKey } from '@bubbles/store/indexes.ts';
import { asFields, cloneData, type Fields, refuseForeignData, refuseUnstorableDocument } from '@bubbles/store/plain-data.ts';
import type { Journal } from './journal.ts';
import type { Row } from './ordered-index.ts';
import { projector, type Query, select } from './query.ts';
import type { Table } from './table.ts';
import { parseUpdate, updated, upserted } from './update.ts';

interface CollectionParts {
  readonly name: string;
  /** The collection's place in the data file. */
  readonly space: string;
  readonly table: Table;
  readonly journal: Journal;
  /** Called with each query that no index serves. */
  readonly onScan: (query: Query) => void;
  readonly isOpen: () => boolean;
}

/** The reads and writes that all operations are made of. Each runs without a break. */
const rowsOf = ({ space, table, journal, onScan }: CollectionParts) => {
  const find = (query: Query): Row[] => {
    refuseForeignData(query.filter);
    const { rows, scan } = select(table, query);
    if (scan) onScan(query);
    return rows;
  };
  return {
    find,
    first: (filter: Fields, sort?: Query['sort']): Row | undefined => find({ filter, sort, limit: 1 })[0],
    insert(doc: Fields): boolean {
      refuseUnstorableDocument(doc);
      const body = journal.encode(doc);
      const row = table.insert(doc);
      if (row) journal.put({ number: row.number, space, body });
      return row !== null;
    },
    replace(row: Row, doc: Fields): boolean {
      const body = journal.encode(doc);
      const replaced = table.replace(row, doc);
      if (replaced) journal.put({ number: row.number, space, body });
      return replaced;
    },
    remove(row: Row): void {
      table.remove(row);
      journal.remove(row.number);
    },
  };
};

type Rows = ReturnType<typeof rowsOf>;

interface Written {
  readonly outcome: UpdateResult;
  readonly before: Fields | null;
  readonly after: Fields | null;
}

const writeFirst = (rows: Rows, query: Query, { update, upsert }: { readonly update: object; readonly upsert: boolean }): Written => {
  refuseForeignData(update);
  const changes = parseUpdate(asFields(update));
  const row = rows.first(query.filter, query.sort);
  if (row) {
    const [before, after] = [row.doc, updated(row.doc, changes)];
    return rows.replace(row, after) ? { outcome: 'updated', before, after } : { outcome: 'duplicate', before: null, after: null };
  }
  if (!upsert) return { outcome: 'none', before: null, after: null };
  const after = upserted(query.filter, changes);
  return rows.insert(after) ? { outcome: 'inserted', before: null, after } : { outcome: 'duplicate', before: null, after: null };
};

const writeAll = (rows: Rows, filter: Fields, update: object): number => {
  refuseForeignData(update);
  const changes = parseUpdate(asFields(update));
  const found = rows.find({ filter });
  for (const row of found) {
    if (!rows.replace(row, updated(row.doc, changes))) throw storeRefusal('An update of many documents would repeat a unique key.');
  }
  return found.length;
};

const updateEach = (rows: Rows, all: readonly { readonly filter: object; readonly update: object }[]): number => {
  let matched = 0;
  for (const { filter, update } of all) {
    const { outcome } = writeFirst(rows, { filter: asFields(filter) }, { update, upsert: false });
    if (outcome === 'duplicate') throw storeRefusal('An update would repeat a unique key.');
    if (outcome === 'updated') matched += 1;
  }
  return matched;
};

const replaceFirst = (rows: Rows, filter: Fields, { doc, upsert }: { readonly doc: Fields; readonly upsert: boolean }): boolean => {
  refuseUnstorableDocument(doc);
  const row = rows.first(filter);
  if (!row) return upsert && rows.insert(doc);
  if (row.id !== doc['_id']) throw storeRefusal('The _id of a document cannot be changed.');
  return rows.replace(row, doc);
};

const makeIndexes = ({ space, table }: CollectionParts, plan: IndexPlan) => {
  const present = table.indexes.map(({ spec }) => spec);
  const { going, missing, conflict } = indexWork(space, plan, present);
  if (conflict) throw conflict;
  for (const name of going) table.dropIndex(name);
  for (const spec of missing) if (!table.addIndex(spec)) throw repeatedKey(space, spec.name);
};

/** The port on a table in memory. Writes are answered when the journal has kept them, and reads too: no answer holds what could still be lost. */
export function createEmbeddedCollection<T extends Doc>(parts: CollectionParts): Collection<T> {
  const { name, journal, isOpen } = parts;
  const rows = rowsOf(parts);

  const answer = async <R>(work: () => R): Promise<R> => {
    // Waits first: while the disk is full an operation is refused and not done.
    if (journal.isBehind()) await journal.flushed();
    if (!isOpen()) throw storeUnavailable(new Error('The store is closed.'));
    const result = work();
    await journal.flushed();
    return result;
  };
  const showing = (projection?: Parameters<typeof projector>[0]) => {
    const project = projector(projection);
    // A stored document was inserted as T; the driver types a part of it as T too.
    return (doc: Fields) => project(doc) as unknown as T;
  };
  const shown = (doc: Fields | null | undefined, projection?: Parameters<typeof projector>[0]): T | null =>
    doc ? showing(projection)(doc) : null;
  /** A copy of an object is an object. */
  const copyOf = (doc: T): Fields => cloneData(doc) as Fields;
  const removeAll = (found: readonly Row[]) => {
    for (const row of found) rows.remove(row);
    return found.length;
  };

  return {
    name,
    findOne: (filter, { sort, projection } = {}) => answer(() => shown(rows.first(asFields(filter), sort)?.doc, projection)),
    find: (filter, { sort, limit, projection } = {}) =>
      answer(() => {
        const show = showing(projection);
        return rows.find({ filter: asFields(filter), sort, limit }).map((row) => show(row.doc));
      }),
    insert: (doc) => answer(() => rows.insert(copyOf(doc))),
    insertEach: (docs) => answer(() => docs.map((doc) => rows.insert(copyOf(doc)))),
    updateOne: (filter, update, { upsert = false } = {}) =>
      answer(() => writeFirst(rows, { filter: asFields(filter) }, { update, upsert }).outcome),
    updateEach: (all) => answer(() => updateEach(rows, all)),
    updateMany: (filter, update) => answer(() => writeAll(rows, asFields(filter), update)),
    findOneAndUpdate: (filter, update, { sort, returnDocument = 'after', upsert = false } = {}) =>
      answer(() => shown(writeFirst(rows, { filter: asFields(filter), sort }, { update, upsert })[returnDocument])),
    replaceOne: (filter, doc, { upsert = false } = {}) => answer(() => replaceFirst(rows, asFields(filter), { doc: copyOf(doc), upsert })),
    deleteOne: (filter) => answer(() => removeAll(rows.find({ filter: asFields(filter), limit: 1 }))),
    deleteMany: (filter) => answer(() => removeAll(rows.find({ filter: asFields(filter) }))),
    count: (filter, { limit } = {}) => answer(() => rows.find({ filter: asFields(filter), limit }).length),
    ensureIndexes: (wanted, dropped = []) => answer(() => makeIndexes(parts, { wanted, dropped })),
  };
}
