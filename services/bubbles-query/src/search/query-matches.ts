import { dividedPair } from '../domain/analyser.ts';
import { PART_PREFIX_CHARACTERS, type ParsedQuery, type Unit } from '../domain/search-query.ts';
import type { Dictionary } from './dictionary.ts';
import { areNeighbours, documentsWithAll, eachDocumentInSteps, type Field, type Ranges, readTokens } from './field.ts';
import { type GrowingU32, growingU32, u8 } from './typed-arrays.ts';

/** Qualities in their order: exact, prefix, one edit, prefix with one edit, two edits. `edits * 2 + prefix`. */
const EXACT = 0;
const PREFIX = 1;
const ONE_EDIT = 2;
const PREFIX_TYPO = 3;
const TWO_EDITS = 4;
export const QUALITIES = 5;

/** A term of each of these in the same document. */
interface Conjunction {
  readonly quality: number;
  readonly terms: readonly Ranges[];
}

/** A unit as sets of term ids of one dictionary. */
interface UnitPlan {
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

const splitsOf = (dictionary: Dictionary, word: string): [number, number][] => {
  const splits: [number, number][] = [];
  for (let at = 1; at < word.length; at++) {
    const left = dictionary.idOf(word.slice(0, at));
    const right = left === null ? null : dictionary.idOf(word.slice(at));
    if (left !== null && right !== null) splits.push([left, right]);
  }
  return splits;
};

const idsOf = (dictionary: Dictionary, words: readonly string[]): number[] | null => {
  const ids = words.map((word) => dictionary.idOf(word)).filter((id) => id !== null);
  return ids.length === words.length ? ids : null;
};

/** Nothing when one of them has no term at all. */
const conjunction = (quality: number, terms: readonly Ranges[]): Conjunction[] =>
  terms.some((ranges) => ranges.length === 0) ? [] : [{ quality, terms }];

const partsConjunctions = (dictionary: Dictionary, parts: readonly string[]): Conjunction[] => {
  const terms = parts.map((part) => dictionary.exact(part));
  const last = parts[parts.length - 1] ?? '';
  const mayBePrefix = [...last].length >= PART_PREFIX_CHARACTERS;
  const prefix = mayBePrefix ? conjunction(PREFIX, [...terms.slice(0, -1), dictionary.beginningWith(last)]) : [];
  return conjunction(EXACT, terms).concat(prefix);
};

const conjunctionsOf = (dictionary: Dictionary, { parts, pairs, loosePairs }: Unit): Conjunction[] => {
  if (parts !== null) return partsConjunctions(dictionary, parts);
  const exact = (pair: string) => dictionary.exact(pair);
  const found = pairs === null ? [] : conjunction(EXACT, pairs.map(exact));
  const loose = (loosePairs ?? []).map((pair) => [...exact(pair), ...exact(dividedPair(pair))]);
  return loosePairs === null ? found : found.concat(conjunction(ONE_EDIT, loose));
};

const wordTerms = (dictionary: Dictionary, word: string): Ranges[] => {
  const { oneEdit, beginnings, twoEdits } = dictionary.typosOf(word);
  const terms: Ranges[] = [];
  terms[EXACT] = dictionary.exact(word);
  terms[PREFIX] = dictionary.beginningWith(word);
  terms[ONE_EDIT] = oneEdit;
  terms[PREFIX_TYPO] = beginnings;
  terms[TWO_EDITS] = twoEdits;
  return terms;
};

const NO_TERMS: readonly Ranges[] = Array.from({ length: QUALITIES }, () => []);

const unitPlan = (dictionary: Dictionary, unit: Unit): UnitPlan => {
  const words = unit.word === null ? NO_TERMS : wordTerms(dictionary, unit.word);
  const glued = unit.glued.flatMap((token) => dictionary.exact(token));
  return {
    terms: words.map((ranges, quality) => (quality === ONE_EDIT ? [...ranges, ...glued] : ranges)),
    conjunctions: conjunctionsOf(dictionary, unit),
    splits: unit.word === null ? [] : splitsOf(dictionary, unit.word),
  };
};

const bridgePlan = (dictionary: Dictionary, token: string | null): UnitPlan | null => {
  const ranges = token === null ? [] : dictionary.exact(token);
  if (ranges.length === 0) return null;
  return { terms: NO_TERMS.map((none, quality) => (quality === ONE_EDIT ? ranges : none)), conjunctions: [], splits: [] };
};

/** Looks every word up once, for all segments and for the names. */
export const planQuery = (dictionary: Dictionary, query: ParsedQuery): QueryPlan => ({
  units: query.units.map((unit) => unitPlan(dictionary, unit)),
  bridges: query.bridges.map((token) => bridgePlan(dictionary, token)),
  mayMiss: query.mayMiss,
  sequence: idsOf(dictionary, query.sequence),
});

/**
 * What a unit found in each document: 0 nothing, else 1 + quality + 5 × field. Fields are searched in order, qualities best first, so that
 * the first match of a document is the one that counts.
 */
export interface Matches {
  readonly states: Uint8Array;
  /** The documents in which the unit was found. */
  readonly documents: GrowingU32;
}

const createMatches = (count: number): Matches => ({ states: new Uint8Array(count), documents: growingU32() });

const addMatch = (matches: Matches, doc: number, state: number): void => {
  if (matches.states[doc] !== 0) return;
  matches.states[doc] = state;
  matches.documents.push(doc);
};

function* matchSplit(field: Field, [left, right]: readonly [number, number], visit: (doc: number) => void): Generator<null> {
  const { positions } = field;
  if (positions === null) return;
  const tokens: number[] = [];
  const documents = yield* documentsWithAll(field.postings, [
    [left, left + 1],
    [right, right + 1],
  ]);
  for (const doc of documents) {
    if (areNeighbours(readTokens(positions, doc, tokens), left, right)) visit(doc);
  }
}

/** Adds what a field holds of a unit; `tier` is the field's number. Yields where others may have a turn. */
export function* matchField(
  matches: Matches,
  field: Field,
  { plan, tier }: { readonly plan: UnitPlan; readonly tier: number },
): Generator<null> {
  for (const [quality, ranges] of plan.terms.entries()) {
    const state = 1 + quality + tier * QUALITIES;
    const visit = (doc: number) => addMatch(matches, doc, state);
    yield* eachDocumentInSteps(field.postings, ranges, visit);
    for (const conjunction of plan.conjunctions) {
      if (conjunction.quality === quality) (yield* documentsWithAll(field.postings, conjunction.terms)).forEach(visit);
    }
    if (quality !== ONE_EDIT) continue;
    for (const split of plan.splits) {
      yield* matchSplit(field, split, visit);
      yield null;
    }
  }
}

/** Adds the documents of every author whose name holds the unit. */
export const matchAuthors = (matches: Matches, authors: Uint32Array, found: Matches): void => {
  if (found.documents.length() === 0) return;
  for (let doc = 0; doc < authors.length; doc++) {
    const state = u8(found.states, authors[doc] ?? 0);
    if (state !== 0) addMatch(matches, doc, state);
  }
};

/** The matches of a query in one segment. */
export interface QueryMatches {
  readonly units: readonly Matches[];
  /** Between each unit and the next; null where the two never stand as one token. */
  readonly bridges: readonly (Matches | null)[];
}

/** None yet, in a field or segment of `count` documents. */
export const noMatches = ({ units, bridges }: QueryPlan, count: number): QueryMatches => ({
  units: units.map(() => createMatches(count)),
  bridges: bridges.map((bridge) => (bridge === null ? null : createMatches(count))),
});

/** What the names of the authors hold of a query, by author; `tier` is the number of their field. */
export const matchesInNames = (plan: QueryPlan, names: Field, tier: number): QueryMatches => {
  const found = noMatches(plan, names.count);
  for (const kind of ['units', 'bridges'] as const) {
    for (const [index, unit] of plan[kind].entries()) {
      const matches = found[kind][index];
      if (unit && matches) for (const _ of matchField(matches, names, { plan: unit, tier }));
    }
  }
  return found;
};
