import type { Clock } from '@bubbles/kernel/clock.ts';

export interface Verified<T> {
  readonly value: T;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

export interface VerifiedTokensOptions<T> {
  readonly size: number;
  readonly clock: Clock;
  /** The costly proof; rejects what is not to be believed. */
  readonly verify: (token: string) => Promise<Verified<T>>;
}

/** Proves a token once and believes it until it expires; the least recently used goes first. */
export const verifiedTokens = <T>({ size, clock, verify }: VerifiedTokensOptions<T>): ((token: string) => Promise<T>) => {
  const known = new Map<string, Verified<T>>();
  return async (token) => {
    const hit = known.get(token);
    known.delete(token);
    const verified = hit && hit.expiresAt > clock.now().getTime() ? hit : await verify(token);
    known.set(token, verified);
    if (known.size > size) for (const oldest of known.keys().take(1)) known.delete(oldest);
    return verified.value;
  };
};
