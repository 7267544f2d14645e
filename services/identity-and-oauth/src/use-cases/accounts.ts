import type { AccountState } from '@bubbles/contracts/access.ts';
import type { Clock } from '@bubbles/kernel/clock.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import type { Changed } from '@bubbles/store/aggregates.ts';
import { type Account, type ActiveKey, inState, keysEndedBy, newAccount, type Profile, withProfile } from '../domain/account.ts';
import { type IssuedKey, type IssuedSession, issueKey, issueSession, TOKEN_BYTES } from '../domain/token.ts';
import type { AccountChanged, AccountStore, Page, RevokedKeyStore, SessionStore } from '../ports.ts';

interface AccountToCreate {
  readonly profile: Profile;
  /** Null: without a key. */
  readonly keyName: string | null;
}

export interface CreatedAccount {
  readonly account: Account;
  readonly session: IssuedSession;
  readonly key: IssuedKey | null;
}

interface AccountPorts {
  readonly accounts: AccountStore;
}
interface AccountWriterPorts extends AccountPorts {
  readonly accountChanged: AccountChanged;
}

export const createAccount =
  ({ accounts, accountChanged, sessions, clock, ids }: AccountWriterPorts & { sessions: SessionStore; clock: Clock; ids: Ids }) =>
  async ({ profile, keyName }: AccountToCreate): Promise<CreatedAccount> => {
    const at = clock.now();
    const seed = () => ({ id: ids.uuid(), random: ids.bytes(TOKEN_BYTES), at });
    const key = keyName === null ? null : issueKey(keyName, seed());
    const account = newAccount({ id: ids.uuid(), profile, keys: key ? [key.key] : [], createdAt: at });
    const session = issueSession(account, seed());
    await accounts.insert({ state: account, events: [accountChanged(account)] });
    await sessions.insert(session.session);
    return { account, session, key };
  };

export const changeProfile =
  ({ accounts, accountChanged }: AccountWriterPorts) =>
  async ({ accountId, profile }: { accountId: string; profile: Partial<Profile> }): Promise<Account> =>
    known(await accounts.update(accountId, (account) => withChangedEvent(withProfile(account, profile), accountChanged)));

export const setAccountState =
  ({ accounts, accountChanged, revokedKeys, clock }: AccountWriterPorts & { revokedKeys: RevokedKeyStore; clock: Clock }) =>
  async ({ accountId, state }: { accountId: string; state: AccountState }): Promise<Account> => {
    for (;;) {
      const ended = keysEndedBy(known(await accounts.get(accountId)), state);
      for (const { id, hash } of ended) await revokedKeys.put({ hash, keyId: id, accountId, revokedAt: clock.now() });
      const isRevoked = ({ id }: ActiveKey) => ended.some((key) => key.id === id);
      const after = await accounts.update(accountId, (account) =>
        keysEndedBy(account, state).every(isRevoked) ? withChangedEvent(inState(account, state), accountChanged) : null,
      );
      // Otherwise another key came in between, which has to be revoked before it leaves the account.
      if (known(after).state === state) return known(after);
    }
  };

export const getAccount =
  ({ accounts }: AccountPorts) =>
  async (accountId: string): Promise<Account> =>
    known(await accounts.get(accountId));

export const listAccounts =
  ({ accounts }: AccountPorts) =>
  (page: Page): Promise<Account[]> =>
    accounts.page(page);

const withChangedEvent = (account: Account | null, accountChanged: AccountChanged): Changed<Account> | null =>
  account && { state: account, events: [accountChanged(account)] };

const known = (account: Account | null): Account => {
  if (!account) throw new DomainError('not_found', 'No such account.');
  return account;
};
