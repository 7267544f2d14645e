import { describe, expect, it } from '@jest/globals';
import { createExpiringMemo, createTwoGenerationCache } from './two-generation-cache.ts';

describe('the two-generation cache', () => {
  it('keeps what was touched within the time, whenever the maps turn', () => {
    const kept = createTwoGenerationCache<string>(100);
    kept.set('a', 'A', 0);
    kept.set('b', 'B', 99);
    expect(kept.get('b', 101)).toBe('B');
    expect(kept.get('b', 199)).toBe('B');
    expect(kept.get('b', 290)).toBe('B');
  });

  it('forgets what was not touched for twice the time', () => {
    const kept = createTwoGenerationCache<string>(100);
    kept.set('a', 'A', 0);
    kept.get('other', 101);
    kept.get('other', 202);
    expect(kept.get('a', 202)).toBeNull();
  });

  it('a touch alone keeps, also in the old map', () => {
    const kept = createTwoGenerationCache<string>(100);
    kept.set('a', 'A', 0);
    for (const now of [101, 202, 303, 404]) expect(kept.get('a', now)).toBe('A');
  });

  it('keeps for the whole time after the last touch, however often others are asked for', () => {
    const kept = createTwoGenerationCache<string>(100);
    kept.get('other', 0);
    kept.set('a', 'A', 49);
    for (let now = 50; now < 149; now += 1) kept.get('other', now);
    expect(kept.get('a', 149)).toBe('A');
  });
});

describe('the expiring memo', () => {
  it('makes a value once and gives it until it expires', async () => {
    let now = 0;
    const made: string[] = [];
    const make = (key: string) => {
      made.push(key);
      return Promise.resolve({ value: `${key} at ${now}`, expiresAtMs: now + 100 });
    };
    const memo = createExpiringMemo({ make, now: () => now, keepMs: 1000, most: 10 });
    expect([await memo('a'), await memo('b')]).toEqual(['a at 0', 'b at 0']);
    now = 99;
    expect(await memo('a')).toBe('a at 0');
    now = 100;
    expect(await memo('a')).toBe('a at 100');
    expect(made).toEqual(['a', 'b', 'a']);
  });

  it('keeps no failure', async () => {
    let fails = true;
    const make = () => (fails ? Promise.reject(new Error('away')) : Promise.resolve({ value: 1, expiresAtMs: 100 }));
    const memo = createExpiringMemo({ make, now: () => 0, keepMs: 1000, most: 10 });
    await expect(memo('a')).rejects.toThrow('away');
    fails = false;
    expect(await memo('a')).toBe(1);
  });
});
