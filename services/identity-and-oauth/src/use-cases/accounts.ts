import type { Clock } from '@bubbles/shared/clock.ts';
import { DomainError } from '@bubbles/shared/errors.ts';
import type { Ids } from '@bubbles/shared/ids.ts';
import { type Account, type AccountState, inState, newAccount, type Profile, withProfile } from '../domain/account.ts';
import type { AccountStore, Page, SessionStore } from '../ports.ts';
import { announced } from './account-events.ts';
import { type IssuedKey, makeKey } from './keys.ts';
import { type IssuedSession, makeSession } from './sessions.ts';

export interface AccountToCreate {
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

export const createAccount =
  ({ accounts, sessions, ...making }: AccountPorts & { sessions: SessionStore; clock: Clock; ids: Ids }) =>
  async ({ profile, keyName }: AccountToCreate): Promise<CreatedAccount> => {
    const key = keyName === null ? null : makeKey(making, keyName);
    const account = newAccount({ id: making.ids.uuid(), profile, keys: key ? [key.key] : [], createdAt: making.clock.now() });
    const session = makeSession(making, account.id);
    await accounts.insert(announced(account));
    await sessions.insert(session.session);
    return { account, session, key };
  };

export const changeProfile =
  ({ accounts }: AccountPorts) =>
  async ({ accountId, profile }: { accountId: string; profile: Partial<Profile> }): Promise<Account> =>
    known(await accounts.update(accountId, (account) => announcedIfAny(withProfile(account, profile))));

export const setAccountState =
  ({ accounts }: AccountPorts) =>
  async ({ accountId, state }: { accountId: string; state: AccountState }): Promise<Account> =>
    known(await accounts.update(accountId, (account) => announcedIfAny(inState(account, state))));

export const getAccount =
  ({ accounts }: AccountPorts) =>
  async (accountId: string): Promise<Account> =>
    known(await accounts.get(accountId));

export const listAccounts =
  ({ accounts }: AccountPorts) =>
  (page: Page): Promise<Account[]> =>
    accounts.page(page);

const announcedIfAny = (account: Account | null) => account && announced(account);

const known = (account: Account | null): Account => {
  if (!account) throw new DomainError('not_found', 'No such account.');
  return account;
};
