import type { Direction } from '@bubbles/store/collection.ts';
import { compareValues, typeRank } from './value-order.ts';

export interface Entry<R> {
  readonly key: readonly unknown[];
  readonly row: R;
}

/** A place between entries: before or after all those whose key begins with `values`, and of these, when `rank` is given, those whose next component is of that type. */
export interface Limit {
  readonly values: readonly unknown[];
  readonly rank: number | null;
  readonly after: boolean;
}

export interface Range {
  readonly from: Limit;
  readonly to: Limit;
}

export interface OrderedEntries<R> {
  add(entry: Entry<R>): void;
  remove(entry: Entry<R>): void;
  /** The entries of the range, from its end when `reverse`. Nothing may be changed while it is walked. */
  walk(range: Range, reverse: boolean): Generator<Entry<R>>;
  fill(entries: Entry<R>[]): void;
}

interface Place {
  readonly chunk: number;
  readonly at: number;
}

interface Span {
  readonly from: Place;
  readonly to: Place;
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
export function orderedEntries<R extends { readonly id: string }>(directions: readonly Direction[]): OrderedEntries<R> {
  let chunks: Entry<R>[][] = [];

  const compareEntries = (a: Entry<R>, b: Entry<R>) => compareKeys(directions, a.key, b.key) || compareValues(a.row.id, b.row.id);
  const isBeforeLimit = (entry: Entry<R>, { values, rank, after }: Limit): boolean => {
    const order = compareKeys(directions, entry.key, values);
    if (order !== 0 || rank === null) return order < 0 || (order === 0 && after);
    const typeOrder = (typeRank(entry.key[values.length]) - rank) * (directions[values.length] ?? 1);
    return typeOrder < 0 || (typeOrder === 0 && after);
  };

  const placeOf = (isBefore: (entry: Entry<R>) => boolean): Place => {
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
      const place = placeOf((other) => compareEntries(other, entry) < 0);
      const chunk = Math.min(place.chunk, Math.max(0, chunks.length - 1));
      const entries = chunks[chunk];
      if (!entries) {
        chunks.push([entry]);
        return;
      }
      entries.splice(place.chunk > chunk ? entries.length : place.at, 0, entry);
      splitFull(chunk, entries);
    },
    remove(entry) {
      const { chunk, at } = placeOf((other) => compareEntries(other, entry) < 0);
      const entries = chunks[chunk];
      const found = entries?.[at];
      if (!entries || !found || compareEntries(found, entry) !== 0) return;
      entries.splice(at, 1);
      if (entries.length === 0) chunks.splice(chunk, 1);
    },
    walk: (range, reverse) => {
      const from = placeOf((entry) => isBeforeLimit(entry, range.from));
      const to = placeOf((entry) => isBeforeLimit(entry, range.to));
      return reverse ? backward(chunks, { from, to }) : forward(chunks, { from, to });
    },
    fill(entries) {
      entries.sort(compareEntries);
      chunks = [];
      for (let at = 0; at < entries.length; at += MAX_CHUNK / 2) chunks.push(entries.slice(at, at + MAX_CHUNK / 2));
    },
  };
}
