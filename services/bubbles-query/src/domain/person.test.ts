import { describe, expect, it } from '@jest/globals';
import { addressKey } from './person.ts';

describe('the key of an address', () => {
  it.each([
    ['Ada@Bücher.Example', 'ada@xn--bcher-kva.example'],
    ['ada @acme.test.', 'ada@acme.test'],
    ['ada@acme.test...', 'ada@acme.test'],
    ['ada@', 'ada@'],
    ['Ada', 'ada'],
  ])('is one for all ways to write %s', (email, key) => {
    expect(addressKey(email)).toBe(key);
  });

  it('takes a time that is linear in the length of the address', () => {
    const long = `ada@${'.'.repeat(2 ** 17)}a`;
    const began = performance.now();
    expect(addressKey(long)).toBe(long);
    expect(performance.now() - began).toBeLessThan(5000);
  });
});
