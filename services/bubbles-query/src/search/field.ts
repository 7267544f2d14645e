import { growingU32, growingVarints, num, shared, u8, u32 } from './typed-arrays.ts';

/** An inverted index of one text of each document: titles, notes, or the names of authors. Positions are kept where neighbours matter. */
export interface Field {
  readonly count: number;
  readonly postings: Postings;
  readonly positions: TokenPositions | null;
}

/** For each term that occurs, the documents that hold it: ascending, as varints of their differences. */
interface Postings {
  /** Ids of the terms that occur, ascending. */
  readonly terms: Uint32Array;
  /** Where the documents of each term begin in `bytes`, and the end. */
  readonly offsets: Uint32Array;
  readonly bytes: Uint8Array;
}

/** Sets of term ids as pairs [from, to) one after the other. */
export type Ranges = readonly number[];

const firstAtLeast = (cells: Uint32Array, value: number): number => {
  let low = 0;
  let high = cells.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (u32(cells, middle) < value) low = middle + 1;
    else high = middle;
  }
  return low;
};

const eachDocumentOf = (postings: Postings, first: number, visit: (doc: number) => void): void => {
  const { bytes, offsets } = postings;
  const end = u32(offsets, first + 1);
  let at = u32(offsets, first);
  let doc = -1;
  while (at < end) {
    let byte = u8(bytes, at++);
    let difference = byte & 0x7f;
    for (let shift = 7; byte > 0x7f; shift += 7) {
      byte = u8(bytes, at++);
      difference |= (byte & 0x7f) << shift;
    }
    doc += difference;
    visit(doc);
  }
};

const BYTES_PER_SLICE = 65_536;

/** Every (term, document) of the ranges; a document may come several times. Yields where others may have a turn. */
export function* eachDocumentInSteps(postings: Postings, ranges: Ranges, visit: (doc: number) => void): Generator<null> {
  const { terms, offsets } = postings;
  let decoded = 0;
  for (let pair = 0; pair < ranges.length; pair += 2) {
    const to = num(ranges, pair + 1);
    for (let index = firstAtLeast(terms, num(ranges, pair)); index < terms.length && u32(terms, index) < to; index++) {
      eachDocumentOf(postings, index, visit);
      decoded += u32(offsets, index + 1) - u32(offsets, index);
      if (decoded < BYTES_PER_SLICE) continue;
      decoded = 0;
      yield null;
    }
  }
}

/** The same without yields. */
export const eachDocument = (postings: Postings, ranges: Ranges, visit: (doc: number) => void): void => {
  for (const _ of eachDocumentInSteps(postings, ranges, visit));
};

/** The documents of the ranges, ascending when they hold one term. */
const documentsOf = (postings: Postings, ranges: Ranges): Uint32Array => {
  const documents = growingU32();
  eachDocument(postings, ranges, documents.push);
  return documents.view();
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

/** One of them may come several times. */
const ascendingDocuments = (postings: Postings, ranges: Ranges): Uint32Array => {
  const documents = documentsOf(postings, ranges);
  return isOneTerm(ranges) ? documents : documents.sort();
};

const intersection = (postings: Postings, documents: Uint32Array, ranges: Ranges): Uint32Array => {
  const isIn = membership(documents);
  const kept = growingU32();
  eachDocument(postings, ranges, (doc) => {
    if (isIn(doc)) kept.push(doc);
  });
  return isOneTerm(ranges) ? kept.view() : kept.view().sort();
};

/** The documents that hold a term of each of the ranges; one may come several times. Yields where others may have a turn. */
export function* documentsWithAll(postings: Postings, [first = [], ...others]: readonly Ranges[]): Generator<null, Uint32Array> {
  let documents = ascendingDocuments(postings, first);
  for (const ranges of others) {
    if (documents.length === 0) return documents;
    documents = intersection(postings, documents, ranges);
    yield null;
  }
  return documents;
}

/** Calls `visit` with each document and each of its terms; documents ascend. A term may repeat within a document. */
type EachTerm = (visit: (doc: number, term: number) => void) => void;

/** Counts first, then places, so that memory is what the result needs. `bound` is above every term id. */
const buildPostings = (eachTerm: EachTerm, bound: number): Postings => {
  const counts = new Uint32Array(bound);
  const latest = new Uint32Array(bound);
  let used = 0;
  eachTerm((doc, term) => {
    if (u32(latest, term) === doc + 1) return;
    latest[term] = doc + 1;
    if (u32(counts, term) === 0) used++;
    counts[term] = u32(counts, term) + 1;
  });
  const ends = new Uint32Array(bound);
  let total = 0;
  for (let term = 0; term < bound; term++) {
    ends[term] = total;
    total += u32(counts, term);
  }
  const documents = new Uint32Array(total);
  latest.fill(0);
  eachTerm((doc, term) => {
    if (u32(latest, term) === doc + 1) return;
    latest[term] = doc + 1;
    const end = u32(ends, term);
    documents[end] = doc;
    ends[term] = end + 1;
  });
  return encode({ counts, documents, used });
};

interface Gathered {
  readonly counts: Uint32Array;
  readonly documents: Uint32Array;
  readonly used: number;
}

const encode = ({ counts, documents, used }: Gathered): Postings => {
  const terms = shared(Uint32Array, used);
  const offsets = shared(Uint32Array, used + 1);
  const bytes = growingVarints();
  let index = 0;
  let at = 0;
  for (let term = 0; term < counts.length; term++) {
    const end = at + u32(counts, term);
    if (end === at) continue;
    let last = -1;
    for (; at < end; at++) {
      const doc = u32(documents, at);
      bytes.push(doc - last);
      last = doc;
    }
    terms[index++] = term;
    offsets[index] = bytes.length();
  }
  return { terms, offsets, bytes: bytes.toShared() };
};

/** The tokens of each document of a field in their order, with the positions they cover. */
interface TokenPositions {
  /** Where each document begins in `bytes`, and the end. */
  readonly offsets: Uint32Array;
  readonly bytes: Uint8Array;
}

/** Tokens of one document: term, start, end, term, start, end, … by start. */
export type FlatTokens = ArrayLike<number>;

/** Numbers per token in `FlatTokens`. */
export const TOKEN_STRIDE = 3;

/** Per token: the term; twice the step from the last start, plus one when more than one position is covered; then how many more. */
const buildPositions = (count: number, tokensOf: (doc: number) => FlatTokens): TokenPositions => {
  const offsets = shared(Uint32Array, count + 1);
  const bytes = growingVarints();
  for (let doc = 0; doc < count; doc++) {
    const tokens = tokensOf(doc);
    let last = 0;
    for (let at = 0; at < tokens.length; at += TOKEN_STRIDE) {
      const start = tokens[at + 1] ?? 0;
      const more = (tokens[at + 2] ?? 0) - start;
      bytes.push(tokens[at] ?? 0);
      bytes.push((start - last) * 2 + (more > 0 ? 1 : 0));
      if (more > 0) bytes.push(more);
      last = start;
    }
    offsets[doc + 1] = bytes.length();
  }
  return { offsets, bytes: bytes.toShared() };
};

/** The tokens of one document, put in place of what `tokens` held. */
export const readTokens = (positions: TokenPositions, doc: number, tokens: number[]): readonly number[] => {
  tokens.length = 0;
  const end = u32(positions.offsets, doc + 1);
  let at = u32(positions.offsets, doc);
  const next = (): number => {
    let byte = u8(positions.bytes, at++);
    let value = byte & 0x7f;
    for (let shift = 7; byte > 0x7f; shift += 7) {
      byte = u8(positions.bytes, at++);
      value |= (byte & 0x7f) << shift;
    }
    return value;
  };
  let start = 0;
  while (at < end) {
    const term = next();
    const step = next();
    start += step >>> 1;
    tokens.push(term, start, start + ((step & 1) === 1 ? next() : 0));
  }
  return tokens;
};

/** Whether the two terms stand side by side in this order. */
export const areNeighbours = (tokens: readonly number[], left: number, right: number): boolean => {
  for (let at = 0; at < tokens.length; at += TOKEN_STRIDE) {
    if (tokens[at] !== left) continue;
    const wanted = num(tokens, at + 2) + 1;
    for (let other = at + TOKEN_STRIDE; other < tokens.length && num(tokens, other + 1) <= wanted; other += TOKEN_STRIDE) {
      if (tokens[other] === right && tokens[other + 1] === wanted) return true;
    }
  }
  return false;
};

/** How term ids become those of the field; `bound` is above every one of these. */
interface Renumbering {
  readonly renumber: (term: number) => number;
  readonly bound: number;
}

/** Field without word order. */
export const bagField = (count: number, termsOf: (doc: number) => ArrayLike<number>, { renumber, bound }: Renumbering): Field => {
  const postings = buildPostings((visit) => {
    for (let doc = 0; doc < count; doc++) {
      const terms = termsOf(doc);
      for (let at = 0; at < terms.length; at++) visit(doc, renumber(terms[at] ?? 0));
    }
  }, bound);
  return { count, postings, positions: null };
};

/** Field with token positions. */
export const positionalField = (count: number, tokensOf: (doc: number) => FlatTokens, { renumber, bound }: Renumbering): Field => {
  const renumbered = (doc: number) => Array.from(tokensOf(doc), (value, at) => (at % TOKEN_STRIDE === 0 ? renumber(value) : value));
  const postings = buildPostings((visit) => {
    for (let doc = 0; doc < count; doc++) {
      const tokens = tokensOf(doc);
      for (let at = 0; at < tokens.length; at += TOKEN_STRIDE) visit(doc, renumber(tokens[at] ?? 0));
    }
  }, bound);
  return { count, postings, positions: buildPositions(count, renumbered) };
};

export const fieldBytes = ({ postings, positions }: Field): number =>
  postings.terms.byteLength +
  postings.offsets.byteLength +
  postings.bytes.byteLength +
  (positions === null ? 0 : positions.offsets.byteLength + positions.bytes.byteLength);
