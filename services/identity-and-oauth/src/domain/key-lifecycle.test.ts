import { describe, expect, it } from '@jest/globals';
import { type KeyLifecycle, nextLifecycle, publishedKeys, signingKeyOf } from './key-lifecycle.ts';

const T0 = new Date('2026-03-01T00:00:00.000Z');
const DAY = 86_400_000;
const days = (n: number) => new Date(T0.getTime() + n * DAY);

const keepAfterMs = 7_200_000;
const shown = (key: KeyLifecycle, now: Date): boolean => publishedKeys([key], { now, keepAfterMs }).length > 0;

const made = (existing: readonly KeyLifecycle[], now: Date): KeyLifecycle => {
  const next = nextLifecycle(existing, { now, keepAfterMs });
  if (!next) throw new Error('no key was due');
  return next;
};

describe('lifecycle of signing keys', () => {
  const first = made([], T0);

  it('the first key signs at once, for 30 days, and is kept as long as told after it', () => {
    expect(first).toEqual({
      slot: 0,
      publishAt: T0,
      signFrom: T0,
      signUntil: days(30),
      deleteAt: new Date(days(30).getTime() + 7_200_000),
    });
  });

  it('the successor is made a day before the end and not earlier', () => {
    expect(nextLifecycle([first], { now: new Date(days(29).getTime() - 1), keepAfterMs })).toBeNull();
    expect(made([first], days(29))).toMatchObject({ slot: 1, publishAt: days(29), signFrom: days(30), signUntil: days(60) });
  });

  it('[OAUTH-09] keys overlap: shown before it signs, shown after it signed, one signer at any time', () => {
    const second = made([first], days(29));
    expect(shown(second, days(29))).toBe(true);
    expect(signingKeyOf([second, first], days(29.999))).toBe(first);
    expect(signingKeyOf([second, first], days(30))).toBe(second);
    expect(signingKeyOf([second, first], days(60))).toBeNull();
    expect(shown(first, new Date(first.deleteAt.getTime() - 1))).toBe(true);
    expect(shown(first, first.deleteAt)).toBe(false);
  });

  it('a key stays as long as it was made for, or as tokens live now when that is longer', () => {
    const later = new Date(first.deleteAt.getTime() + 1);
    const isShown = (now: Date, keep: number) => publishedKeys([first], { now, keepAfterMs: keep }).length > 0;
    expect([isShown(later, keepAfterMs), isShown(later, 2 * keepAfterMs), isShown(days(30), 0)]).toEqual([false, true, true]);
  });

  it('a replica whose clock is behind signs with the key that another one made', () => {
    expect(signingKeyOf([first], new Date(T0.getTime() - 5000))).toBe(first);
  });

  it('after a long standstill the new key signs at once', () => {
    expect(made([first], days(90))).toMatchObject({ slot: 1, publishAt: days(90), signFrom: days(90) });
  });

  it('replicas that decide at the same time ask for the same slot', () => {
    expect(made([first], days(29)).slot).toBe(made([first], days(29.01)).slot);
    expect(nextLifecycle([first, made([first], days(29))], { now: days(29.02), keepAfterMs })).toBeNull();
  });
});
