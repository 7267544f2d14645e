import { generations } from './generations.ts';

export const RATE_LIMIT = 120;
export const RATE_WINDOW_SECONDS = 60;
const WINDOW_MS = RATE_WINDOW_SECONDS * 1000;
const FIRST_CAPACITY = 8;

/** What is left after a request asked to pass. */
export interface Budget {
  readonly allowed: boolean;
  readonly remaining: number;
  /** Whole seconds until the oldest counted request leaves the window: when refused, waiting that long is enough. */
  readonly resetSeconds: number;
}

/** The exact log of one credential: a ring of the times at which its last requests were admitted. */
export interface RateWindow {
  /** `nowMs` never goes back. A refused request is not counted. */
  take(nowMs: number): Budget;
}

export function rateWindow(): RateWindow {
  let times = new Float64Array(FIRST_CAPACITY);
  let first = 0;
  let size = 0;

  const oldest = () => times[first] ?? Number.POSITIVE_INFINITY;
  const forgetBefore = (edge: number) => {
    while (size > 0 && oldest() <= edge) {
      first = (first + 1) % times.length;
      size -= 1;
    }
  };
  const grow = () => {
    const grown = new Float64Array(Math.min(times.length * 2, RATE_LIMIT));
    for (let i = 0; i < size; i += 1) grown[i] = times[(first + i) % times.length] ?? 0;
    times = grown;
    first = 0;
  };
  const count = (now: number) => {
    if (size === times.length) grow();
    times[(first + size) % times.length] = now;
    size += 1;
  };

  return {
    take: (nowMs) => {
      // On a grid of whole milliseconds, so that a wait of exactly the seconds told is never short by a rounding of fractions.
      const now = Math.floor(nowMs);
      forgetBefore(now - WINDOW_MS);
      const allowed = size < RATE_LIMIT;
      if (allowed) count(now);
      return { allowed, remaining: RATE_LIMIT - size, resetSeconds: Math.max(1, Math.ceil((oldest() + WINDOW_MS - now) / 1000)) };
    },
  };
}

export interface RateWindows {
  take(credentialId: string, nowMs: number): Budget;
}

/** The windows of all credentials; one that was not asked for during a whole window holds nothing that counts. */
export function rateWindows(): RateWindows {
  const windows = generations<RateWindow>(WINDOW_MS);
  const opened = (credentialId: string, nowMs: number): RateWindow => {
    const window = rateWindow();
    windows.set(credentialId, window, nowMs);
    return window;
  };
  return { take: (credentialId, nowMs) => (windows.get(credentialId, nowMs) ?? opened(credentialId, nowMs)).take(nowMs) };
}
