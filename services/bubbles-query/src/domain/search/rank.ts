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

/** A place in the order of one query: what a cursor names. A function of the row alone, so that no other row can move it. */
export interface Position {
  readonly rank: number;
  /** Milliseconds; 0 for a bubble without a date. */
  readonly createdMs: number;
  /** Lower-case uuid. */
  readonly id: string;
}

/** Rank, then newest first, then id descending. */
export const comparePositions = (a: Position, b: Position): number => {
  if (a.rank !== b.rank) return a.rank - b.rank;
  if (a.createdMs !== b.createdMs) return b.createdMs - a.createdMs;
  if (a.id === b.id) return 0;
  return a.id > b.id ? -1 : 1;
};

const RANK_BYTES = 4;
const CREATED_BYTES = 6;
const ID_BYTES = 16;
export const POSITION_BYTES = RANK_BYTES + CREATED_BYTES + ID_BYTES;

export const encodePosition = (position: Position): Buffer => {
  const bytes = Buffer.alloc(POSITION_BYTES);
  bytes.writeUInt32BE(position.rank, 0);
  bytes.writeUIntBE(position.createdMs, RANK_BYTES, CREATED_BYTES);
  bytes.write(position.id.replaceAll('-', ''), RANK_BYTES + CREATED_BYTES, 'hex');
  return bytes;
};

/** Null when it cannot be a position. */
export const decodePosition = (bytes: Buffer): Position | null => {
  if (bytes.length !== POSITION_BYTES) return null;
  return {
    rank: bytes.readUInt32BE(0),
    createdMs: bytes.readUIntBE(RANK_BYTES, CREATED_BYTES),
    id: uuidText(bytes, RANK_BYTES + CREATED_BYTES),
  };
};

export const uuidText = (bytes: Uint8Array, offset: number): string => {
  const hex = Buffer.from(bytes.subarray(offset, offset + ID_BYTES)).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
};
