import type { Clock } from '@bubbles/kernel/clock.ts';
import { createTwoGenerationCache } from '@bubbles/kernel/two-generation-cache.ts';

/** A token lives for about a minute: one that was not used for longer is forgotten. */
const KEEP_MS = 60_000;

export interface VerifiedToken<T> {
  readonly value: T;
  readonly expiresAtMs: number;
}

interface Options<T> {
  readonly clock: Clock;
  /** As many tokens are kept at least. */
  readonly size: number;
  /** The costly proof; rejects what is not to be believed. */
  readonly verify: (token: string) => Promise<VerifiedToken<T>>;
}

/** Verifies a token once and believes it until it expires. */
export const createVerifiedTokens = <T>({ clock, size, verify }: Options<T>): ((token: string) => Promise<T>) => {
  const verified = createTwoGenerationCache<VerifiedToken<T>>(KEEP_MS, size);
  return async (token) => {
    const nowMs = clock.now().getTime();
    const known = verified.get(token, nowMs);
    if (known !== null && known.expiresAtMs > nowMs) return known.value;
    const fresh = await verify(token);
    verified.set(token, fresh, nowMs);
    return fresh.value;
  };
};
