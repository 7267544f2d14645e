import type { Clock } from '@bubbles/kernel/clock.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import type { Grant, OAuthLifetimes } from '../domain/grant.ts';
import type { AccountStore, CodeStore, GrantStore, RefreshTokenStore, Uses } from '../ports.ts';

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

export interface ListedGrant {
  readonly grant: Grant;
  readonly lastUsedAt: Date | null;
}

/** For an operator: what an account has granted, newest first. */
export const listGrants =
  ({ accounts, grants, grantUses }: { accounts: AccountStore; grants: GrantStore; grantUses: Uses }) =>
  async (accountId: string): Promise<ListedGrant[]> => {
    const [account, granted] = await Promise.all([accounts.get(accountId), grants.ofAccount(accountId)]);
    if (!account) throw new DomainError('not_found', 'No such account.');
    const lastUsed = await grantUses.lastUsed(granted.map(({ id }) => id));
    return granted.map((grant) => ({ grant, lastUsedAt: lastUsed.get(grant.id) ?? null }));
  };

/** For an operator. */
export const endGrant =
  ({ grants }: { grants: GrantStore }) =>
  async (grantId: string): Promise<void> => {
    if ((await grants.get(grantId)) === null) throw new DomainError('not_found', 'No such grant.');
    await grants.end(grantId);
  };
