import type { IndexSpec } from '@bubbles/store/collection.ts';
import type { Fields } from '@bubbles/store/plain-data.ts';
import { storeRefusal } from '@bubbles/store/store-errors.ts';
import { type Entry, orderedEntries, type Range } from './ordered-entries.ts';
import { indexedReader, rootOf } from './paths.ts';
import { compareValues, equalValues } from './value-order.ts';

/** A document in its place; `number` is its row in the data file. */
export interface Row {
  readonly id: string;
  readonly number: number;
  doc: Fields;
}

type Key = readonly unknown[];

export interface OrderedIndex {
  readonly spec: IndexSpec;
  /** The paths of the key, in order. */
  readonly paths: readonly string[];
  /** Whether some document had an array there: then one document has several entries, and two bounds need not hold for the same element. */
  isMultikey(path: string): boolean;
  keysOf(doc: Fields): readonly Key[];
  /** False when both documents share what the keys are made of. */
  isTouched(before: Fields, after: Fields): boolean;
  /** Whether one of the keys is taken by another row of a unique index. */
  isTaken(keys: readonly Key[], by: Row | null): boolean;
  add(row: Row, keys: readonly Key[]): void;
  remove(row: Row, keys: readonly Key[]): void;
  walk(range: Range, reverse: boolean): Iterable<Row>;
  fill(rows: Iterable<Row>): void;
}

/** Every combination of one value of each component; at most one component has several. */
const combine = (components: readonly (readonly unknown[])[]): Key[] =>
  components.reduce<Key[]>((keys, values) => keys.flatMap((key) => values.map((value) => [...key, value])), [[]]);

const distinct = (values: readonly unknown[]): readonly unknown[] => {
  if (values.length < 2) return values;
  return [...values].sort(compareValues).filter((value, at, sorted) => at === 0 || !equalValues(value, sorted[at - 1]));
};

/** The key when every path is a field of the document that holds no array, which is the rule; null otherwise. */
const plainKey = (paths: readonly string[], doc: Fields): unknown[] | null => {
  const key: unknown[] = [];
  for (const path of paths) {
    const value = Object.hasOwn(doc, path) ? doc[path] : undefined;
    if (value === undefined || Array.isArray(value)) return null;
    key.push(value);
  }
  return key;
};

const keyReader = (spec: IndexSpec, paths: readonly string[]) => {
  const readers = paths.map(indexedReader);
  return (doc: Fields): readonly Key[] => {
    const plain = plainKey(paths, doc);
    if (plain) return [plain];
    const components = readers.map((read) => distinct(read(doc)));
    const absent = components.every((values) => values.every((value) => value === undefined));
    if (spec.sparse && absent) return [];
    const several = components.filter((values) => values.length > 1).length;
    if (several > 1) throw storeRefusal(`The index ${spec.name} would hold two arrays of one document.`);
    return several === 0 ? [components.map((values) => values[0])] : combine(components);
  };
};

const whole = (key: Key): Range => ({ from: { values: key, rank: null, after: false }, to: { values: key, rank: null, after: true } });

export function orderedIndex(spec: IndexSpec): OrderedIndex {
  const paths = Object.keys(spec.keys);
  const roots = [...new Set(paths.map(rootOf))];
  const entries = orderedEntries<Row>(Object.values(spec.keys));
  const multikey = new Set<string>();
  const keysOf = keyReader(spec, paths);

  const notice = (keys: readonly Key[]) => {
    if (keys.length < 2) return;
    for (const [at, path] of paths.entries()) if (!equalValues(keys[0]?.[at], keys[1]?.[at])) multikey.add(path);
  };

  return {
    spec,
    paths,
    isMultikey: (path) => multikey.has(path),
    keysOf,
    isTouched: (before, after) => roots.some((root) => before[root] !== after[root]),
    isTaken(keys, by) {
      if (!spec.unique) return false;
      return keys.some((key) => entries.walk(whole(key), false).some((entry) => entry.row !== by));
    },
    add(row, keys) {
      notice(keys);
      for (const key of keys) entries.add({ key, row });
    },
    remove(row, keys) {
      for (const key of keys) entries.remove({ key, row });
    },
    *walk(range, reverse) {
      for (const entry of entries.walk(range, reverse)) yield entry.row;
    },
    fill(rows) {
      const all: Entry<Row>[] = [];
      for (const row of rows) {
        const keys = keysOf(row.doc);
        notice(keys);
        for (const key of keys) all.push({ key, row });
      }
      entries.fill(all);
    },
  };
}

export const equalKeys = (a: readonly Key[], b: readonly Key[]): boolean =>
  a.length === b.length && a.every((key, at) => equalValues(key, b[at]));
