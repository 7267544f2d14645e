import { num } from './cells.ts';
import { findTerm, packTerms, type SortedTerms, termAt } from './sorted-terms.ts';

/** Sorted terms and the ids they carry: null means that the index is the id. */
export interface TermTable {
  readonly terms: SortedTerms;
  readonly ids: readonly number[] | null;
}

/** The one dictionary of a caller's index. Ids are the rank of a term in the sorted base; later terms follow in order of arrival. */
export interface Lexicon {
  readonly base: SortedTerms;
  size(): number;
  idOf(text: string): number | null;
  /** The id, given now when there is none. */
  intern(text: string): number;
  /** Puts the terms given since the last time into their order: a part of the work of `tables`, done when there are few. */
  sort(): void;
  textOf(id: number): string;
  tables(): readonly TermTable[];
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

export const createLexicon = (base: SortedTerms): Lexicon => {
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
    tables,
    added: () => added,
    bytes: () => base.chars.byteLength + base.offsets.byteLength + added.length * BYTES_OF_ADDED_TERM,
  };
};
