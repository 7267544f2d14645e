import { hash } from 'node:crypto';
import type { Clock } from '@bubbles/kernel/clock.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import { createTwoGenerationCache } from '@bubbles/kernel/two-generation-cache.ts';
import type { RequestLimit } from '../../ports.ts';

const MINUTE_MS = 60_000;
/** Above this number, callers with a single request are evicted. */
const MAX_CALLERS = 50_000;

/**
 * A token bucket for each caller. It is kept in this process, so that several replicas let a caller through that many times as often: a count over all of
 * them would cost each request a write to the store.
 */
export const createRequestLimit = (
  { perMinute, burst }: { readonly perMinute: number; readonly burst: number },
  clock: Clock,
): RequestLimit => {
  const msPerRequest = MINUTE_MS / perMinute;
  const msOfBurst = burst * msPerRequest;
  /** When the bucket of a caller is full again. */
  const fullAtMs = createTwoGenerationCache<number>(msOfBurst, MAX_CALLERS);
  return {
    take: (...caller) => {
      // Callers choose how long the ids are that they say.
      const key = hash('sha256', JSON.stringify(caller), 'base64url');
      const nowMs = clock.monotonic();
      const nextMs = Math.max(nowMs, fullAtMs.get(key, nowMs) ?? 0) + msPerRequest;
      const waitMs = nextMs - nowMs - msOfBurst;
      if (waitMs > 0)
        throw new DomainError('rate_limited', `More than ${perMinute} requests in 60 seconds.`, {
          type: 'temporarily_unavailable',
          retryAfterSeconds: Math.ceil(waitMs / 1000),
        });
      fullAtMs.set(key, nextMs, nowMs);
    },
  };
};
