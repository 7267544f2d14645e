import { type GrowingWords, growingWords, u8, u32 } from './cells.ts';
import { areNeighbours, readTokens } from './placed-words.ts';
import { documentsOf, eachDocument, eachDocumentInSteps, type Ranges } from './postings.ts';
import { ONE_EDIT, QUALITIES, type UnitPlan } from './query-plan.ts';
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

const isOneTerm = ([from = 0, to = 0, ...more]: Ranges): boolean => more.length === 0 && to - from <= 1;

/** Whether a value is in the ascending list; fast when the values asked for ascend as well. */
const membership = (ascending: Uint32Array): ((value: number) => boolean) => {
  let at = 0;
  let last = 0;
  return (value) => {
    if (value < last) at = 0;
    last = value;
    while (at < ascending.length && u32(ascending, at) < value) at++;
    return ascending[at] === value;
  };
};

/** Ascending, one of them perhaps several times. */
const ascending = (field: Field, ranges: Ranges): Uint32Array => {
  const documents = documentsOf(field.postings, ranges);
  return isOneTerm(ranges) ? documents : documents.sort();
};

const both = (field: Field, documents: Uint32Array, ranges: Ranges): Uint32Array => {
  const isIn = membership(documents);
  const kept = growingWords();
  eachDocument(field.postings, ranges, (doc) => {
    if (isIn(doc)) kept.push(doc);
  });
  return isOneTerm(ranges) ? kept.view() : kept.view().sort();
};

/** Documents that hold a term of each of the ranges, with breaths; one of them may come several times. */
function* conjunctionIn(field: Field, [first = [], ...others]: readonly Ranges[]): Generator<null, Uint32Array> {
  let documents = ascending(field, first);
  for (const ranges of others) {
    if (documents.length === 0) return documents;
    documents = both(field, documents, ranges);
    yield null;
  }
  return documents;
}

function* enterSplit(field: Field, [left, right]: readonly [number, number], visit: (doc: number) => void): Generator<null> {
  const { words } = field;
  if (words === null) return;
  const tokens: number[] = [];
  const documents = yield* conjunctionIn(field, [
    [left, left + 1],
    [right, right + 1],
  ]);
  for (const doc of documents) {
    if (areNeighbours(readTokens(words, doc, tokens), left, right)) visit(doc);
  }
}

/** Enters what a field holds of a unit, with breaths; `tier` is the field's number. */
export function* enterField(
  marks: Marks,
  field: Field,
  { plan, tier }: { readonly plan: UnitPlan; readonly tier: number },
): Generator<null> {
  for (const [quality, ranges] of plan.terms.entries()) {
    const state = 1 + quality + tier * QUALITIES;
    const visit = (doc: number) => enter(marks, doc, state);
    yield* eachDocumentInSteps(field.postings, ranges, visit);
    for (const conjunction of plan.conjunctions) {
      if (conjunction.quality === quality) (yield* conjunctionIn(field, conjunction.terms)).forEach(visit);
    }
    if (quality !== ONE_EDIT) continue;
    for (const split of plan.splits) {
      yield* enterSplit(field, split, visit);
      yield null;
    }
  }
}

/** Enters the documents of every author whose name holds the unit. */
export const enterAuthors = (marks: Marks, authors: Uint32Array, found: Marks): void => {
  if (found.touched.length() === 0) return;
  for (let doc = 0; doc < authors.length; doc++) {
    const state = u8(found.states, authors[doc] ?? 0);
    if (state !== 0) enter(marks, doc, state);
  }
};
