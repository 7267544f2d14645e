import type { Moment } from './bubble.ts';

/** The ranking is versioned: a position is comparable only under the rules that made it. */
export const RANK_RULES_VERSION = 1;

export const TIERS = 3;
/** Number of ranks by word order: the title equals the query, contains it, or neither. */
export const ORDERS = 3;
const MAX_PREFIXES = 10;
const MAX_EDITS = 20;
const MAX_FIELDS = 20;

/** Weights of a sum that never carries, so that costs of words can simply be added. */
const EDIT = MAX_PREFIXES + 1;
const FIELD = EDIT * (MAX_EDITS + 1);
export const COSTS = { prefix: 1, edit: EDIT, field: FIELD, missing: FIELD * (MAX_FIELDS + 1) } as const;

/**
 * One number below 2^18 that sorts as missing, tier, fields, edits, prefixes and order do, one after the other: smaller is better. `cost` is missing,
 * fields, edits and prefixes as one sum.
 */
export const packRank = (cost: number, tier: number, order: number): number => {
  const missing = Math.floor(cost / COSTS.missing);
  return ((missing * TIERS + tier) * COSTS.missing + (cost % COSTS.missing)) * ORDERS + order;
};

/** A position in the order of one query: what a cursor names. A function of the row alone, so that no other row can move it. */
export interface Position extends Moment {
  readonly rank: number;
}

/** Rank, then newest first, then id descending. */
export const comparePositions = (a: Position, b: Position): number => {
  if (a.rank !== b.rank) return a.rank - b.rank;
  if (a.createdMs !== b.createdMs) return b.createdMs - a.createdMs;
  if (a.id === b.id) return 0;
  return a.id > b.id ? -1 : 1;
};

/** Words with at least this many letters also match prefixes of terms with one edit. */
export const PREFIX_TYPO_LETTERS = 6;
const TYPO_LETTERS = 4;
const FREE_TYPO_LETTERS = 5;
const TWO_TYPOS_LETTERS = 8;

/** Digits, signs, unspaced scripts, and everything outside the basic plane (emoji, flags, rare Han): no typos, so letters are code units. */
const WITHOUT_TYPOS =
  /[\p{N}+#\p{RI}\p{Extended_Pictographic}\p{scx=Hani}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}]|[\u{10000}-\u{10FFFF}]/v;

/** How many edits the word may be away. */
export const typoBudget = (word: string): number => {
  if (word.length < TYPO_LETTERS || WITHOUT_TYPOS.test(word)) return 0;
  return word.length < TWO_TYPOS_LETTERS ? 1 : 2;
};

/** Four letters leave no room: the first must agree, or the first two be swapped. */
export const firstLetterAgrees = (word: string, token: string): boolean =>
  word.length >= FREE_TYPO_LETTERS || word[0] === token[0] || (word[0] === token[1] && word[1] === token[0]);
