import type { Ranges } from './posting-lists.ts';
import { findTerm, packTerms, prefixRange, type SortedTerms, termAt, walkTypos } from './sorted-terms.ts';
import { num } from './typed-arrays.ts';

/** Sorted terms and the ids they carry: null means that the index is the id. */
interface TermTable {
  readonly terms: SortedTerms;
  readonly ids: readonly number[] | null;
}

/** The one dictionary of a caller's index. Ids are the rank of a term in the sorted base; later terms follow in order of arrival. */
export interface Dictionary {
  readonly base: SortedTerms;
  size(): number;
  idOf(text: string): number | null;
  /** The id, given now when there is none. */
  intern(text: string): number;
  /** Sorts the terms that came since the last time: a part of the work of the next lookup, done while there are few. */
  sort(): void;
  textOf(id: number): string;
  exact(text: string): Ranges;
  beginningWith(text: string): Ranges;
  /** The terms within the typo budget of a word, and those of which a proper beginning is within one edit. */
  typosOf(word: string): { readonly oneEdit: Ranges; readonly twoEdits: Ranges; readonly beginnings: Ranges };
  /** The terms after the base in order of their ids. */
  added(): readonly string[];
  bytes(): number;
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

export const createDictionary = (base: SortedTerms): Dictionary => {
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
    size: () => base.count + added.length,
    idOf,
    intern: (text) => {
      const known = idOf(text);
      if (known !== null) return known;
      const id = base.count + added.length;
      added.push(text);
      ids.set(text, id);
      return id;
    },
    sort,
    textOf,
    exact: (text) => {
      const id = idOf(text);
      return id === null ? [] : [id, id + 1];
    },
    beginningWith: (text) => rangesBeginningWith(tables(), text),
    typosOf: (word) => typoRanges(tables(), word),
    added: () => added,
    bytes: () => base.chars.byteLength + base.offsets.byteLength + added.length * BYTES_OF_ADDED_TERM,
  };
};
