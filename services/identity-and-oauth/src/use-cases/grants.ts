import type { Clock } from '@bubbles/kernel/clock.ts';
import type { OAuthLifetimes } from '../domain/grant.ts';
import type { CodeStore, GrantStore, RefreshTokenStore, Uses } from '../ports.ts';

interface SweepPorts {
  readonly grants: GrantStore;
  readonly codes: CodeStore;
  readonly refreshTokens: RefreshTokenStore;
  readonly grantUses: Uses;
  readonly lifetimes: OAuthLifetimes;
  readonly clock: Clock;
}

/** No grant that is as old as this is in use, unless the operator gives grants a longer life. */
const USES_KEPT_MS = 365 * 24 * 60 * 60 * 1000;

/** A code is kept as long as what it was exchanged for could live, so that its second use still ends the grant. */
export const sweepGrants =
  ({ grants, codes, refreshTokens, grantUses, lifetimes, clock }: SweepPorts) =>
  async (): Promise<void> => {
    const now = clock.now();
    const { accessTokenMs, refreshTokenMs, codeMs, grantMs } = lifetimes;
    await grants.sweep(now);
    await refreshTokens.sweep(now);
    await codes.sweep(new Date(now.getTime() - codeMs - Math.max(accessTokenMs, refreshTokenMs)));
    await grantUses.forgetUsedBefore(new Date(now.getTime() - Math.max(grantMs, USES_KEPT_MS)));
  };
