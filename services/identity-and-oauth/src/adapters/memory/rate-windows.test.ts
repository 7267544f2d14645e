import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createRateWindow, createRateWindows } from './rate-windows.ts';

const take = (times: number, window: ReturnType<typeof createRateWindow>, nowMs: number) =>
  Array.from({ length: times }, () => window.take(nowMs));

describe('rate window', () => {
  it('[RATE-01] admits 120 in a burst and refuses the next', () => {
    const window = createRateWindow();
    expect(take(120, window, 5).every(({ allowed }) => allowed)).toBe(true);
    expect(window.take(5)).toEqual({ allowed: false, remaining: 0, resetSeconds: 60 });
  });

  it('[RATE-02] waiting exactly the seconds told is enough, one less is not', () => {
    const window = createRateWindow();
    take(120, window, 1000.7);
    const now = 4123.4;
    const { resetSeconds } = window.take(now);
    expect(resetSeconds).toBe(57);
    expect(window.take(now + (resetSeconds - 1) * 1000).allowed).toBe(false);
    expect(window.take(now + resetSeconds * 1000).allowed).toBe(true);
  });

  it('[RATE-04] tells what is left without taking of it', () => {
    const window = createRateWindow();
    expect(window.peek(0)).toEqual({ allowed: true, remaining: 120, resetSeconds: 1 });
    window.take(0);
    expect(window.peek(1000)).toEqual({ allowed: true, remaining: 119, resetSeconds: 59 });
    expect(window.peek(60_000)).toEqual({ allowed: true, remaining: 120, resetSeconds: 1 });
  });

  it('[RATE-04] a refused request is not counted', () => {
    const window = createRateWindow();
    take(120, window, 0);
    take(500, window, 59_000);
    expect(take(120, window, 60_000).filter(({ allowed }) => allowed)).toHaveLength(120);
  });

  it('[RATE-03] tells what remains and when the next place comes free', () => {
    const window = createRateWindow();
    expect(window.take(0)).toEqual({ allowed: true, remaining: 119, resetSeconds: 60 });
    expect(window.take(30_500)).toEqual({ allowed: true, remaining: 118, resetSeconds: 30 });
  });

  it('[RATE-01] never admits more than 120 in any 60 seconds, nor refuses fewer', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 2000 }), { minLength: 200, maxLength: 600 }), (gaps) => {
        const window = createRateWindow();
        const admitted: number[] = [];
        let now = 0;
        for (const gap of gaps) {
          now += gap;
          const inWindow = admitted.filter((at) => at > now - 60_000).length;
          const { allowed, remaining } = window.take(now);
          expect(allowed).toBe(inWindow < 120);
          if (allowed) admitted.push(now);
          expect(remaining).toBe(120 - inWindow - (allowed ? 1 : 0));
        }
      }),
      { numRuns: 40 },
    );
  });
});

describe('what another replica has counted', () => {
  const elsewhere = { requests: 100, firstMs: 20_000, lastMs: 50_000 };

  it('[RATE-02] counts here too, as evenly spread, and waiting as long as told is enough', () => {
    const window = createRateWindow();
    window.raise(elsewhere, 60_000);
    const answers = take(25, window, 60_000);
    expect(answers.filter(({ allowed }) => allowed)).toHaveLength(20);
    const { resetSeconds } = window.take(60_000);
    expect(resetSeconds).toBe(20);
    expect(window.take(60_000 + resetSeconds * 1000).allowed).toBe(true);
  });

  it('[RATE-02] adds nothing to a window that has counted as much', () => {
    const window = createRateWindow();
    take(100, window, 55_000);
    window.raise(elsewhere, 60_000);
    expect(take(25, window, 60_000).filter(({ allowed }) => allowed)).toHaveLength(20);
  });

  it('[RATE-02] fills up a window that fell behind', () => {
    const window = createRateWindow();
    take(30, window, 10_000);
    window.raise({ ...elsewhere, requests: 500 }, 60_000);
    expect(window.take(60_000).allowed).toBe(false);
  });
});

describe('rate windows', () => {
  it('[RATE-04] two credentials have separate budgets', () => {
    const windows = createRateWindows();
    for (let i = 0; i < 120; i += 1) windows.of('a', 0).take(0);
    expect(windows.of('a', 0).take(0).allowed).toBe(false);
    expect(windows.of('b', 0).take(0).allowed).toBe(true);
  });

  it('[RATE-01] a window survives the turn of generations for as long as it counts', () => {
    const windows = createRateWindows();
    windows.of('other', 0).take(0);
    for (let i = 0; i < 120; i += 1) windows.of('a', 59_000).take(59_000);
    windows.of('other', 61_000).take(61_000);
    expect(windows.of('a', 118_999).take(118_999).allowed).toBe(false);
    expect(windows.of('a', 119_000).take(119_000).allowed).toBe(true);
  });
});
