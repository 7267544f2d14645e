import { PLAN_REFUSALS } from '@bubbles/contracts/access.ts';
import type { Clock } from '@bubbles/kernel/clock.ts';
import { DomainError, refusal } from '@bubbles/kernel/errors.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import type { Account, ActiveKey } from '../domain/account.ts';
import { hasPaidFeatures } from '../domain/team.ts';
import { type IssuedKey, issueKey, MAX_ACTIVE_KEYS, TOKEN_BYTES } from '../domain/token.ts';
import type { AccountStore, RevokedKeyStore, TeamStore, Uses } from '../ports.ts';

interface KeyPorts {
  readonly accounts: AccountStore;
  readonly clock: Clock;
}
interface NewKey {
  readonly accountId: string;
  readonly name: string;
  /** Drawn from the request, so that a request which comes again finds the key that it made. */
  readonly ids: Ids;
}

const makeKey = async ({ accounts, clock }: KeyPorts, { accountId, name, ids }: NewKey): Promise<IssuedKey> => {
  const issued = issueKey(name, { id: ids.uuid(), random: ids.bytes(TOKEN_BYTES), at: clock.now() });
  if (await accounts.addKey(accountId, issued.key)) return issued;
  const made = (await accounts.get(accountId))?.keys.find(({ id }) => id === issued.key.id);
  if (made) return { ...issued, key: made };
  throw new DomainError('limit_reached', `There are ${MAX_ACTIVE_KEYS} active API keys already; revoke one first.`);
};

export const createKey =
  ({ teams, ...ports }: KeyPorts & { teams: TeamStore }) =>
  async ({ owner, ...key }: Omit<NewKey, 'accountId'> & { owner: Account }): Promise<IssuedKey> => {
    const joined = await teams.byIds(owner.memberships.map(({ teamId }) => teamId));
    if (!hasPaidFeatures(owner.memberships, joined, ports.clock.now())) throw refusal(PLAN_REFUSALS.apiKeys);
    return makeKey(ports, { ...key, accountId: owner.id });
  };

/** For an operator: whatever the plan. */
export const grantKey =
  (ports: KeyPorts) =>
  async (key: NewKey): Promise<IssuedKey> => {
    if (!(await ports.accounts.get(key.accountId))) throw new DomainError('not_found', 'No such account.');
    return makeKey(ports, key);
  };

export interface ListedKey extends ActiveKey {
  readonly lastUsedAt: Date | null;
}

/** Newest first. */
export const listKeys =
  ({ keyUses }: { keyUses: Uses }) =>
  async (owner: Account): Promise<ListedKey[]> => {
    const lastUsed = await keyUses.lastUsed(owner.keys.map(({ id }) => id));
    return owner.keys.map((key) => ({ ...key, lastUsedAt: lastUsed.get(key.id) ?? null })).reverse();
  };

export const revokeKey =
  ({ accounts, revokedKeys, clock }: { accounts: AccountStore; revokedKeys: RevokedKeyStore; clock: Clock }) =>
  async ({ owner, keyId }: { owner: Account; keyId: string }): Promise<void> => {
    const key = owner.keys.find(({ id }) => id === keyId);
    if (!key) throw noSuchKey();
    await revokedKeys.put({ hash: key.hash, keyId, accountId: owner.id, revokedAt: clock.now() });
    if (!(await accounts.removeKey(owner.id, keyId))) throw noSuchKey();
  };

/** How long the use of a revoked key is refused as revoked, before it is refused as unknown. */
const REVOKED_KNOWN_MS = 365 * 24 * 60 * 60 * 1000;
const KEYS_PER_SWEEP = 500;

export const sweepRevokedKeys =
  ({ revokedKeys, keyUses, clock }: { revokedKeys: RevokedKeyStore; keyUses: Uses; clock: Clock }) =>
  async (): Promise<void> => {
    const before = new Date(clock.now().getTime() - REVOKED_KNOWN_MS);
    for (;;) {
      const swept = await revokedKeys.revokedBefore(before, KEYS_PER_SWEEP);
      if (swept.length === 0) return;
      await keyUses.forget(swept.map(({ keyId }) => keyId));
      await revokedKeys.forget(swept.map(({ hash }) => hash));
    }
  };

const noSuchKey = () => new DomainError('not_found', 'No such API key.');
