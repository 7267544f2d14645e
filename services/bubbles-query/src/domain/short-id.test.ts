import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { bubbleIdOf, shortIdOf } from './short-id.ts';

const UUID = '8b0f3b1c-6c56-4c4e-9a41-0d3a5c7f2f10';

describe('the short id', () => {
  it('[BUB-01] is the uuid in base62: 22 characters, digits, then upper, then lower case', () => {
    expect(shortIdOf('00000000-0000-0000-0000-000000000000')).toBe('0'.repeat(22));
    expect(shortIdOf('00000000-0000-0000-0000-00000000000a')).toBe(`${'0'.repeat(21)}A`);
    expect(shortIdOf('00000000-0000-0000-0000-000000000024')).toBe(`${'0'.repeat(21)}a`);
    expect(shortIdOf('00000000-0000-0000-0000-00000000003e')).toBe(`${'0'.repeat(20)}10`);
    expect(shortIdOf('ffffffff-ffff-ffff-ffff-ffffffffffff')).toBe('7n42DGM5Tflk9n8mt7Fhc7');
  });

  it('[BUB-01] leads back to its uuid', () => {
    fc.assert(fc.property(fc.uuid(), (uuid) => expect(bubbleIdOf(shortIdOf(uuid))).toBe(uuid)));
  });

  it('[BUB-01] beyond the last uuid there is none', () => {
    expect(bubbleIdOf('7n42DGM5Tflk9n8mt7Fhc7')).toBe('ffffffff-ffff-ffff-ffff-ffffffffffff');
    expect(bubbleIdOf('7n42DGM5Tflk9n8mt7Fhc8')).toBeNull();
  });
});

describe('what a path names', () => {
  it('[BUB-01] a uuid in either case', () => {
    expect([UUID, UUID.toUpperCase()].map(bubbleIdOf)).toEqual([UUID, UUID]);
  });

  it.each([
    '',
    `{${UUID}}`,
    `urn:uuid:${UUID}`,
    ` ${UUID}`,
    `${UUID} `,
    `${UUID}\n`,
    UUID.replaceAll('-', ''),
    '0'.repeat(21),
    '0'.repeat(23),
    '-'.repeat(22),
  ])('[BUB-01] not %j', (text) => {
    expect(bubbleIdOf(text)).toBeNull();
  });
});
