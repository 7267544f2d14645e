import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type CursorScope, cursorCodec, cursorFingerprint } from './cursors.ts';

const key = (byte: number) => Buffer.alloc(32, byte);
const codec = cursorCodec({ keys: { current: key(1), previous: null } });
const scope: CursorScope = { kind: 1, rules: 3, fingerprint: cursorFingerprint(['user', 'query', null]) };
const position = Buffer.from('00112233445566778899aabbccddeeff', 'hex');
const cursor = codec.encode({ ...scope, position });

const REFUSED = expect.objectContaining({ kind: 'invalid' });

describe('cursorCodec', () => {
  it('gives back the position, whatever it is', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        const text = codec.encode({ ...scope, position: Buffer.from(bytes) });
        expect(text).toMatch(/^[A-Za-z0-9_-]+$/);
        expect(codec.decode(text, scope)).toEqual(Buffer.from(bytes));
      }),
    );
  });

  it('has the 58 characters of a search cursor of 26 bytes of position', () => {
    expect(codec.encode({ ...scope, position: Buffer.alloc(26) })).toHaveLength(58);
  });

  it('takes a position of any of the rules that are accepted', () => {
    for (const rules of [3, [3], [1, 3]]) expect(codec.decode(cursor, { ...scope, rules })).toEqual(position);
    for (const rules of [[], [1, 2]]) expect(() => codec.decode(cursor, { ...scope, rules })).toThrow(REFUSED);
  });

  it('[LIST-07] refuses every truncation and every extension', () => {
    for (let length = 0; length < cursor.length; length += 1) expect(() => codec.decode(cursor.slice(0, length), scope)).toThrow(REFUSED);
    for (const tail of ['A', '=', ' ', '\n', 'AAAA']) expect(() => codec.decode(cursor + tail, scope)).toThrow(REFUSED);
  });

  it('[LIST-07] refuses every flipped bit', () => {
    const bytes = Buffer.from(cursor, 'base64url');
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const flipped = Buffer.from(bytes);
      flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      expect(() => codec.decode(flipped.toString('base64url'), scope)).toThrow(REFUSED);
    }
  });

  it('[LIST-07] refuses another spelling of the same bytes, and any text', () => {
    const bytes = Buffer.from(cursor, 'base64url');
    for (const text of [bytes.toString('base64'), `${cursor}=`, `${cursor.slice(0, -1)}\u00e9`, '', 'null', '\0', 'A'.repeat(100_000)]) {
      if (text !== cursor) expect(() => codec.decode(text, scope)).toThrow(REFUSED);
    }
  });

  it.each([
    ['kind', { kind: 2 }],
    ['version of the rules', { rules: 4 }],
    ['caller or filter', { fingerprint: cursorFingerprint(['other', 'query', null]) }],
  ])('[LIST-08] refuses a cursor of another %s', (_title, other) => {
    expect(() => codec.decode(cursor, { ...scope, ...other })).toThrow(REFUSED);
  });

  it('[LIST-08] accepts the previous key, and no other', () => {
    const rotated = cursorCodec({ keys: { current: key(2), previous: key(1) } });
    expect(rotated.decode(cursor, scope)).toEqual(position);
    expect(() => codec.decode(rotated.encode({ ...scope, position }), scope)).toThrow(REFUSED);
    const twice = cursorCodec({ keys: { current: key(3), previous: key(2) } });
    expect(() => twice.decode(cursor, scope)).toThrow(REFUSED);
  });

  it('fingerprints tell apart what is absent, empty, or cut elsewhere', () => {
    const prints = [['ab', 'c'], ['a', 'bc'], ['abc'], ['abc', ''], ['abc', null]].map((parts) => cursorFingerprint(parts).toString('hex'));
    expect(new Set(prints).size).toBe(prints.length);
  });
});
