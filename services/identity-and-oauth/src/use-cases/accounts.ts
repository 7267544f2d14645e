import type { AccountState } from '@bubbles/contracts/access.ts';
import { DomainError, isDomainError } from '@bubbles/kernel/errors.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import { foldAddress } from '@bubbles/mail/address.ts';
import type { Changed } from '@bubbles/store/aggregates.ts';
import {
  type Account,
  type ActiveKey,
  inState,
  keysEndedBy,
  type Membership,
  newAccount,
  type Profile,
  withProfile,
} from '../domain/account.ts';
import { addressOf, checkedAddress } from '../domain/address.ts';
import { type IssuedKey, type IssuedSession, issueKey, issueSession, TOKEN_BYTES } from '../domain/token.ts';
import type { AccountChanged, AccountStore, GrantStore, Page, RevokedKeyStore, SessionStore } from '../ports.ts';
import { type AddressPorts, accountAt, addressTaken, begunAt, heldAddress, moveAddress } from './addresses.ts';

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
export interface AccountWriterPorts extends AddressPorts {
  readonly accountChanged: AccountChanged;
}

export const createAccount =
  (ports: AccountWriterPorts & { sessions: SessionStore; ids: Ids }) =>
  async ({ profile, keyName }: AccountToCreate): Promise<CreatedAccount> => {
    const { sessions, clock, ids } = ports;
    const at = clock.now();
    const seed = () => ({ id: ids.uuid(), random: ids.bytes(TOKEN_BYTES), at });
    const key = keyName === null ? null : issueKey(keyName, seed());
    const account = newAccount({ id: ids.uuid(), profile, keys: key ? [key.key] : [], createdAt: at });
    const session = issueSession(account, seed());
    if (!(await insertAccount(ports, account))) throw addressTaken();
    await sessions.insert(session.session);
    return { account, session, key };
  };

/** Rejects when another account has its address; false when an account of this id was there. */
const insertAccount = async (ports: AccountWriterPorts, account: Account): Promise<boolean> => {
  const { accounts, accountChanged } = ports;
  let isOurs = false;
  const undone = (made: Account) =>
    isOurs && addressOf(made) === addressOf(account) ? changedOrNull(inState(made, 'deleted'), accountChanged) : null;
  await moveAddress(ports, {
    accountId: account.id,
    from: null,
    to: checkedAddress(account.email),
    write: async () => {
      isOurs = await accounts.insert(withChangedEvent(account, accountChanged));
    },
    undo: () => accounts.update(account.id, undone),
  });
  return isOurs;
};

interface AccountToOpen {
  /** Folded address that the requester has proven to own. */
  readonly address: string;
  /** Id for the account, unless another request is creating one for the address. */
  readonly accountId: string;
  readonly name: string | null;
  readonly memberships: readonly Membership[];
}

/**
 * The one account at an address that had none a moment ago. Of many who ask at once, those who find the address taken by an account that is not written yet
 * write that one, so that nobody has to wait for a process that died.
 */
export const openAccountAt = async (
  ports: AccountWriterPorts,
  { address, accountId, name, memberships }: AccountToOpen,
): Promise<Account> => {
  const profile = { name, email: address, pictureUrl: null };
  const accountOf = (id: string) => newAccount({ id, profile, keys: [], memberships, createdAt: ports.clock.now() });
  const account = accountOf(accountId);
  try {
    if (await insertAccount(ports, account)) return account;
  } catch (error) {
    if (!isDomainError(error) || error.kind !== 'limit_reached') throw error;
    const begun = await begunAt(ports, address);
    if (begun !== null) await insertAccount(ports, accountOf(begun));
  }
  const opened = await accountAt(ports, address);
  if (opened === null) throw addressTaken();
  return opened;
};

export const changeProfile =
  (ports: AccountWriterPorts) =>
  async ({ accountId, profile }: { accountId: string; profile: Partial<Profile> }): Promise<Account> => {
    const { accounts, accountChanged } = ports;
    const before = known(await accounts.get(accountId));
    const changeTo = (next: Partial<Profile>) =>
      accounts.update(accountId, (account) => changedOrNull(withProfile(account, next), accountChanged));
    const restored = (account: Account) =>
      account.email === profile.email ? changedOrNull(withProfile(account, { email: before.email }), accountChanged) : null;
    // Refuses a deleted account before an address is taken for it.
    withProfile(before, profile);
    if (profile.email === undefined) return known(await changeTo(profile));
    return moveAddress(ports, {
      accountId,
      from: before,
      to: checkedAddress(profile.email),
      write: async () => known(await changeTo(profile)),
      undo: () => accounts.update(accountId, restored),
    });
  };

interface StatePorts extends AccountWriterPorts {
  readonly revokedKeys: RevokedKeyStore;
  readonly grants: GrantStore;
}

export const setAccountState =
  (ports: StatePorts) =>
  async ({ accountId, state }: { accountId: string; state: AccountState }): Promise<Account> => {
    if (state === 'deleted') return deleteAccount(ports, accountId);
    const { accounts, accountChanged, revokedKeys, clock } = ports;
    for (;;) {
      const ended = keysEndedBy(known(await accounts.get(accountId)), state);
      for (const { id, hash } of ended) await revokedKeys.put({ hash, keyId: id, accountId, revokedAt: clock.now() });
      const isRevoked = ({ id }: ActiveKey) => ended.some((key) => key.id === id);
      const after = await accounts.update(accountId, (account) =>
        keysEndedBy(account, state).every(isRevoked) ? changedOrNull(inState(account, state), accountChanged) : null,
      );
      // Otherwise another key came in between, which has to be revoked before it leaves the account.
      if (known(after).state === state) return known(after);
    }
  };

/** Its grants end for good, its address is free. Its sessions end with its life. */
const deleteAccount = async (ports: StatePorts, accountId: string): Promise<Account> => {
  const { accounts, addresses, accountChanged, grants } = ports;
  const held = await heldAddress(ports, known(await accounts.get(accountId)));
  const after = await accounts.update(accountId, (account) => changedOrNull(inState(account, 'deleted'), accountChanged));
  if (held !== null) await addresses.free(held);
  await grants.endOfAccount(accountId);
  return known(after);
};

interface CredentialPorts extends Pick<StatePorts, 'accounts' | 'revokedKeys' | 'grants' | 'clock'> {
  readonly sessions: SessionStore;
}

/** Ends for good what an account has been given, also while it is disabled. Its sessions go first, since they can make keys and grants. */
export const endCredentials =
  ({ accounts, sessions, grants, revokedKeys, clock }: CredentialPorts) =>
  async (accountId: string): Promise<void> => {
    known(await accounts.get(accountId));
    const revokedAt = clock.now();
    await sessions.endOfAccount(accountId, revokedAt);
    await grants.endOfAccount(accountId);
    for (const { id: keyId, hash } of known(await accounts.get(accountId)).keys) {
      await revokedKeys.put({ hash, keyId, accountId, revokedAt });
      await accounts.removeKey(accountId, keyId);
    }
  };

export const getAccount =
  ({ accounts }: AccountPorts) =>
  async (accountId: string): Promise<Account> =>
    known(await accounts.get(accountId));

/** In order of id; with an e-mail address the one account that has it. */
export const listAccounts =
  (ports: AddressPorts) =>
  async ({ email, ...page }: Page & { readonly email: string | null }): Promise<Account[]> => {
    if (email === null) return ports.accounts.page(page);
    const address = foldAddress(email);
    const found = address === null ? null : await accountAt(ports, address);
    return found === null ? [] : [found];
  };

const withChangedEvent = (account: Account, accountChanged: AccountChanged): Changed<Account> => ({
  state: account,
  events: [accountChanged(account)],
});
const changedOrNull = (account: Account | null, accountChanged: AccountChanged): Changed<Account> | null =>
  account && withChangedEvent(account, accountChanged);

const known = (account: Account | null): Account => {
  if (!account) throw new DomainError('not_found', 'No such account.');
  return account;
};
