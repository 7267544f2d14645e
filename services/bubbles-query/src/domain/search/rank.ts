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

const RANK_BYTES = 4;
const ID_BYTES = 16;
/** Unsigned, 0 for a bubble without a date: what every release reads. */
const NEAR_BYTES = 6;
/** Signed: for times that the near form cannot say. */
const FAR_BYTES = 8;

/** Of 1970 to 2286, or without a date. */
export const isNear = (createdMs: number): boolean => createdMs === UNDATED || (createdMs >= 1 && createdMs < NEAR_END_MS);

const timeBytes = (createdMs: number): Buffer => {
  if (isNear(createdMs)) {
    const bytes = Buffer.alloc(NEAR_BYTES);
    bytes.writeUIntBE(createdMs === UNDATED ? 0 : createdMs, 0, NEAR_BYTES);
    return bytes;
  }
  const bytes = Buffer.alloc(FAR_BYTES);
  bytes.writeBigInt64BE(BigInt(createdMs));
  return bytes;
};

export const encodeMoment = ({ createdMs, id }: Moment): Buffer =>
  Buffer.concat([timeBytes(createdMs), Buffer.from(id.replaceAll('-', ''), 'hex')]);

/** Null when it cannot be one. */
export const decodeMoment = (bytes: Buffer): Moment | null => {
  const width = bytes.length - ID_BYTES;
  if (width !== NEAR_BYTES && width !== FAR_BYTES) return null;
  const ms = width === NEAR_BYTES ? bytes.readUIntBE(0, NEAR_BYTES) : Number(bytes.readBigInt64BE());
  return { createdMs: width === NEAR_BYTES && ms === 0 ? UNDATED : ms, id: uuidText(bytes, width) };
};

export const encodePosition = (position: Position): Buffer => {
  const rank = Buffer.alloc(RANK_BYTES);
  rank.writeUInt32BE(position.rank);
  return Buffer.concat([rank, encodeMoment(position)]);
};

/** Null when it cannot be a position. */
export const decodePosition = (bytes: Buffer): Position | null => {
  const moment = decodeMoment(bytes.subarray(RANK_BYTES));
  return moment && { rank: bytes.readUInt32BE(0), ...moment };
};

export const uuidText = (bytes: Uint8Array, offset: number): string => {
  const hex = Buffer.from(bytes.subarray(offset, offset + ID_BYTES)).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
};
