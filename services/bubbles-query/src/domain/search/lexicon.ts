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
  textOf(id: number): string;
  tables(): readonly TermTable[];
  /** The terms after the base in order of their ids. */
  added(): readonly string[];
  bytes(): number;
}

const BYTES_OF_ADDED_TERM = 120;

export const createLexicon = (base: SortedTerms): Lexicon => {
  const ids = new Map<string, number>();
  const added: string[] = [];
  /** Ids of the added terms, sorted by their text. */
  const sorted: number[] = [];
  let packed: TermTable | null = null;

  const textOf = (id: number): string => (id < base.count ? termAt(base, id) : (added[id - base.count] ?? ''));
  const placeOf = (text: string): number => {
    let low = 0;
    let high = sorted.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (textOf(num(sorted, middle)) < text) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const idOf = (text: string): number | null => {
    const known = ids.get(text);
    if (known !== undefined) return known;
    const index = findTerm(base, text);
    return index < 0 ? null : index;
  };
  const tables = (): readonly TermTable[] => {
    packed ??= { terms: packTerms(sorted.map(textOf)), ids: [...sorted] };
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
      sorted.splice(placeOf(text), 0, id);
      added.push(text);
      ids.set(text, id);
      packed = null;
      return id;
    },
    textOf,
    tables,
    added: () => added,
    bytes: () => base.chars.byteLength + base.offsets.byteLength + added.length * BYTES_OF_ADDED_TERM,
  };
};
