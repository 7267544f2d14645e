import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { createSeal } from './seal.ts';

const aKey = (id: string) => ({ id, key: randomBytes(32) });

describe('seal', () => {
  const key = aKey('k1');
  const seal = createSeal([key], randomBytes);
  const secret = Buffer.from('a private key');

  it('opens what it closed, under the same name', () => {
    expect(seal.unseal(seal.seal(secret, 'name-1'), 'name-1')).toEqual(secret);
  });

  it('shows nothing of the secret and never the same bytes twice', () => {
    const sealed = seal.seal(secret, 'name-1');
    expect(Buffer.from(sealed.slice(3), 'base64url').includes(secret)).toBe(false);
    expect(seal.seal(secret, 'name-1')).not.toBe(sealed);
  });

  it('opens under no other name, with no other master key, and not when a byte differs', () => {
    const sealed = seal.seal(secret, 'name-1');
    const changed = sealed.slice(0, 20) + (sealed[20] === 'A' ? 'B' : 'A') + sealed.slice(21);
    const line = /^bad configuration: SEAL_KEYS: the key k1 does not open [^\n]+$/;
    expect(() => seal.unseal(sealed, 'name-2')).toThrow(line);
    expect(() => createSeal([aKey('k1')], randomBytes).unseal(sealed, 'name-1')).toThrow(line);
    expect(() => seal.unseal(changed, 'name-1')).toThrow(line);
  });

  it('seals with the first key and opens with the ones behind it', () => {
    const rotated = createSeal([aKey('k2'), key], randomBytes);
    expect(rotated.unseal(seal.seal(secret, 'n'), 'n')).toEqual(secret);
    expect(rotated.seal(secret, 'n')).toMatch(/^k2\./);
    expect(() => seal.unseal(rotated.seal(secret, 'n'), 'n')).toThrow(
      'SEAL_KEYS: what is stored was sealed with the key k2, which is not among them',
    );
  });
});
