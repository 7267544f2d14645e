import { describe, expect, it } from '@jest/globals';
import { createBodyAllowance } from './body-allowance.ts';

const allowance = () => {
  let nowMs = 0;
  const made = createBodyAllowance({ burstBytes: 1000, bytesPerSecond: 100 }, () => nowMs);
  const pass = (seconds: number) => {
    nowMs += seconds * 1000;
  };
  return { ...made, pass };
};

describe('what a network may send', () => {
  it('is a burst, then a rate', () => {
    const { waitSeconds, spend, pass } = allowance();
    spend('a', 999);
    expect(waitSeconds('a')).toBeNull();
    spend('a', 251);
    expect(waitSeconds('a')).toBe(3);
    pass(2);
    expect(waitSeconds('a')).toBe(1);
    pass(1);
    expect(waitSeconds('a')).toBeNull();
  });

  it('is its own', () => {
    const { waitSeconds, spend } = allowance();
    spend('a', 1000);
    expect([waitSeconds('a'), waitSeconds('b')]).toEqual([1, null]);
  });

  it('is the burst again after a while, and no more', () => {
    const { waitSeconds, spend, pass } = allowance();
    spend('a', 1000);
    pass(3600);
    spend('a', 1000);
    expect(waitSeconds('a')).toBe(1);
  });

  it('is forgotten of those who sent nothing for longest', () => {
    const { waitSeconds, spend } = allowance();
    for (let n = 0; n <= 20_000; n += 1) spend(`network ${n}`, 1000);
    expect([waitSeconds('network 1'), waitSeconds('network 0')]).toEqual([1, null]);
  });
});
