import type { Clock } from '@bubbles/shared/clock.ts';
import { DomainError } from '@bubbles/shared/errors.ts';
import type { Ids } from '@bubbles/shared/ids.ts';
import type { Account, ActiveKey } from '../domain/account.ts';
import { hasPaidFeatures } from '../domain/team.ts';
import { hashToken, keyPreview, keyToken, MAX_ACTIVE_KEYS, TOKEN_BYTES } from '../domain/token.ts';
import type { AccountStore, KeyUses, RevokedKeyStore, TeamStore } from '../ports.ts';

export interface IssuedKey {
  readonly key: ActiveKey;
  /** In full; from here it goes into the answer and nowhere else. */
  readonly token: string;
}

interface Making {
  readonly clock: Clock;
  readonly ids: Ids;
}

export const makeKey = ({ clock, ids }: Making, name: string): IssuedKey => {
  const token = keyToken(ids.bytes(TOKEN_BYTES));
  return { token, key: { id: ids.uuid(), hash: hashToken(token), name, preview: keyPreview(token), createdAt: clock.now() } };
};

const addTo = async (accounts: AccountStore, accountId: string, issued: IssuedKey): Promise<IssuedKey> => {
  if (!(await accounts.addKey(accountId, issued.key)))
    throw new DomainError('limit_reached', `There are ${MAX_ACTIVE_KEYS} active API keys already; revoke one first.`);
  return issued;
};

export const createKey =
  ({ accounts, teams, ...making }: Making & { accounts: AccountStore; teams: TeamStore }) =>
  async ({ owner, name }: { owner: Account; name: string }): Promise<IssuedKey> => {
    const joined = await teams.byIds(owner.memberships.map(({ teamId }) => teamId));
    if (!hasPaidFeatures(owner.memberships, joined))
      throw new DomainError('pro_plan_required', 'API keys need a workspace on the pro plan in which you are an admin or a member.');
    return addTo(accounts, owner.id, makeKey(making, name));
  };

/** For an operator: whatever the plan. */
export const grantKey =
  ({ accounts, ...making }: Making & { accounts: AccountStore }) =>
  async ({ accountId, name }: { accountId: string; name: string }): Promise<IssuedKey> => {
    if (!(await accounts.get(accountId))) throw new DomainError('not_found', 'No such account.');
    return addTo(accounts, accountId, makeKey(making, name));
  };

export interface ListedKey extends ActiveKey {
  readonly lastUsedAt: Date | null;
}

/** Newest first. */
export const listKeys =
  ({ keyUses }: { keyUses: KeyUses }) =>
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

const noSuchKey = () => new DomainError('not_found', 'No such API key.');
