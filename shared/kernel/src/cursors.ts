import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { base64Key } from './config-values.ts';
import { DomainError } from './errors.ts';

const KEY_BYTES = 32;
/** Variables of a service whose lists have cursors. */
export const CURSOR_VARIABLES = {
  CURSOR_KEY: base64Key(KEY_BYTES).describe('Authenticates cursors of lists: 32 bytes in base64'),
  CURSOR_KEY_PREVIOUS: base64Key(KEY_BYTES)
    .nullable()
    .default(null)
    .describe('The key before, whose cursors are taken for a day after a change'),
};

interface CursorKeys {
  readonly current: Buffer;
  /** The one before, accepted for a while after a rotation. */
  readonly previous: Buffer | null;
}

/** How the positions of one list are written into a cursor. */
export interface PositionSchema<P> {
  /** The versions of the order's rules whose positions are read: one byte each. */
  readonly rules: readonly number[];
  write(position: P): { readonly rules: number; readonly bytes: Buffer };
  /** Null when the bytes are no position. */
  read(bytes: Buffer): P | null;
}

/** The reader and the query of a cursor; other scopes refuse it. */
export type CursorScope = readonly (string | null)[];

/** Opaque, authenticated positions in one list. */
interface Cursor<P> {
  encode(position: P, scope: CursorScope): string;
  /**
   * Null without a cursor: the list begins. Throws `DomainError('invalid')` for everything that was not encoded for this list and scope, under rules that
   * are still read.
   */
  decode(text: string | undefined, scope: CursorScope): P | null;
}

/** `kind` tells the lists of one service apart: one byte. */
export type DefineCursor = <P>(kind: number, schema: PositionSchema<P>) => Cursor<P>;

const FORMAT = 1;
const FINGERPRINT_BYTES = 6;
const MAC_BYTES = 8;
const HEAD_BYTES = 3 + FINGERPRINT_BYTES;
/** Ids that positions hold may be long. */
const MAX_TEXT = 4096;

const refuse = (): never => {
  throw new DomainError('invalid', 'cursor: invalid, or issued for a different list or query.');
};

/** Format, rules and kind in a byte each, then the fingerprint of the scope, whose JSON tells its parts apart. */
const headOf = (kind: number, rules: number, scope: CursorScope): Buffer => {
  const fingerprint = createHash('sha256').update(JSON.stringify(scope)).digest().subarray(0, FINGERPRINT_BYTES);
  return Buffer.concat([Buffer.from([FORMAT, rules, kind]), fingerprint]);
};

const macOf = (key: Buffer, body: Buffer): Buffer => createHmac('sha256', key).update(body).digest().subarray(0, MAC_BYTES);

const bytesOf = (text: string): Buffer | null => {
  if (text.length > MAX_TEXT) return null;
  const bytes = Buffer.from(text, 'base64url');
  // One text for one cursor: no padding, no other alphabet, no stray bits.
  return bytes.toString('base64url') === text && bytes.length >= HEAD_BYTES + MAC_BYTES ? bytes : null;
};

/** The cursors of a service. A cursor is head, position and HMAC, in base64url. */
export function cursorsWith({ current, previous }: CursorKeys): DefineCursor {
  const accepted = previous ? [current, previous] : [current];
  return (kind, schema) => ({
    encode(position, scope) {
      const { rules, bytes } = schema.write(position);
      const body = Buffer.concat([headOf(kind, rules, scope), bytes]);
      return Buffer.concat([body, macOf(current, body)]).toString('base64url');
    },
    decode(text, scope) {
      if (text === undefined) return null;
      const bytes = bytesOf(text) ?? refuse();
      const [body, mac] = [bytes.subarray(0, -MAC_BYTES), bytes.subarray(-MAC_BYTES)];
      const isGenuine = accepted.some((key) => timingSafeEqual(macOf(key, body), mac));
      const rules = body.readUInt8(1);
      const isInScope = schema.rules.includes(rules) && body.subarray(0, HEAD_BYTES).equals(headOf(kind, rules, scope));
      const position = isGenuine && isInScope ? schema.read(Buffer.from(body.subarray(HEAD_BYTES))) : null;
      return position ?? refuse();
    },
  });
}

/** The place of a row in a list that is sorted by creation time and id. */
export interface CreatedPosition {
  readonly createdAt: Date;
  readonly id: string;
}

const TIME_RULES = 1;

/** Milliseconds in 6 bytes for times from 1970 on, or signed in 8 bytes for any time, then the id. */
export const createdPosition = (timeBytes: 6 | 8): PositionSchema<CreatedPosition> => ({
  rules: [TIME_RULES],
  write({ createdAt, id }) {
    const time = Buffer.alloc(8);
    time.writeBigInt64BE(BigInt(createdAt.getTime()));
    return { rules: TIME_RULES, bytes: Buffer.concat([time.subarray(8 - timeBytes), Buffer.from(id)]) };
  },
  read(bytes) {
    if (bytes.length < timeBytes) return null;
    const ms = timeBytes === 6 ? bytes.readUIntBE(0, 6) : Number(bytes.readBigInt64BE());
    return { createdAt: new Date(ms), id: bytes.subarray(timeBytes).toString() };
  },
});

/** One page of a list, of `rows` that were found with a limit of one more than it shows; `next` is null on the last page. */
export const keysetPage = <T>({
  rows,
  limit,
  encode,
}: {
  readonly rows: readonly T[];
  readonly limit: number;
  readonly encode: (last: T) => string;
}): { readonly rows: readonly T[]; readonly next: string | null } => {
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return { rows: rows.slice(0, limit), next: last === undefined ? null : encode(last) };
};
