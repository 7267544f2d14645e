import { type Direction, type IndexSpec, storeRefusal } from '@bubbles/store/collection.ts';
import type { Fields } from '@bubbles/store/plain-data.ts';
import { indexedReader, rootOf } from './paths.ts';
import { compareValues, equalValues, typeRank } from './value-order.ts';

interface Entry<R> {
  readonly key: readonly unknown[];
  readonly row: R;
}

/** A position between entries: before or after all those whose key begins with `values`, and of these, when `rank` is given, those whose next component is of that type. */
export interface RangeEnd {
  readonly values: readonly unknown[];
  readonly rank: number | null;
  readonly after: boolean;
}

export interface Range {
  readonly from: RangeEnd;
  readonly to: RangeEnd;
}

interface OrderedEntries<R> {
  add(entry: Entry<R>): void;
  remove(entry: Entry<R>): void;
  /** The entries of the range, from its end when `reverse`. Nothing may be changed while it is walked. */
  walk(range: Range, reverse: boolean): Generator<Entry<R>>;
  fill(entries: Entry<R>[]): void;
}

interface EntryPosition {
  readonly chunk: number;
  readonly at: number;
}

interface Span {
  readonly from: EntryPosition;
  readonly to: EntryPosition;
}

const MAX_CHUNK = 512;

/** The first position from which on `isBefore` is false. */
const bisect = <T>(items: readonly T[], isBefore: (item: T) => boolean): number => {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const item = items[middle];
    if (item !== undefined && isBefore(item)) low = middle + 1;
    else high = middle;
  }
  return low;
};

const compareKeys = (directions: readonly Direction[], key: readonly unknown[], values: readonly unknown[]): number => {
  for (let at = 0; at < values.length; at += 1) {
    const order = compareValues(key[at], values[at]);
    if (order !== 0) return directions[at] === -1 ? -order : order;
  }
  return 0;
};

const part = <T>(chunks: readonly T[][], chunk: number, { from, to }: Span): T[] =>
  (chunks[chunk] ?? []).slice(chunk === from.chunk ? from.at : 0, chunk === to.chunk ? to.at : undefined);

function* forward<T>(chunks: readonly T[][], span: Span): Generator<T> {
  for (let chunk = span.from.chunk; chunk <= span.to.chunk; chunk += 1) yield* part(chunks, chunk, span);
}

function* backward<T>(chunks: readonly T[][], span: Span): Generator<T> {
  for (let chunk = span.to.chunk; chunk >= span.from.chunk; chunk -= 1) yield* part(chunks, chunk, span).reverse();
}

/** Entries in the order of their keys, ties in the order of their rows' ids: sorted chunks, so that an insert moves a few hundred entries at most. */
function createOrderedEntries<R extends { readonly id: string }>(directions: readonly Direction[]): OrderedEntries<R> {
  let chunks: Entry<R>[][] = [];

  const compareEntries = (a: Entry<R>, b: Entry<R>) => compareKeys(directions, a.key, b.key) || compareValues(a.row.id, b.row.id);
  const isBeforeEnd = (entry: Entry<R>, { values, rank, after }: RangeEnd): boolean => {
    const order = compareKeys(directions, entry.key, values);
    if (order !== 0 || rank === null) return order < 0 || (order === 0 && after);
    const typeOrder = (typeRank(entry.key[values.length]) - rank) * (directions[values.length] ?? 1);
    return typeOrder < 0 || (typeOrder === 0 && after);
  };

  const positionOf = (isBefore: (entry: Entry<R>) => boolean): EntryPosition => {
    const chunk = bisect(chunks, (entries) => {
      const last = entries[entries.length - 1];
      return last !== undefined && isBefore(last);
    });
    return { chunk, at: bisect(chunks[chunk] ?? [], isBefore) };
  };

  const splitFull = (chunk: number, entries: Entry<R>[]) => {
    if (entries.length > MAX_CHUNK) chunks.splice(chunk + 1, 0, entries.splice(MAX_CHUNK / 2));
  };

  return {
    add(entry) {
      const position = positionOf((other) => compareEntries(other, entry) < 0);
      const chunk = Math.min(position.chunk, Math.max(0, chunks.length - 1));
      const entries = chunks[chunk];
      if (!entries) {
        chunks.push([entry]);
        return;
      }
      entries.splice(position.chunk > chunk ? entries.length : position.at, 0, entry);
      splitFull(chunk, entries);
    },
    remove(entry) {
      const { chunk, at } = positionOf((other) => compareEntries(other, entry) < 0);
      const entries = chunks[chunk];
      const found = entries?.[at];
      if (!entries || !found || compareEntries(found, entry) !== 0) return;
      entries.splice(at, 1);
      if (entries.length === 0) chunks.splice(chunk, 1);
    },
    walk: (range, reverse) => {
      const from = positionOf((entry) => isBeforeEnd(entry, range.from));
      const to = positionOf((entry) => isBeforeEnd(entry, range.to));
      return reverse ? backward(chunks, { from, to }) : forward(chunks, { from, to });
    },
    fill(entries) {
      entries.sort(compareEntries);
      chunks = [];
      for (let at = 0; at < entries.length; at += MAX_CHUNK / 2) chunks.push(entries.slice(at, at + MAX_CHUNK / 2));
    },
  };
}

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

export function createOrderedIndex(spec: IndexSpec): OrderedIndex {
  const paths = Object.keys(spec.keys);
  const roots = [...new Set(paths.map(rootOf))];
  const entries = createOrderedEntries<Row>(Object.values(spec.keys));
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
