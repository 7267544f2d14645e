import { buildPostings, type Postings, postingsBytes } from './posting-lists.ts';
import { growingVarints, num, shared, u8, u32 } from './typed-arrays.ts';

/** An inverted index of one text of each document: titles, notes, or the names of authors. Positions are kept where neighbours matter. */
export interface Field {
  readonly count: number;
  readonly postings: Postings;
  readonly positions: TokenPositions | null;
}

/** The tokens of each document of a field in their order, with the positions they cover. */
interface TokenPositions {
  /** Where each document begins in `bytes`, and the end. */
  readonly offsets: Uint32Array;
  readonly bytes: Uint8Array;
}

/** Tokens of one document: term, start, end, term, start, end, … by start. */
export type FlatTokens = ArrayLike<number>;

/** Of flat tokens. */
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

const lengthOf = (tokens: readonly number[]): number => {
  let length = 0;
  for (let at = 2; at < tokens.length; at += TOKEN_STRIDE) length = Math.max(length, num(tokens, at) + 1);
  return length;
};

/** Where the sequence ends when it begins with the token at `from`; -1 when it does not stand there. No two tokens of one start are equal. */
const endOf = (tokens: readonly number[], sequence: readonly number[], from: number): number => {
  let start = num(tokens, from + 1);
  let at = from;
  for (const term of sequence) {
    while (at < tokens.length && num(tokens, at + 1) <= start && !(tokens[at] === term && tokens[at + 1] === start)) at += TOKEN_STRIDE;
    if (at >= tokens.length || num(tokens, at + 1) > start) return -1;
    start = num(tokens, at + 2) + 1;
    at += TOKEN_STRIDE;
  }
  return start;
};

/** 0 when the title is the sequence, 1 when the sequence stands in it in order, 2 otherwise. */
export const orderIn = (tokens: readonly number[], sequence: readonly number[]): number => {
  const whole = lengthOf(tokens);
  let least = 2;
  for (let at = 0; at < tokens.length; at += TOKEN_STRIDE) {
    if (tokens[at] !== sequence[0]) continue;
    const end = endOf(tokens, sequence, at);
    if (end === whole && tokens[at + 1] === 0) return 0;
    if (end >= 0) least = 1;
  }
  return least;
};

/** How term ids become those of the field; `bound` is above every one of these. */
interface Renumbering {
  readonly renumber: (term: number) => number;
  readonly bound: number;
}

/** Of documents whose words have no order. */
export const bagField = (count: number, termsOf: (doc: number) => ArrayLike<number>, { renumber, bound }: Renumbering): Field => {
  const postings = buildPostings((visit) => {
    for (let doc = 0; doc < count; doc++) {
      const terms = termsOf(doc);
      for (let at = 0; at < terms.length; at++) visit(doc, renumber(terms[at] ?? 0));
    }
  }, bound);
  return { count, postings, positions: null };
};

/** Of documents whose tokens have positions. */
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
  postingsBytes(postings) + (positions === null ? 0 : positions.offsets.byteLength + positions.bytes.byteLength);
