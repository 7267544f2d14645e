import type { OutgoingEvent } from '@bubbles/bus/outgoing.ts';
import type { Changed } from '@bubbles/store/aggregates.ts';
import type { Account, ActiveKey, VersionedAccount } from './domain/account.ts';
import type { TakenAddress } from './domain/address.ts';
import type { AuthorizationRequest, ConsentAnswer } from './domain/authorization.ts';
import type { Credential, RateDecision } from './domain/credential.ts';
import type { AuthorizationCode, Grant, RefreshToken } from './domain/grant.ts';
import type { KeyLifecycle } from './domain/key-lifecycle.ts';
import type { ClientMetadata, OAuthClient, RegisteredClient } from './domain/oauth-client.ts';
import type { Team, TeamsById } from './domain/team.ts';
import type { Session } from './domain/token.ts';

/** A page of a list in order of id. */
export interface Page {
  readonly after: string | null;
  readonly limit: number;
}

export interface AccountStore {
  /** With its events in the same write; false when the id is taken. */
  insert(change: Changed<Account>): Promise<boolean>;
  get(id: string): Promise<Account | null>;
  byIds(ids: readonly string[]): Promise<ReadonlyMap<string, Account>>;
  page(page: Page): Promise<Account[]>;
  /** Atomic, with its events in the same write. `change` runs again when another writer won and answers null to leave it; null means there is no such account. */
  update(id: string, change: (account: Account) => Changed<Account> | null): Promise<Account | null>;
  /** One conditional write; false when the account has as many active keys as it may. */
  addKey(id: string, key: ActiveKey): Promise<boolean>;
  /** False when the account has no such active key (any more). */
  removeKey(id: string, keyId: string): Promise<boolean>;
}

/** Which account an address belongs to: one at most. An account has an address when both its profile and this store say so. */
export interface AddressStore {
  get(address: string): Promise<TakenAddress | null>;
  /** One indexed read. */
  getEach(addresses: readonly string[]): Promise<ReadonlyMap<string, TakenAddress>>;
  /** False when the address is taken. */
  insert(taken: TakenAddress): Promise<boolean>;
  /** One conditional write; false when it was changed since it was read. */
  replace(taken: TakenAddress, next: Pick<TakenAddress, 'accountId' | 'takenAt'>): Promise<boolean>;
  /** Confirms the reservation after the profile was written, so that no process that read it earlier frees it. False when it belongs to another account. */
  keep(taken: Omit<TakenAddress, 'version'>): Promise<boolean>;
  /** Unless it was changed since it was read. */
  free(taken: TakenAddress): Promise<void>;
  /** Whether this process has seen to it that the addresses of all accounts that an older release made are taken. */
  isComplete(): boolean;
  markComplete(): void;
}

/** The event that tells an account's state and profile as they are now. */
export type AccountChanged = (account: Account) => OutgoingEvent;

export interface TeamStore {
  /** False when the id is taken. */
  insert(team: Team): Promise<boolean>;
  get(id: string): Promise<Team | null>;
  byIds(ids: readonly string[]): Promise<TeamsById>;
  page(page: Page): Promise<Team[]>;
  /** Unarchived and discoverable ones of these domains, the oldest first: one indexed read. */
  discoverable(domains: readonly string[], limit: number): Promise<Team[]>;
  /** Atomic; null from `change` leaves the team as it is. Null means there is no such team. */
  update(id: string, change: (team: Team) => Team | null): Promise<Team | null>;
  /** Idempotent: true for the one team in which the mailbox has its trial, false for every other team. */
  claimTrial(mailbox: string, teamId: string): Promise<boolean>;
}

export interface SessionStore {
  insert(session: Session): Promise<void>;
  /** At most `limit` of those that go on at that time, newest first. */
  ofAccount(accountId: string, at: Date, limit: number): Promise<Session[]>;
  /** False when there is no such session or it ended before. */
  end(id: string, at: Date): Promise<boolean>;
  /** The same, unless it is somebody else's. */
  endOwn(accountId: string, id: string, at: Date): Promise<boolean>;
  endOfAccount(accountId: string, at: Date): Promise<void>;
  /** By the hash of its token. */
  endByHash(hash: string, at: Date): Promise<void>;
  /** How many were forgotten. */
  forgetExpiredBefore(at: Date): Promise<number>;
}

export interface RevokedKey {
  readonly hash: string;
  readonly keyId: string;
  readonly accountId: string;
  readonly revokedAt: Date;
}

export interface RevokedKeyStore {
  /** Written before the hash leaves the account, so that a revoked token is never an unknown one; found there already changes nothing. */
  put(key: RevokedKey): Promise<void>;
  /** At most `limit` of those that were revoked before. */
  revokedBefore(at: Date, limit: number): Promise<RevokedKey[]>;
  /** By their hashes. */
  forget(hashes: readonly string[]): Promise<void>;
}

/** When something was last used, kept aside so that use never touches the thing itself. */
export interface Uses {
  /** Remembered at once, stored within a minute. */
  note(id: string, at: Date): void;
  lastUsed(ids: readonly string[]): Promise<ReadonlyMap<string, Date>>;
  /** For those that nobody can use any more. */
  forget(ids: readonly string[]): Promise<void>;
  /** How many were not used since and are forgotten. */
  forgetUsedBefore(at: Date): Promise<number>;
}

/** Notes the use of a credential where the uses of its kind are kept, if they are. */
export type NoteUse = (credential: Pick<Credential, 'id' | 'kind'>, at: Date) => void;

/** Every kind of token, with the live state of its owner. */
export interface CredentialStore {
  /** Opaque ones by their hash: one indexed read for all live keys together, a second round for the others. A hash that no token has is absent. */
  byHash(hashes: readonly string[]): Promise<ReadonlyMap<string, Credential>>;
  /** Access tokens by the same keys: the grants of all in one indexed read, their accounts in another beside it. Absent without an account. */
  byAccessToken(tokens: ReadonlyMap<string, AccessToken>): Promise<ReadonlyMap<string, Credential>>;
}

/** What an access token says that our issuer signed for this API. */
export interface AccessToken {
  readonly grantId: string;
  readonly accountId: string;
  readonly clientId: string;
  readonly scopes: readonly string[];
  readonly expiresAt: Date;
}

export interface SignedToken {
  /** Lower-case hex SHA-256 of the token. */
  readonly hash: string;
  readonly jwt: string;
}

export interface AccessTokenVerifier {
  /** By their hashes, also those that have expired; one that is not ours is absent. Says nothing of account and grant. */
  verify(tokens: readonly SignedToken[]): Promise<ReadonlyMap<string, AccessToken>>;
}

/** The requests of one credential within the last minute, in this process. `nowMs` is monotonic and never goes back. */
export interface RateWindow {
  /** Counts the request, unless the window is full. */
  take(nowMs: number): RateDecision;
  /** What is left, for a request that is not counted here. */
  peek(nowMs: number): RateDecision;
  /** Counts at least what was counted elsewhere, as evenly spread. */
  raise(elsewhere: { readonly requests: number; readonly firstMs: number; readonly lastMs: number }, nowMs: number): void;
}

export interface RateWindows {
  of(credentialId: string, nowMs: number): RateWindow;
}

/** The signed-in user of a page. */
export interface PageSession extends VersionedAccount {
  readonly sessionId: string;
}

/** Proof of the caller for services. */
export interface Assertions {
  /** For one service only; the same one again for a while as long as the version of the account stays. */
  issue(credential: Credential, audience: string): Promise<string>;
  /** For a page that calls a service for its signed-in user, limited to these scopes. */
  issueForPage(
    session: PageSession,
    { audience, scopes }: { readonly audience: string; readonly scopes: readonly string[] },
  ): Promise<string>;
}

/** RFC 8037. */
export interface Ed25519Key {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly x: string;
}
/** RFC 7518, 6.2. */
export interface P256Key {
  readonly kty: 'EC';
  readonly crv: 'P-256';
  readonly x: string;
  readonly y: string;
}

/** A signing key at rest. */
export interface SealedKey<K> extends KeyLifecycle {
  /** RFC 7638 thumbprint of the public key. */
  readonly kid: string;
  readonly publicKey: K;
  /** The private key, readable with the master key only. */
  readonly sealed: string;
}

export interface SigningKeyStore<K> {
  all(): Promise<SealedKey<K>[]>;
  /** False when the slot is taken: another replica made the key first. */
  insert(key: SealedKey<K>): Promise<boolean>;
  /** Deletes the keys whose time is over and that stopped signing so long ago. */
  deleteDue(now: Date, keepAfterMs: number): Promise<void>;
}

export interface SigningKeys<K> {
  /** What verifiers need now and soon. */
  published(): Promise<(K & { readonly kid: string })[]>;
  /** Makes the successor when its time has come and deletes the keys whose time is over. */
  rotate(): Promise<void>;
}

export interface OAuthClients {
  /**
   * Registered ones by their id, and those whose id is the URL of a metadata document; null when there is no such client. The fetches of documents are
   * limited for each `asker`, a site of the network or an account.
   */
  get(id: string, asker: string): Promise<OAuthClient | null>;
  /** Id and secret of a client. Fetches no metadata document: such clients have no secret, and strangers could trigger the fetch. */
  proofOf(id: string): Promise<Pick<OAuthClient, 'id' | 'secretHash'> | null>;
  /** Before each grant; false when the client has gone. */
  noteAuthorized(id: string, at: Date): Promise<boolean>;
}

/** Clients that registered themselves (RFC 7591). */
export interface RegisteredClientStore extends Omit<OAuthClients, 'proofOf'> {
  insert(client: RegisteredClient): Promise<void>;
  get(id: string): Promise<RegisteredClient | null>;
  page(page: Page): Promise<RegisteredClient[]>;
  /** Replaces all that the app says of itself; false when there is no such client. */
  change(id: string, metadata: ClientMetadata & Pick<OAuthClient, 'secretHash'>): Promise<boolean>;
  delete(id: string): Promise<void>;
  /** Those that nobody allowed anything and that registered before. */
  deleteNeverAuthorized(before: Date): Promise<void>;
  /** Ids of at most `limit` that were allowed something and last used before. */
  unusedSince(before: Date, limit: number): Promise<string[]>;
  /** Unless it was used meanwhile. */
  deleteUnusedSince(id: string, before: Date): Promise<void>;
}

/** What clients ask users for, until half an hour is over. */
export interface AuthorizationRequestStore {
  insert(request: AuthorizationRequest): Promise<void>;
  /** Also one that has expired. */
  get(hash: string): Promise<AuthorizationRequest | null>;
  /** Atomic: the first answer stays. Answers what is then stored, null when there is no such request. */
  answer(hash: string, answer: ConsentAnswer): Promise<ConsentAnswer | null>;
  forgetExpired(now: Date): Promise<void>;
}

export interface GrantStore {
  /** False when there is one of this id. */
  insert(grant: Grant): Promise<boolean>;
  get(id: string): Promise<Grant | null>;
  /** One indexed read. */
  byIds(ids: readonly string[]): Promise<ReadonlyMap<string, Grant>>;
  /** Grants of one account, newest first. */
  ofAccount(accountId: string): Promise<Grant[]>;
  /** Grants of one account, ordered by client; `after` is the id of a client. */
  ofAccountByClient(accountId: string, page: Page): Promise<Grant[]>;
  /** At most `limit` of what one account has allowed one app. */
  ofAccountAtClient(accountId: string, clientId: string, limit: number): Promise<Grant[]>;
  /** False when the grant has ended. */
  extend(id: string, expiresAt: Date): Promise<boolean>;
  /** Ends it for good: its access tokens, refresh tokens and codes are worth nothing from then on. */
  end(id: string): Promise<void>;
  endOfClient(clientId: string): Promise<void>;
  /** All that one account has allowed one app. */
  endOfAccountAtClient(accountId: string, clientId: string): Promise<void>;
  /** Whether anybody has a grant for the client. */
  anyOfClient(clientId: string): Promise<boolean>;
  endOfAccount(accountId: string): Promise<void>;
  /** Forgets those that have expired. */
  sweep(now: Date): Promise<void>;
}

export interface CodeStore {
  insert(code: AuthorizationCode): Promise<void>;
  get(hash: string): Promise<AuthorizationCode | null>;
  sweep(createdBefore: Date): Promise<void>;
}

export interface RefreshTokenStore {
  /** Spends what the token is issued for in the same write: true for exactly one caller, ever. */
  issue(token: RefreshToken): Promise<boolean>;
  get(hash: string): Promise<RefreshToken | null>;
  /** What was issued for the code or token of this hash; null when it was never spent. */
  issuedFor(spent: string): Promise<RefreshToken | null>;
  /** Forgets those that are kept no longer. */
  sweep(now: Date): Promise<void>;
}

export interface AccessTokenSigner {
  /** A JWT as RFC 9068 has it, with the grant's id as the claim `gid`. */
  sign(of: { readonly grant: Grant; readonly scopes: readonly string[]; readonly at: Date; readonly expiresAt: Date }): Promise<string>;
}

/** Bounds how often a caller may ask. */
export interface RequestLimit {
  /** Counts one request; throws `rate_limited` when there were too many. */
  take(...caller: readonly string[]): void;
}
