import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type CursorScope, createdPosition, cursorsWith, keysetPage, type PositionSchema } from './cursors.ts';

const key = (byte: number) => Buffer.alloc(32, byte);
/** Positions that are any bytes, under one version of the rules unless more are read. */
const raw = (rules = 3, readable: readonly number[] = [rules]): PositionSchema<Buffer> => ({
  rules: readable,
  write: (bytes) => ({ rules, bytes }),
  read: (bytes) => bytes,
});
const define = cursorsWith({ current: key(1), previous: null });
const list = define(1, raw());
const scope: CursorScope = ['user', 'query', null];
const position = Buffer.from('00112233445566778899aabbccddeeff', 'hex');
const cursor = list.encode(position, scope);

const REFUSED = expect.objectContaining({ kind: 'invalid' });

describe('a cursor', () => {
  it('gives back the position, whatever it is', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        const text = list.encode(Buffer.from(bytes), scope);
        expect(text).toMatch(/^[A-Za-z0-9_-]+$/);
        expect(list.decode(text, scope)).toEqual(Buffer.from(bytes));
      }),
    );
  });

  it('has the 58 characters of a search cursor of 26 bytes of position', () => {
    expect(list.encode(Buffer.alloc(26), scope)).toHaveLength(58);
  });

  it('takes a position of any of the rules that are accepted', () => {
    for (const rules of [[3], [1, 3]]) expect(define(1, raw(3, rules)).decode(cursor, scope)).toEqual(position);
    for (const rules of [[], [1, 2]]) expect(() => define(1, raw(3, rules)).decode(cursor, scope)).toThrow(REFUSED);
  });

  it('is not needed for the first page', () => {
    expect(list.decode(undefined, scope)).toBeNull();
  });

  it('is refused when it holds no position', () => {
    expect(() => define(1, { ...raw(), read: () => null }).decode(cursor, scope)).toThrow(REFUSED);
  });

  it('[LIST-07] refuses every truncation and every extension', () => {
    for (let length = 0; length < cursor.length; length += 1) expect(() => list.decode(cursor.slice(0, length), scope)).toThrow(REFUSED);
    for (const tail of ['A', '=', ' ', '\n', 'AAAA']) expect(() => list.decode(cursor + tail, scope)).toThrow(REFUSED);
  });

  it('[LIST-07] refuses every flipped bit', () => {
    const bytes = Buffer.from(cursor, 'base64url');
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const flipped = Buffer.from(bytes);
      flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      expect(() => list.decode(flipped.toString('base64url'), scope)).toThrow(REFUSED);
    }
  });

  it('[LIST-07] refuses another spelling of the same bytes, and any text', () => {
    const bytes = Buffer.from(cursor, 'base64url');
    for (const text of [bytes.toString('base64'), `${cursor}=`, `${cursor.slice(0, -1)}\u00e9`, '', 'null', '\0', 'A'.repeat(100_000)]) {
      if (text !== cursor) expect(() => list.decode(text, scope)).toThrow(REFUSED);
    }
  });

  it.each([
    ['kind', () => define(2, raw()).decode(cursor, scope)],
    ['version of the rules', () => define(1, raw(4)).decode(cursor, scope)],
    ['caller or filter', () => list.decode(cursor, ['other', 'query', null])],
  ])('[LIST-08] refuses a cursor of another %s', (_title, decode) => {
    expect(decode).toThrow(REFUSED);
  });

  it('[LIST-08] accepts the previous key, and no other', () => {
    const rotated = cursorsWith({ current: key(2), previous: key(1) })(1, raw());
    expect(rotated.decode(cursor, scope)).toEqual(position);
    expect(() => list.decode(rotated.encode(position, scope), scope)).toThrow(REFUSED);
    const twice = cursorsWith({ current: key(3), previous: key(2) })(1, raw());
    expect(() => twice.decode(cursor, scope)).toThrow(REFUSED);
  });

  it('tells apart scopes in which a part is absent, empty, or cut elsewhere', () => {
    const scopes = [['ab', 'c'], ['a', 'bc'], ['abc'], ['abc', ''], ['abc', null]];
    const texts = scopes.map((parts) => list.encode(position, parts));
    expect(new Set(texts).size).toBe(texts.length);
  });
});

describe('a position by creation time', () => {
  it.each([
    [6, fc.integer({ min: 0, max: 2 ** 47 })],
    [8, fc.integer({ min: -62_167_219_200_000, max: 253_402_300_799_999 })],
  ] as const)('comes back from %s bytes of time', (timeBytes, times) => {
    const schema = createdPosition(timeBytes);
    fc.assert(
      fc.property(times, fc.string({ unit: 'binary' }), (ms, id) => {
        const { bytes } = schema.write({ createdAt: new Date(ms), id });
        expect(schema.read(bytes)).toEqual({ createdAt: new Date(ms), id });
      }),
    );
    expect(schema.read(Buffer.alloc(timeBytes - 1))).toBeNull();
  });
});

describe('a page', () => {
  const pageOf = (rows: readonly number[]) => keysetPage({ rows, limit: 2, encode: String });

  it('names the position after its last row only when another page follows', () => {
    expect(pageOf([])).toEqual({ rows: [], next: null });
    expect(pageOf([1, 2])).toEqual({ rows: [1, 2], next: null });
    expect(pageOf([1, 2, 3])).toEqual({ rows: [1, 2], next: '2' });
  });
});
