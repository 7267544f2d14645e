import { RATE_LIMIT, RATE_WINDOW_SECONDS } from '@bubbles/contracts/access.ts';
import { createTwoGenerationCache } from '@bubbles/kernel/two-generation-cache.ts';
import type { RateDecision } from '../../domain/credential.ts';
import type { RateWindows, RequestsElsewhere } from '../../ports.ts';

const WINDOW_MS = RATE_WINDOW_SECONDS * 1000;
const FIRST_CAPACITY = 8;

/** The exact log of one credential: a ring of the times at which its last requests were admitted. */
interface RateWindow {
  /** `nowMs` never goes back. A refused request is not counted. */
  take(nowMs: number): RateDecision;
  /** What is left, for a request that is not counted here. */
  peek(nowMs: number): RateDecision;
  /** Counts at least what was counted elsewhere, as evenly spread. */
  raise(elsewhere: RequestsElsewhere, nowMs: number): void;
}

export const createRateWindow = (): RateWindow => {
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

  /** On a grid of whole milliseconds, so that a wait of exactly the seconds told is never short by a rounding of fractions. */
  const at = (nowMs: number): number => {
    const now = Math.floor(nowMs);
    forgetBefore(now - WINDOW_MS);
    return now;
  };
  const budget = (now: number, allowed: boolean): RateDecision => {
    const seconds = size === 0 ? 1 : Math.max(1, Math.ceil((oldest() + WINDOW_MS - now) / 1000));
    return { allowed, remaining: RATE_LIMIT - size, resetSeconds: seconds };
  };

  return {
    take: (nowMs) => {
      const now = at(nowMs);
      const allowed = size < RATE_LIMIT;
      if (allowed) count(now);
      return budget(now, allowed);
    },
    peek: (nowMs) => budget(at(nowMs), true),
    raise: (elsewhere, nowMs) => {
      at(nowMs);
      const missing = Math.max(0, Math.min(elsewhere.requests, RATE_LIMIT) - size);
      const times = [...listed(), ...latest(missing, elsewhere)].toSorted((a, b) => a - b);
      [first, size] = [0, 0];
      for (const time of times) count(time);
    },
  };
};

const latest = (count: number, { requests, firstMs, lastMs }: RequestsElsewhere): number[] =>
  Array.from({ length: count }, (_, i) => Math.floor(lastMs - ((lastMs - firstMs) * i) / Math.max(1, requests - 1)));

/** The windows of all credentials; one that was not asked for during a whole window holds nothing that counts. */
export const createRateWindows = (): RateWindows => {
  const windows = createTwoGenerationCache<RateWindow>(WINDOW_MS);
  const opened = (credentialId: string, nowMs: number): RateWindow => {
    const window = createRateWindow();
    windows.set(credentialId, window, nowMs);
    return window;
  };
  const windowOf = (credentialId: string, nowMs: number) => windows.get(credentialId, nowMs) ?? opened(credentialId, nowMs);
  return {
    take: (credentialId, nowMs) => windowOf(credentialId, nowMs).take(nowMs),
    peek: (credentialId, nowMs) => windowOf(credentialId, nowMs).peek(nowMs),
    raise: (credentialId, elsewhere, nowMs) => windowOf(credentialId, nowMs).raise(elsewhere, nowMs),
  };
};
