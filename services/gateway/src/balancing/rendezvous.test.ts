import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { preferenceOf } from './rendezvous.ts';

const keys = Array.from({ length: 3000 }, (_, index) => createHash('sha256').update(`${index}`).digest('hex'));
const five = Array.from({ length: 5 }, (_, index) => `http://10.0.0.${index + 1}:4001`);
const homes = (addresses: readonly string[]) => keys.map((key) => preferenceOf(addresses, key)[0]);

describe('rendezvous', () => {
  it('[RATE-02] does not depend on the order of the addresses', () => {
    expect(homes(five.toReversed())).toEqual(homes(five));
  });

  it('[RATE-02] spreads evenly', () => {
    const at = homes(five);
    for (const address of five) expect(Math.abs(at.filter((home) => home === address).length - 600)).toBeLessThan(120);
  });

  it('[RATE-02] moves only the keys of an address that goes, to their second choice', () => {
    const [gone = '', ...left] = five;
    const before = keys.map((key) => preferenceOf(five, key));
    homes(left).forEach((home, index) => {
      const [first, second] = before[index] ?? [];
      expect(home).toBe(first === gone ? second : first);
    });
  });
});
