import { createdPosition, type DefineCursor, type PositionSchema } from '@bubbles/kernel/cursors.ts';
import { type Moment, NEAR_END_MS, UNDATED } from '../../domain/bubble.ts';
import { type Position, RANK_RULES_VERSION } from '../../domain/ranking.ts';
import { uuidText } from '../../domain/short-id.ts';

const RULES = 1;
/** Version of cursors for times that an earlier release would misread. */
const FAR_RULES = 2;

const RANK_BYTES = 4;
const ID_BYTES = 16;
/** Unsigned, 0 for a bubble without a date: what every release reads. */
const NEAR_BYTES = 6;
/** Signed: for times that the near form cannot say. */
const FAR_BYTES = 8;

/** From 1970 to 2286, or without a date. */
const isNear = (createdMs: number): boolean => createdMs === UNDATED || (createdMs >= 1 && createdMs < NEAR_END_MS);

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

const momentBytes = ({ createdMs, id }: Moment): Buffer =>
  Buffer.concat([timeBytes(createdMs), Buffer.from(id.replaceAll('-', ''), 'hex')]);

const readMoment = (bytes: Buffer): Moment | null => {
  const width = bytes.length - ID_BYTES;
  if (width !== NEAR_BYTES && width !== FAR_BYTES) return null;
  const ms = width === NEAR_BYTES ? bytes.readUIntBE(0, NEAR_BYTES) : Number(bytes.readBigInt64BE());
  return { createdMs: width === NEAR_BYTES && ms === 0 ? UNDATED : ms, id: uuidText(bytes, width) };
};

const rowPosition: PositionSchema<Moment> = {
  rules: [RULES, FAR_RULES],
  write: (moment) => ({ rules: isNear(moment.createdMs) ? RULES : FAR_RULES, bytes: momentBytes(moment) }),
  read: readMoment,
};

export const hitPosition: PositionSchema<Position> = {
  rules: [RANK_RULES_VERSION],
  write(position) {
    const rank = Buffer.alloc(RANK_BYTES);
    rank.writeUInt32BE(position.rank);
    return { rules: RANK_RULES_VERSION, bytes: Buffer.concat([rank, momentBytes(position)]) };
  },
  read(bytes) {
    const moment = readMoment(bytes.subarray(RANK_BYTES));
    return moment && { rank: bytes.readUInt32BE(0), ...moment };
  },
};

/** Cursors are bound to the reader and the query, not to the credential or the page size. */
export const cursors = (define: DefineCursor) => ({
  rows: define(1, rowPosition),
  hits: define(2, hitPosition),
  comments: define(3, createdPosition(8)),
});
export type Cursors = ReturnType<typeof cursors>;
