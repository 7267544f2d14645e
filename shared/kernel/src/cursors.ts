import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { DomainError } from './errors.ts';

export interface CursorKeys {
  readonly current: Buffer;
  /** The one before, accepted for a while after a rotation. */
  readonly previous: Buffer | null;
}

/** What a cursor is bound to; used with anything else it is refused. */
export interface CursorScope {
  /** Which list: one byte. */
  readonly kind: number;
  /** The version of the order's rules: one byte. */
  readonly rules: number;
  /** Of the caller and the filters: `cursorFingerprint`. */
  readonly fingerprint: Buffer;
}

export interface CursorCodec {
  encode(cursor: CursorScope & { readonly position: Buffer }): string;
  /** The position; throws `DomainError('invalid')` for everything that this codec did not encode for this scope, under one of its rules. */
  decode(text: string, scope: Omit<CursorScope, 'rules'> & { readonly rules: number | readonly number[] }): Buffer;
}

const FORMAT = 1;
const FINGERPRINT_BYTES = 6;
const MAC_BYTES = 8;
const HEAD_BYTES = 3 + FINGERPRINT_BYTES;
/** Ids that positions hold may be long. */
const MAX_TEXT = 4096;

/** Binds a cursor to whoever and whatever it is given for; the parts are told apart from each other. */
export const cursorFingerprint = (parts: readonly (string | null)[]): Buffer =>
  createHash('sha256').update(JSON.stringify(parts)).digest().subarray(0, FINGERPRINT_BYTES);

const headOf = ({ kind, rules, fingerprint }: CursorScope): Buffer => {
  if (fingerprint.length !== FINGERPRINT_BYTES) throw new RangeError(`A fingerprint has ${FINGERPRINT_BYTES} bytes.`);
  const head = Buffer.alloc(3);
  head.writeUInt8(FORMAT, 0);
  head.writeUInt8(rules, 1);
  head.writeUInt8(kind, 2);
  return Buffer.concat([head, fingerprint]);
};

const macOf = (key: Buffer, body: Buffer): Buffer => createHmac('sha256', key).update(body).digest().subarray(0, MAC_BYTES);

const bytesOf = (text: string): Buffer | null => {
  if (text.length > MAX_TEXT) return null;
  const bytes = Buffer.from(text, 'base64url');
  // One text for one cursor: no padding, no other alphabet, no stray bits.
  return bytes.toString('base64url') === text && bytes.length >= HEAD_BYTES + MAC_BYTES ? bytes : null;
};

const positionIn = (bytes: Buffer, keys: readonly Buffer[], heads: readonly Buffer[]): Buffer | null => {
  const [body, mac] = [bytes.subarray(0, -MAC_BYTES), bytes.subarray(-MAC_BYTES)];
  const genuine = keys.some((key) => timingSafeEqual(macOf(key, body), mac));
  return genuine && heads.some((head) => body.subarray(0, HEAD_BYTES).equals(head)) ? Buffer.from(body.subarray(HEAD_BYTES)) : null;
};

/** Opaque, authenticated positions in keyset order: format, rules, kind, fingerprint, position, HMAC. */
export function cursorCodec({ keys }: { readonly keys: CursorKeys }): CursorCodec {
  const accepted = keys.previous ? [keys.current, keys.previous] : [keys.current];
  return {
    encode({ position, ...scope }) {
      const body = Buffer.concat([headOf(scope), position]);
      return Buffer.concat([body, macOf(keys.current, body)]).toString('base64url');
    },
    decode(text, scope) {
      const bytes = bytesOf(text);
      const heads = [scope.rules].flat().map((rules) => headOf({ ...scope, rules }));
      const position = bytes && positionIn(bytes, accepted, heads);
      if (!position) throw new DomainError('invalid', 'cursor: invalid, or issued for a different list or query.');
      return position;
    },
  };
}
