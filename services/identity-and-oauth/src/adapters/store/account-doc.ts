import type { Account, VersionedAccount } from '../../domain/account.ts';

/** An account as it is stored, as far as reading it goes; the outbox beside it is the relay's. */
export type AccountDoc = Omit<Account, 'id'> & { readonly _id: string; readonly version: number };

export const ACCOUNT_INDEXES = [{ name: 'keys.hash', keys: { 'keys.hash': 1 } }] as const;

export const accountOf = (doc: AccountDoc): Account => ({
  id: doc._id,
  state: doc.state,
  name: doc.name,
  email: doc.email,
  pictureUrl: doc.pictureUrl,
  revision: doc.revision,
  createdAt: doc.createdAt,
  memberships: doc.memberships,
  keys: doc.keys,
});

export const versionedAccountOf = (doc: AccountDoc): VersionedAccount => ({ account: accountOf(doc), version: doc.version });
