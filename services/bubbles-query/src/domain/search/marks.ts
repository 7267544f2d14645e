import { type GrowingWords, growingWords, u8 } from './cells.ts';
import { areNeighbours, placedTokens } from './placed-words.ts';
import { documentsOf, eachDocument } from './postings.ts';
import { type Conjunction, ONE_EDIT, QUALITIES, type UnitPlan } from './query-plan.ts';
import type { Field } from './segment.ts';

/**
 * What a unit found in each document: 0 nothing, else 1 + quality + 5 × field. Fields are entered in order and qualities best first, so that
 * the first mark of a document is the one that counts.
 */
export interface Marks {
  readonly states: Uint8Array;
  /** The documents that have a mark. */
  readonly touched: GrowingWords;
}

export const createMarks = (count: number): Marks => ({ states: new Uint8Array(count), touched: growingWords() });

/** The highest state of a field. */
export const lastStateOf = (field: number): number => (field + 1) * QUALITIES;

export const enter = (marks: Marks, doc: number, state: number): void => {
  if (marks.states[doc] !== 0) return;
  marks.states[doc] = state;
  marks.touched.push(doc);
};

const has = (sorted: readonly number[], value: number): boolean => {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const found = sorted[middle] ?? value;
    if (found === value) return true;
    if (found < value) low = middle + 1;
    else high = middle;
  }
  return false;
};

const enterConjunction = (field: Field, { whole, last }: Conjunction, visit: (doc: number) => void): void => {
  const [first, ...others] = whole;
  if (first === undefined) {
    eachDocument(field.postings, last, visit);
    return;
  }
  let documents = documentsOf(field.postings, first);
  for (const term of others) {
    if (documents.length === 0) return;
    const kept: number[] = [];
    const candidates = documents;
    eachDocument(field.postings, [term, term + 1], (doc) => {
      if (has(candidates, doc)) kept.push(doc);
    });
    documents = kept;
  }
  if (documents.length === 0) return;
  eachDocument(field.postings, last, (doc) => {
    if (has(documents, doc)) visit(doc);
  });
};

const enterSplit = (field: Field, [left, right]: readonly [number, number], visit: (doc: number) => void): void => {
  const { words } = field;
  if (words === null) return;
  const documents = documentsOf(field.postings, left);
  if (documents.length === 0) return;
  eachDocument(field.postings, [right, right + 1], (doc) => {
    if (has(documents, doc) && areNeighbours(placedTokens(words, doc), left, right)) visit(doc);
  });
};

/** Enters what a field holds of a unit; `tier` is the field's number. */
export const enterField = (marks: Marks, field: Field, { plan, tier }: { readonly plan: UnitPlan; readonly tier: number }): void => {
  plan.terms.forEach((ranges, quality) => {
    const state = 1 + quality + tier * QUALITIES;
    const visit = (doc: number) => enter(marks, doc, state);
    eachDocument(field.postings, ranges, visit);
    for (const conjunction of plan.conjunctions) if (conjunction.quality === quality) enterConjunction(field, conjunction, visit);
    if (quality === ONE_EDIT) for (const split of plan.splits) enterSplit(field, split, visit);
  });
};

/** Enters the documents of every author whose name holds the unit. */
export const enterAuthors = (marks: Marks, authors: Uint32Array, found: Marks): void => {
  if (found.touched.length() === 0) return;
  for (let doc = 0; doc < authors.length; doc++) {
    const state = u8(found.states, authors[doc] ?? 0);
    if (state !== 0) enter(marks, doc, state);
  }
};
