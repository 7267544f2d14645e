import type { Ranges } from './field.ts';
import { findTerm, packTerms, prefixRange, type SortedTerms, termAt, walkTypos } from './sorted-terms.ts';
import { num } from './typed-arrays.ts';

/** Sorted terms and the ids they carry: null means that the index is the id. */
interface TermTable {
  readonly terms: SortedTerms;
  readonly ids: readonly number[] | null;
}

const BYTES_OF_ADDED_TERM = 120;

/** Two lists that are sorted by their texts as one. */
const mergedBy = (textOf: (id: number) => string, left: readonly number[], right: readonly number[]): number[] => {
  const merged: number[] = [];
  let next = 0;
  for (const id of right) {
    while (next < left.length && textOf(num(left, next)) < textOf(id)) merged.push(num(left, next++));
    merged.push(id);
  }
  while (next < left.length) merged.push(num(left, next++));
  return merged;
};

/** Adds the ids of a stretch of a table. */
const pushIds = (ranges: number[], { ids }: TermTable, [from, to]: readonly [number, number]): void => {
  if (from >= to) return;
  if (ids === null) {
    if (ranges[ranges.length - 1] === from) ranges[ranges.length - 1] = to;
    else ranges.push(from, to);
    return;
  }
  for (const id of ids.slice(from, to)) ranges.push(id, id + 1);
};

const rangesBeginningWith = (tables: readonly TermTable[], text: string): Ranges => {
  const ranges: number[] = [];
  for (const table of tables) pushIds(ranges, table, prefixRange(table.terms, text));
  return ranges;
};

const typoRanges = (tables: readonly TermTable[], word: string) => {
  const found = { oneEdit: [] as number[], twoEdits: [] as number[], beginnings: [] as number[] };
  for (const table of tables) {
    walkTypos(table.terms, word, {
      word: (index, edits) => pushIds(edits === 1 ? found.oneEdit : found.twoEdits, table, [index, index + 1]),
      beginnings: (from, to) => pushIds(found.beginnings, table, [from, to]),
    });
  }
  return found;
};

/** The one dictionary of a caller's index. Ids are the rank of a term in the sorted base; later terms follow in order of arrival. */
export const createDictionary = (base: SortedTerms) => {
  const ids = new Map<string, number>();
  const added: string[] = [];
  /** Ids of the added terms, sorted by their text; the latest may not be among them yet. */
  let sorted: readonly number[] = [];
  let packed: TermTable | null = null;

  const addedText = (id: number): string => added[id - base.count] ?? '';
  const textOf = (id: number): string => (id < base.count ? termAt(base, id) : addedText(id));
  const sort = (): void => {
    if (sorted.length === added.length) return;
    const fresh = Array.from({ length: added.length - sorted.length }, (_, at) => base.count + sorted.length + at);
    fresh.sort((a, b) => (addedText(a) < addedText(b) ? -1 : 1));
    sorted = mergedBy(addedText, sorted, fresh);
    packed = null;
  };
  const idOf = (text: string): number | null => {
    const known = ids.get(text);
    if (known !== undefined) return known;
    const index = findTerm(base, text);
    return index < 0 ? null : index;
  };
  const tables = (): readonly TermTable[] => {
    sort();
    packed ??= { terms: packTerms(sorted.map(addedText)), ids: sorted };
    return [{ terms: base, ids: null }, packed];
  };
  return {
    base,
    size: (): number => base.count + added.length,
    idOf,
    /** The id, given now when there is none. */
    intern: (text: string): number => {
      const known = idOf(text);
      if (known !== null) return known;
      const id = base.count + added.length;
      added.push(text);
      ids.set(text, id);
      return id;
    },
    /** Sorts the terms that came since the last time: a part of the work of the next lookup, done while there are few. */
    sort,
    textOf,
    exact: (text: string): Ranges => {
      const id = idOf(text);
      return id === null ? [] : [id, id + 1];
    },
    beginningWith: (text: string): Ranges => rangesBeginningWith(tables(), text),
    /** The terms within the typo budget of a word, and those of which a proper beginning is within one edit. */
    typosOf: (word: string) => typoRanges(tables(), word),
    /** The terms after the base in order of their ids. */
    added: (): readonly string[] => added,
    bytes: (): number => base.chars.byteLength + base.offsets.byteLength + added.length * BYTES_OF_ADDED_TERM,
  };
};

export type Dictionary = ReturnType<typeof createDictionary>;
