import { firstLetterAgrees, PREFIX_TYPO_LETTERS, typoBudget } from '../domain/ranking.ts';
import { shared, u8, u16, u32 } from './typed-arrays.ts';

/** Terms in code-unit order, end to end. */
export interface SortedTerms {
  readonly count: number;
  readonly chars: Uint16Array;
  /** `count + 1` of them. */
  readonly offsets: Uint32Array;
}

export const packTerms = (sorted: readonly string[]): SortedTerms => {
  const offsets = shared(Uint32Array, sorted.length + 1);
  let length = 0;
  sorted.forEach((term, index) => {
    length += term.length;
    offsets[index + 1] = length;
  });
  const chars = shared(Uint16Array, length);
  let at = 0;
  for (const term of sorted) {
    for (let i = 0; i < term.length; i++) chars[at++] = term.charCodeAt(i);
  }
  return { count: sorted.length, chars, offsets };
};

const textIn = ({ chars }: SortedTerms, from: number, to: number): string =>
  Buffer.from(chars.buffer, chars.byteOffset + from * chars.BYTES_PER_ELEMENT, (to - from) * chars.BYTES_PER_ELEMENT).toString('utf16le');

export const termAt = (terms: SortedTerms, index: number): string =>
  textIn(terms, u32(terms.offsets, index), u32(terms.offsets, index + 1));

/** Compares the first `text.length` units of a term with the text: 0 when the term begins with it. */
const compareBeginning = (terms: SortedTerms, index: number, text: string): number => {
  const start = u32(terms.offsets, index);
  const length = u32(terms.offsets, index + 1) - start;
  for (let i = 0; i < text.length; i++) {
    if (i >= length) return -1;
    const difference = u16(terms.chars, start + i) - text.charCodeAt(i);
    if (difference !== 0) return difference;
  }
  return 0;
};

/** The first index in [from, count) for which `isPast` holds; it holds for all after it. Fast when that is near. */
const gallop = (from: number, count: number, isPast: (index: number) => boolean): number => {
  let step = 1;
  let low = from;
  while (low + step <= count && !isPast(low + step - 1)) {
    low += step;
    step *= 2;
  }
  let high = Math.min(count, low + step - 1);
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isPast(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
};

/** The terms that begin with the text, as [from, to). */
export const prefixRange = (terms: SortedTerms, text: string): readonly [from: number, to: number] => {
  const from = gallop(0, terms.count, (index) => compareBeginning(terms, index, text) >= 0);
  return [from, gallop(from, terms.count, (index) => compareBeginning(terms, index, text) > 0)];
};

/** Index of the term, or -1. It sorts before everything else that begins with it. */
export const findTerm = (terms: SortedTerms, text: string): number => {
  const from = gallop(0, terms.count, (index) => compareBeginning(terms, index, text) >= 0);
  if (from === terms.count || compareBeginning(terms, from, text) !== 0) return -1;
  return u32(terms.offsets, from + 1) - u32(terms.offsets, from) === text.length ? from : -1;
};

/** What a walk finds, in order of the terms. */
interface Typos {
  /** A whole term within the budget that the rule for short words admits; the word itself is not among them. */
  readonly word: (index: number, edits: number) => void;
  /** Terms of which a proper beginning is within one edit. */
  readonly beginnings: (from: number, to: number) => void;
}

/** Where a walk stands. */
interface Walk {
  readonly word: string;
  readonly budget: number;
  /** The alignment table, a row for each letter of the term at hand. */
  readonly cells: Uint8Array;
  /** The least cell of each row. */
  readonly least: Uint8Array;
  /** The letters the rows were computed for, `depth` of them. */
  readonly path: Uint16Array;
  depth: number;
  /** The depth at which the path first was within one edit of the word. */
  beginningAt: number;
}

const NEVER = Number.POSITIVE_INFINITY;

const startWalk = (word: string, budget: number): Walk => {
  const depths = word.length + budget + 2;
  const cells = new Uint8Array(depths * (word.length + 1));
  for (let j = 0; j <= word.length; j++) cells[j] = Math.min(j, budget + 1);
  return { word, budget, cells, least: new Uint8Array(depths), path: new Uint16Array(depths), depth: 0, beginningAt: NEVER };
};

/** Distance between the word and the path, right when both lengths differ by no more than the budget. */
const distanceHere = (walk: Walk): number => u8(walk.cells, walk.depth * (walk.word.length + 1) + walk.word.length);

/** One row more, for the next letter of the term, within the band that can stay in the budget. */
const descend = (walk: Walk, letter: number): void => {
  const { word, budget, cells, least, path } = walk;
  path[walk.depth++] = letter;
  const { depth } = walk;
  const width = word.length + 1;
  const over = budget + 1;
  const row = depth * width;
  const last = row - width;
  const low = Math.max(1, depth - budget);
  const high = Math.min(word.length, depth + budget);
  cells[row] = Math.min(depth, over);
  if (low > 1) cells[row + low - 1] = over;
  let rowLeast = u8(cells, row);
  for (let j = low; j <= high; j++) {
    const substitution = u8(cells, last + j - 1) + (word.charCodeAt(j - 1) === letter ? 0 : 1);
    let cell = Math.min(substitution, u8(cells, last + j) + 1, u8(cells, row + j - 1) + 1, over);
    if (depth > 1 && j > 1 && word.charCodeAt(j - 2) === letter && word.charCodeAt(j - 1) === u16(path, depth - 2)) {
      cell = Math.min(cell, u8(cells, last - width + j - 2) + 1);
    }
    cells[row + j] = cell;
    if (cell < rowLeast) rowLeast = cell;
  }
  if (high < word.length) cells[row + high + 1] = over;
  least[depth] = rowLeast;
};

/** Nothing below this path can come back into the budget: a swap reaches two rows up. */
const isHopeless = ({ least, budget, depth }: Walk): boolean => depth > 0 && u8(least, depth) > budget && u8(least, depth - 1) >= budget;

/** Goes back to what the term shares with the path. */
const ascend = (walk: Walk, terms: SortedTerms, index: number): void => {
  const start = u32(terms.offsets, index);
  const length = Math.min(walk.depth, u32(terms.offsets, index + 1) - start);
  let common = 0;
  while (common < length && u16(terms.chars, start + common) === u16(walk.path, common)) common++;
  walk.depth = common;
  if (walk.beginningAt > common) walk.beginningAt = NEVER;
};

/** Down the term until its end or until it is hopeless, which it answers. */
const follow = (walk: Walk, terms: SortedTerms, index: number): boolean => {
  const start = u32(terms.offsets, index);
  const length = u32(terms.offsets, index + 1) - start;
  const wantsBeginnings = walk.word.length >= PREFIX_TYPO_LETTERS;
  while (walk.depth < length) {
    descend(walk, u16(terms.chars, start + walk.depth));
    const mayBegin = wantsBeginnings && walk.beginningAt === NEVER && Math.abs(walk.depth - walk.word.length) <= 1;
    if (mayBegin && distanceHere(walk) <= 1) walk.beginningAt = walk.depth;
    if (isHopeless(walk)) return true;
  }
  return false;
};

const blockEnd = (terms: SortedTerms, index: number, depth: number): number => {
  const start = u32(terms.offsets, index);
  const beginning = textIn(terms, start, start + depth);
  return gallop(index + 1, terms.count, (other) => compareBeginning(terms, other, beginning) !== 0);
};

/** The beginning of a term that the rule for short words compares. */
const beginningOf = (terms: SortedTerms, index: number): string => {
  const start = u32(terms.offsets, index);
  return textIn(terms, start, Math.min(start + 2, u32(terms.offsets, index + 1)));
};

/** Finds the terms within the typo budget of the word. Rows are shared by common beginnings; the terms of a hopeless beginning are skipped at once. */
export const walkTypos = (terms: SortedTerms, word: string, found: Typos): void => {
  const budget = typoBudget(word);
  if (budget === 0) return;
  const walk = startWalk(word, budget);
  let index = 0;
  while (index < terms.count) {
    ascend(walk, terms, index);
    const hopeless = follow(walk, terms, index);
    const next = hopeless ? blockEnd(terms, index, walk.depth) : index + 1;
    const isInBand = !hopeless && Math.abs(walk.depth - word.length) <= budget;
    const edits = isInBand ? distanceHere(walk) : NEVER;
    if (edits > 0 && edits <= budget && firstLetterAgrees(word, beginningOf(terms, index))) found.word(index, edits);
    if (walk.beginningAt < u32(terms.offsets, index + 1) - u32(terms.offsets, index)) found.beginnings(index, next);
    index = next;
  }
};
