import { RATE_LIMIT, RATE_WINDOW_SECONDS } from '@bubbles/contracts/access.ts';
import { createTwoGenerationCache } from '@bubbles/kernel/two-generation-cache.ts';
import type { RateDecision } from '../../domain/credential.ts';
import type { RateWindow, RateWindows } from '../../ports.ts';

const WINDOW_MS = RATE_WINDOW_SECONDS * 1000;
const FIRST_CAPACITY = 8;

type RequestsElsewhere = Parameters<RateWindow['raise']>[0];

/** An exact log: a ring of the times at which the last requests were admitted. */
export const createRateWindow = (): RateWindow => {
  let times = new Float64Array(FIRST_CAPACITY);
  let first = 0;
  let size = 0;

  const listed = () => Array.from({ length: size }, (_, i) => times[(first + i) % times.length] ?? 0);
  const grow = () => {
    const grown = new Float64Array(Math.min(times.length * 2, RATE_LIMIT));
    grown.set(listed());
    times = grown;
    first = 0;
  };
  const count = (now: number) => {
    if (size === times.length) grow();
    times[(first + size) % times.length] = now;
    size += 1;
  };

  /** Forgets what has left the window. On a grid of whole milliseconds, so that no rounding makes the wait that is told too short. */
  const advanceTo = (nowMs: number): number => {
    const now = Math.floor(nowMs);
    while (size > 0 && (times[first] ?? now) <= now - WINDOW_MS) {
      first = (first + 1) % times.length;
      size -= 1;
    }
    return now;
  };
  const decision = (now: number, allowed: boolean): RateDecision => {
    const oldest = times[first] ?? now;
    const seconds = size === 0 ? 1 : Math.max(1, Math.ceil((oldest + WINDOW_MS - now) / 1000));
    return { allowed, remaining: RATE_LIMIT - size, resetSeconds: seconds };
  };

  return {
    take: (nowMs) => {
      const now = advanceTo(nowMs);
      const allowed = size < RATE_LIMIT;
      if (allowed) count(now);
      return decision(now, allowed);
    },
    peek: (nowMs) => decision(advanceTo(nowMs), true),
    raise: (elsewhere, nowMs) => {
      advanceTo(nowMs);
      const missing = Math.max(0, Math.min(elsewhere.requests, RATE_LIMIT) - size);
      const times = [...listed(), ...latest(missing, elsewhere)].toSorted((a, b) => a - b);
      [first, size] = [0, 0];
      for (const time of times) count(time);
    },
  };
};

const latest = (count: number, { requests, firstMs, lastMs }: RequestsElsewhere): number[] =>
  Array.from({ length: count }, (_, i) => Math.floor(lastMs - ((lastMs - firstMs) * i) / Math.max(1, requests - 1)));

/** A window that nobody asked for during a whole window has nothing left that counts, and is forgotten. */
export const createRateWindows = (): RateWindows => {
  const windows = createTwoGenerationCache<RateWindow>(WINDOW_MS);
  return {
    of: (credentialId, nowMs) => {
      const known = windows.get(credentialId, nowMs);
      if (known !== null) return known;
      const window = createRateWindow();
      windows.set(credentialId, window, nowMs);
      return window;
    },
  };
};
