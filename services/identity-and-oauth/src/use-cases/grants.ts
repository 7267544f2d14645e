import type { Clock } from '@bubbles/kernel/clock.ts';
import type { OAuthLifetimes } from '../domain/grant.ts';
import type { CodeStore, GrantStore, RefreshTokenStore } from '../ports.ts';

interface SweepPorts {
  readonly grants: GrantStore;
  readonly codes: CodeStore;
  readonly refreshTokens: RefreshTokenStore;
  readonly lifetimes: OAuthLifetimes;
  readonly clock: Clock;
}

/** A code is kept as long as what it was exchanged for could live, so that its second use still ends the grant. */
export const sweepGrants =
  ({ grants, codes, refreshTokens, lifetimes, clock }: SweepPorts) =>
  async (): Promise<void> => {
    const now = clock.now();
    const { accessTokenMs, refreshTokenMs, codeMs } = lifetimes;
    await grants.forgetExpiredBefore(now);
    await refreshTokens.forgetExpiredBefore(now);
    await codes.forgetCreatedBefore(new Date(now.getTime() - codeMs - Math.max(accessTokenMs, refreshTokenMs)));
  };
