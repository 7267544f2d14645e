import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { masterKeySeal } from './seal.ts';

describe('seal', () => {
  const seal = masterKeySeal(randomBytes(32), randomBytes);
  const secret = Buffer.from('a private key');

  it('opens what it closed, under the same name', () => {
    expect(seal.open(seal.close(secret, 'kid-1'), 'kid-1')).toEqual(secret);
  });

  it('shows nothing of the secret and never the same bytes twice', () => {
    const sealed = seal.close(secret, 'kid-1');
    expect(Buffer.from(sealed, 'base64url').includes(secret)).toBe(false);
    expect(seal.close(secret, 'kid-1')).not.toBe(sealed);
  });

  it('opens under no other name, with no other master key, and not when a byte differs', () => {
    const sealed = seal.close(secret, 'kid-1');
    const bytes = Buffer.from(sealed, 'base64url');
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
    expect(() => seal.open(sealed, 'kid-2')).toThrow();
    expect(() => masterKeySeal(randomBytes(32), randomBytes).open(sealed, 'kid-1')).toThrow();
    expect(() => seal.open(bytes.toString('base64url'), 'kid-1')).toThrow();
  });
});
