/** The ranking is versioned: a position is comparable only under the rules that made it. */
export const RANK_RULES_VERSION = 1;

/** Smaller is better, compared from left to right. */
export interface RankTuple {
  readonly missing: number;
  readonly tier: number;
  readonly fields: number;
  readonly edits: number;
  readonly prefixes: number;
  readonly order: number;
}

export const TIERS = 3;
/** `order`: the title is the query, holds it, neither. */
export const ORDERS = 3;
const MAX_PREFIXES = 10;
const MAX_EDITS = 20;
const MAX_FIELDS = 20;

/** Weights of a sum that never carries, so that costs of words can simply be added. */
export const PREFIX_COST = 1;
export const EDIT_COST = MAX_PREFIXES + 1;
export const FIELD_COST = EDIT_COST * (MAX_EDITS + 1);
export const MISSING_COST = FIELD_COST * (MAX_FIELDS + 1);

/** One number below 2^18 that sorts as the tuple does. `cost` is missing, fields, edits and prefixes as one sum. */
export const packRank = (cost: number, tier: number, order: number): number => {
  const missing = Math.floor(cost / MISSING_COST);
  return ((missing * TIERS + tier) * MISSING_COST + (cost % MISSING_COST)) * ORDERS + order;
};

export const packTuple = (tuple: RankTuple): number => {
  const cost = tuple.missing * MISSING_COST + tuple.fields * FIELD_COST + tuple.edits * EDIT_COST + tuple.prefixes * PREFIX_COST;
  return packRank(cost, tuple.tier, tuple.order);
};

/** From 1970 until then, in 2286, times have 13 digits of milliseconds at most: what every release has known. */
export const NEAR_END_MS = 10 ** 13;
/** When a bubble without a date was made: before all others. */
export const UNDATED = Number.NEGATIVE_INFINITY;

/** A place among equals of one rank. */
export interface Moment {
  /** Milliseconds, or `UNDATED`. */
  readonly createdMs: number;
  /** Lower-case uuid. */
  readonly id: string;
}

/** A place in the order of one query: what a cursor names. A function of the row alone, so that no other row can move it. */
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

const ID_BYTES = 16;

export const uuidText = (bytes: Uint8Array, offset: number): string => {
  const hex = Buffer.from(bytes.subarray(offset, offset + ID_BYTES)).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
};
