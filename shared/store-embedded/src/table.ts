import type { IndexSpec } from '@bubbles/store/collection.ts';
import type { Fields } from '@bubbles/store/plain-data.ts';
import { createOrderedIndex, equalKeys, type OrderedIndex, type Row } from './ordered-index.ts';

/** The documents of one collection and their indexes, which always agree. */
export interface Table {
  readonly indexes: readonly OrderedIndex[];
  /** The order of the ids; built when it is first asked for. */
  idIndex(): OrderedIndex;
  get(id: string): Row | undefined;
  /** In the order in which they were inserted. */
  all(): Iterable<Row>;
  /** Null when the id or a unique key is taken. */
  insert(doc: Fields): Row | null;
  /** False when a unique key is taken by another row. */
  replace(row: Row, doc: Fields): boolean;
  remove(row: Row): void;
  /** False when the index is unique and rows repeat its key; it is not added then. */
  addIndex(spec: IndexSpec): boolean;
  dropIndex(name: string): void;
  clear(): void;
}

const ID_INDEX: IndexSpec = { name: '_id_', keys: { _id: 1 } };

const idOf = (doc: Fields): string => String(doc['_id']);

/** The indexes in which the document's position changes. */
const movesOf = (indexes: readonly OrderedIndex[], from: Fields, to: Fields) =>
  indexes
    .filter((index) => index.isTouched(from, to))
    .map((index) => ({ index, before: index.keysOf(from), after: index.keysOf(to) }))
    .filter(({ before, after }) => !equalKeys(before, after));

export function createTable(nextNumber: () => number, loaded: readonly { readonly number: number; readonly doc: Fields }[]): Table {
  const rows = new Map<string, Row>(loaded.map(({ number, doc }) => [idOf(doc), { id: idOf(doc), number, doc }]));
  const indexes: OrderedIndex[] = [];
  let byId: OrderedIndex | null = null;

  const kept = () => (byId ? [...indexes, byId] : indexes);

  return {
    indexes,
    idIndex() {
      if (!byId) {
        byId = createOrderedIndex(ID_INDEX);
        byId.fill(rows.values());
      }
      return byId;
    },
    get: (id) => rows.get(id),
    all: () => rows.values(),
    insert(doc) {
      const id = idOf(doc);
      if (rows.has(id)) return null;
      const places = kept().map((index) => ({ index, keys: index.keysOf(doc) }));
      if (places.some(({ index, keys }) => index.isTaken(keys, null))) return null;
      const row: Row = { id, number: nextNumber(), doc };
      rows.set(id, row);
      for (const { index, keys } of places) index.add(row, keys);
      return row;
    },
    replace(row, doc) {
      const moves = movesOf(indexes, row.doc, doc);
      if (moves.some(({ index, after }) => index.isTaken(after, row))) return false;
      for (const { index, before, after } of moves) {
        index.remove(row, before);
        index.add(row, after);
      }
      row.doc = doc;
      return true;
    },
    remove(row) {
      for (const index of kept()) index.remove(row, index.keysOf(row.doc));
      rows.delete(row.id);
    },
    addIndex(spec) {
      const index = createOrderedIndex(spec);
      index.fill(rows.values());
      for (const row of spec.unique ? rows.values() : []) if (index.isTaken(index.keysOf(row.doc), row)) return false;
      indexes.push(index);
      return true;
    },
    dropIndex(name) {
      const at = indexes.findIndex(({ spec }) => spec.name === name);
      if (at >= 0) indexes.splice(at, 1);
    },
    clear() {
      rows.clear();
      byId = null;
      for (const index of indexes) index.fill([]);
    },
  };
}
