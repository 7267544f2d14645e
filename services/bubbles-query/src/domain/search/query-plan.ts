import { dividedPair } from './analysis.ts';
import type { Lexicon, TermTable } from './lexicon.ts';
import type { Ranges } from './postings.ts';
import { PART_PREFIX_CHARACTERS, type ParsedQuery, type Unit } from './query-units.ts';
import { isAdmitted, prefixRange, walkTypos } from './sorted-terms.ts';

/** Qualities in their order: exact, prefix, one edit, prefix with one edit, two edits. `edits * 2 + prefix`. */
export const EXACT = 0;
export const PREFIX = 1;
export const ONE_EDIT = 2;
const PREFIX_TYPO = 3;
const TWO_EDITS = 4;
export const QUALITIES = 5;

/** A term of each of these in the same document. */
export interface Conjunction {
  readonly quality: number;
  readonly terms: readonly Ranges[];
}

/** A unit as sets of term ids of one dictionary. */
export interface UnitPlan {
  /** By quality. */
  readonly terms: readonly Ranges[];
  readonly conjunctions: readonly Conjunction[];
  /** Two terms that side by side spell the word: one edit. */
  readonly splits: readonly (readonly [left: number, right: number])[];
}

export interface QueryPlan {
  readonly units: readonly UnitPlan[];
  /** Between each unit and the next: the term they form together, null when there is none. */
  readonly bridges: readonly (UnitPlan | null)[];
  readonly mayMiss: number;
  /** Null when the dictionary lacks one of the words: no title can hold them all. */
  readonly sequence: readonly number[] | null;
}

/** Ids of a stretch of a table. */
const pushIds = (ranges: number[], { ids }: TermTable, [from, to]: readonly [number, number]): void => {
  if (from >= to) return;
  if (ids === null) {
    if (ranges[ranges.length - 1] === from) ranges[ranges.length - 1] = to;
    else ranges.push(from, to);
    return;
  }
  for (const id of ids.slice(from, to)) ranges.push(id, id + 1);
};

const exactRange = (lexicon: Lexicon, text: string): number[] => {
  const id = lexicon.idOf(text);
  return id === null ? [] : [id, id + 1];
};

const prefixRanges = (lexicon: Lexicon, text: string): number[] => {
  const ranges: number[] = [];
  for (const table of lexicon.tables()) pushIds(ranges, table, prefixRange(table.terms, text));
  return ranges;
};

const typoRanges = (lexicon: Lexicon, word: string) => {
  const found = { oneEdit: [] as number[], beginnings: [] as number[], twoEdits: [] as number[] };
  for (const table of lexicon.tables()) {
    walkTypos(table.terms, word, {
      word: (index, edits) => {
        if (edits === 0 || !isAdmitted(table.terms, index, word)) return;
        pushIds(edits === 1 ? found.oneEdit : found.twoEdits, table, [index, index + 1]);
      },
      beginnings: (from, to) => pushIds(found.beginnings, table, [from, to]),
    });
  }
  return found;
};

const splitsOf = (lexicon: Lexicon, word: string): [number, number][] => {
  const splits: [number, number][] = [];
  for (let at = 1; at < word.length; at++) {
    const left = lexicon.idOf(word.slice(0, at));
    const right = left === null ? null : lexicon.idOf(word.slice(at));
    if (left !== null && right !== null) splits.push([left, right]);
  }
  return splits;
};

const idsOf = (lexicon: Lexicon, words: readonly string[]): number[] | null => {
  const ids = words.map((word) => lexicon.idOf(word)).filter((id) => id !== null);
  return ids.length === words.length ? ids : null;
};

/** Nothing when one of them has no term at all. */
const conjunction = (quality: number, terms: readonly Ranges[]): Conjunction[] =>
  terms.some((ranges) => ranges.length === 0) ? [] : [{ quality, terms }];

const partsConjunctions = (lexicon: Lexicon, parts: readonly string[]): Conjunction[] => {
  const terms = parts.map((part) => exactRange(lexicon, part));
  const last = parts[parts.length - 1] ?? '';
  const mayBePrefix = [...last].length >= PART_PREFIX_CHARACTERS;
  const prefix = mayBePrefix ? conjunction(PREFIX, [...terms.slice(0, -1), prefixRanges(lexicon, last)]) : [];
  return conjunction(EXACT, terms).concat(prefix);
};

const conjunctionsOf = (lexicon: Lexicon, { parts, pairs, loosePairs }: Unit): Conjunction[] => {
  if (parts !== null) return partsConjunctions(lexicon, parts);
  const exact = (pair: string) => exactRange(lexicon, pair);
  const found = pairs === null ? [] : conjunction(EXACT, pairs.map(exact));
  const loose = (loosePairs ?? []).map((pair) => [...exact(pair), ...exact(dividedPair(pair))]);
  return loosePairs === null ? found : found.concat(conjunction(ONE_EDIT, loose));
};

const wordTerms = (lexicon: Lexicon, word: string): Ranges[] => {
  const { oneEdit, beginnings, twoEdits } = typoRanges(lexicon, word);
  const terms: Ranges[] = [];
  terms[EXACT] = exactRange(lexicon, word);
  terms[PREFIX] = prefixRanges(lexicon, word);
  terms[ONE_EDIT] = oneEdit;
  terms[PREFIX_TYPO] = beginnings;
  terms[TWO_EDITS] = twoEdits;
  return terms;
};

const NO_TERMS: readonly Ranges[] = Array.from({ length: QUALITIES }, () => []);

const unitPlan = (lexicon: Lexicon, unit: Unit): UnitPlan => {
  const words = unit.word === null ? NO_TERMS : wordTerms(lexicon, unit.word);
  const glued = unit.glued.flatMap((token) => exactRange(lexicon, token));
  return {
    terms: words.map((ranges, quality) => (quality === ONE_EDIT ? [...ranges, ...glued] : ranges)),
    conjunctions: conjunctionsOf(lexicon, unit),
    splits: unit.word === null ? [] : splitsOf(lexicon, unit.word),
  };
};

const bridgePlan = (lexicon: Lexicon, token: string | null): UnitPlan | null => {
  const ranges = token === null ? [] : exactRange(lexicon, token);
  if (ranges.length === 0) return null;
  return { terms: NO_TERMS.map((none, quality) => (quality === ONE_EDIT ? ranges : none)), conjunctions: [], splits: [] };
};

/** Looks every word up once, for all segments and for the names. */
export const planQuery = (lexicon: Lexicon, query: ParsedQuery): QueryPlan => ({
  units: query.units.map((unit) => unitPlan(lexicon, unit)),
  bridges: query.bridges.map((token) => bridgePlan(lexicon, token)),
  mayMiss: query.mayMiss,
  sequence: idsOf(lexicon, query.sequence),
});
