import { growingBytes, num, sharedU32, u8, u32 } from './cells.ts';

/** The tokens of each document of a field in their order, with the positions they cover. */
export interface PlacedWords {
  /** Where each document begins in `bytes`, and the end. */
  readonly offsets: Uint32Array;
  readonly bytes: Uint8Array;
}

/** Tokens of one document: term, start, end, term, start, end, … by start. */
export type FlatTokens = ArrayLike<number>;

const STRIDE = 3;

/** Per token: the term; twice the step from the last start, plus one when more than one position is covered; then how many more. */
export const buildPlacedWords = (count: number, tokensOf: (doc: number) => FlatTokens): PlacedWords => {
  const offsets = sharedU32(count + 1);
  const bytes = growingBytes();
  for (let doc = 0; doc < count; doc++) {
    const tokens = tokensOf(doc);
    let last = 0;
    for (let at = 0; at < tokens.length; at += STRIDE) {
      const start = tokens[at + 1] ?? 0;
      const more = (tokens[at + 2] ?? 0) - start;
      bytes.pushNumber(tokens[at] ?? 0);
      bytes.pushNumber((start - last) * 2 + (more > 0 ? 1 : 0));
      if (more > 0) bytes.pushNumber(more);
      last = start;
    }
    offsets[doc + 1] = bytes.length();
  }
  return { offsets, bytes: bytes.toShared() };
};

/** The tokens of one document, put in place of what `tokens` held. */
export const readTokens = (words: PlacedWords, doc: number, tokens: number[]): readonly number[] => {
  tokens.length = 0;
  const end = u32(words.offsets, doc + 1);
  let at = u32(words.offsets, doc);
  const next = (): number => {
    let byte = u8(words.bytes, at++);
    let value = byte & 0x7f;
    for (let shift = 7; byte > 0x7f; shift += 7) {
      byte = u8(words.bytes, at++);
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
  for (let at = 0; at < tokens.length; at += STRIDE) {
    if (tokens[at] !== left) continue;
    const wanted = num(tokens, at + 2) + 1;
    for (let other = at + STRIDE; other < tokens.length && num(tokens, other + 1) <= wanted; other += STRIDE) {
      if (tokens[other] === right && tokens[other + 1] === wanted) return true;
    }
  }
  return false;
};

const lengthOf = (tokens: readonly number[]): number => {
  let length = 0;
  for (let at = 2; at < tokens.length; at += STRIDE) length = Math.max(length, num(tokens, at) + 1);
  return length;
};

/** Where the sequence ends when it begins with the token at `from`; -1 when it does not stand there. No two tokens of one start are equal. */
const endOf = (tokens: readonly number[], sequence: readonly number[], from: number): number => {
  let start = num(tokens, from + 1);
  let at = from;
  for (const term of sequence) {
    while (at < tokens.length && num(tokens, at + 1) <= start && !(tokens[at] === term && tokens[at + 1] === start)) at += STRIDE;
    if (at >= tokens.length || num(tokens, at + 1) > start) return -1;
    start = num(tokens, at + 2) + 1;
    at += STRIDE;
  }
  return start;
};

/** 0 when the title is the sequence, 1 when the sequence stands in it in order, 2 otherwise. */
export const orderIn = (tokens: readonly number[], sequence: readonly number[]): number => {
  const whole = lengthOf(tokens);
  let least = 2;
  for (let at = 0; at < tokens.length; at += STRIDE) {
    if (tokens[at] !== sequence[0]) continue;
    const end = endOf(tokens, sequence, at);
    if (end === whole && tokens[at + 1] === 0) return 0;
    if (end >= 0) least = 1;
  }
  return least;
};

export const placedBytes = (words: PlacedWords): number => words.offsets.byteLength + words.bytes.byteLength;
