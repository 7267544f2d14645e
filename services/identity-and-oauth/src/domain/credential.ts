import type { Caller, CredentialKind, CredentialRefusal } from '@bubbles/contracts/access.ts';
import { lifeOf, type VersionedAccount } from './account.ts';

/** What a token that was issued once is worth now. `ended`: expired, signed out, or its grant is gone. */
export type CredentialStatus = 'live' | 'revoked' | 'ended';

/** A token that was issued, and its owner. */
export interface Credential extends VersionedAccount {
  /** The key, the session or the OAuth grant. */
  readonly id: string;
  readonly kind: CredentialKind;
  readonly scopes: readonly string[];
  readonly status: CredentialStatus;
}

/** The question whether a token may be used for a request. */
export interface CredentialCheck {
  /** Lower-case hex SHA-256 of the token. */
  readonly hash: string;
  /** The token itself when it has the form of a JWT. */
  readonly jwt: string | null;
  /** The kinds that the route takes. */
  readonly accepts: readonly CredentialKind[];
  /** False: nothing is taken of the rate window, and a full one does not refuse. */
  readonly counted: boolean;
  /** What another replica had counted of it; null when that is not known. */
  readonly countedElsewhere: CountedElsewhere | null;
}

/** How many requests, and how long ago the first and the last of them. */
interface CountedElsewhere {
  readonly requests: number;
  readonly firstMsAgo: number;
  readonly lastMsAgo: number;
}

/** What a rate window says of one request. */
export interface RateDecision {
  readonly allowed: boolean;
  readonly remaining: number;
  /** Whole seconds until the oldest counted request leaves the window: when refused, waiting that long is enough. */
  readonly resetSeconds: number;
}

/** The answer; `Extra` goes with a credential that is accepted. */
export type CheckResult<Extra = unknown> =
  | ({ readonly outcome: 'allowed'; readonly credential: Credential; readonly budget: RateDecision } & Extra)
  | { readonly outcome: 'limited'; readonly budget: RateDecision }
  | { readonly outcome: 'refused'; readonly refusal: CredentialRefusal };

/** The account's state is told before the token's own; null admits. */
export const refusalOf = (credential: Credential | null, accepts: readonly CredentialKind[]): CredentialRefusal | null => {
  if (!credential) return 'unauthorized';
  if (credential.account.state !== 'active') return 'account_deleted';
  if (credential.status === 'revoked') return 'token_revoked';
  if (credential.status === 'ended' || !accepts.includes(credential.kind)) return 'unauthorized';
  return null;
};

/** The caller for routes and other services. */
export const callerOf = ({ id, kind, scopes, account }: Credential): Caller => ({
  userId: account.id,
  life: lifeOf(account),
  credentialId: id,
  kind,
  scopes,
});
