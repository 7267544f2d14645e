import type { Caller, CredentialKind, CredentialRefusal } from '@bubbles/contracts/access.ts';
import { lifeOf, type VersionedAccount } from './account.ts';

/** What a token that was issued once is worth now. `ended`: expired, signed out, or its grant is gone. */
export type Standing = 'live' | 'revoked' | 'ended';

/** A known token and who owns it. */
export interface Credential extends VersionedAccount {
  /** The key, the session or the OAuth grant. */
  readonly id: string;
  readonly kind: CredentialKind;
  readonly scopes: readonly string[];
  readonly standing: Standing;
}

/** The account's state is told before the token's own; null admits. */
export const refusalOf = (credential: Credential | null, accepts: readonly CredentialKind[]): CredentialRefusal | null => {
  if (!credential) return 'unauthorized';
  if (credential.account.state !== 'active') return 'account_deleted';
  if (credential.standing === 'revoked') return 'token_revoked';
  if (credential.standing === 'ended' || !accepts.includes(credential.kind)) return 'unauthorized';
  return null;
};

/** As routes and other services are told. */
export const callerOf = ({ id, kind, scopes, account }: Credential): Caller => ({
  userId: account.id,
  life: lifeOf(account),
  credentialId: id,
  kind,
  scopes,
});
