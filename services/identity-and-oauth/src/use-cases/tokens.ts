import { timingSafeEqual } from 'node:crypto';
import { JWT_FORM } from '@bubbles/contracts/access.ts';
import type { Clock } from '@bubbles/kernel/clock.ts';
import { DomainError, isUnavailable } from '@bubbles/kernel/errors.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import type { OAuthLifetimes } from '../domain/grant.ts';
import {
  accessTokenEnd,
  type Grant,
  grantIsLive,
  issueRefreshToken,
  newGrant,
  provesChallenge,
  type RefreshToken,
} from '../domain/grant.ts';
import { type AuthenticatedClient, scopesAskedFor } from '../domain/oauth-client.ts';
import { hashToken, TOKEN_BYTES } from '../domain/token.ts';
import type {
  AccessTokenSigner,
  AccessTokenVerifier,
  AccountStore,
  CodeStore,
  GrantStore,
  OAuthClients,
  RefreshTokenStore,
} from '../ports.ts';

/** What an app gets, in full; from here it goes into the answer and nowhere else. */
export interface IssuedTokens {
  readonly accessToken: string;
  readonly expiresInSeconds: number;
  readonly refreshToken: string;
  /** Scopes of the access token. */
  readonly scopes: readonly string[];
}

interface TokenPorts {
  readonly accounts: AccountStore;
  readonly grants: GrantStore;
  readonly codes: CodeStore;
  readonly refreshTokens: RefreshTokenStore;
  readonly accessTokenSigner: AccessTokenSigner;
  readonly lifetimes: OAuthLifetimes;
  readonly clock: Clock;
  readonly ids: Ids;
}

interface TokensToIssue {
  readonly grant: Grant;
  readonly scopes: readonly string[];
  readonly at: Date;
  readonly spent: Pick<RefreshToken, 'hash' | 'expiresAt'> | null;
}

/** Everything of an answer, signed and ready; nothing is stored yet. */
const prepareTokens = async (
  { accessTokenSigner, lifetimes, ids }: Pick<TokenPorts, 'accessTokenSigner' | 'lifetimes' | 'ids'>,
  { grant, scopes, at, spent }: TokensToIssue,
) => {
  const { refreshTokenMs } = lifetimes;
  const refresh = issueRefreshToken(grant, { random: ids.bytes(TOKEN_BYTES), at, refreshTokenMs, spent });
  const expiresAt = accessTokenEnd(grant, at, lifetimes);
  const accessToken = await accessTokenSigner.sign({ grant, scopes, at, expiresAt });
  const expiresInSeconds = Math.floor((expiresAt.getTime() - at.getTime()) / 1000);
  const tokens: IssuedTokens = { accessToken, expiresInSeconds, refreshToken: refresh.token, scopes };
  return { refresh: refresh.stored, tokens };
};

/** True when this token was issued. Where the store did not answer, what it has tells: the app would have to ask its user again for a token that it never got. */
const issueOnce = async ({ refreshTokens }: Pick<TokenPorts, 'refreshTokens'>, refresh: RefreshToken): Promise<boolean> => {
  try {
    return await refreshTokens.issue(refresh);
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    const stored = await refreshTokens.issuedFor(refresh.issuedFor);
    if (stored?.hash !== refresh.hash) throw error;
    return true;
  }
};

interface GrantToIssue {
  readonly accountId: string;
  readonly clientId: string;
  readonly scopes: readonly string[];
}

/** For an operator: a grant with its first tokens, as if the user had consented. */
export const issueGrant =
  ({ accounts, clients, grants, refreshTokens, ...ports }: Omit<TokenPorts, 'codes'> & { readonly clients: OAuthClients }) =>
  async ({ accountId, clientId, scopes }: GrantToIssue): Promise<IssuedTokens & { readonly grant: Grant }> => {
    const at = ports.clock.now();
    const owner = await accounts.get(accountId);
    if (!owner) throw new DomainError('not_found', 'No such account.');
    const client = (await clients.noteAuthorized(clientId, at)) ? await clients.get(clientId, accountId) : null;
    if (!client) throw new DomainError('not_found', 'No such client.');
    const expiresAt = new Date(at.getTime() + ports.lifetimes.grantMs);
    const grant = newGrant({ owner, client, scopes }, { id: ports.ids.uuid(), at, expiresAt });
    const { refresh, tokens } = await prepareTokens(ports, { grant, scopes, at, spent: null });
    await refreshTokens.issue(refresh);
    await grants.insert(grant);
    return { ...tokens, grant };
  };

interface TokenRequest {
  readonly client: AuthenticatedClient;
  /** Aborts when the app does not wait for the answer any more, which then must not cost it what it has sent. */
  readonly signal: AbortSignal;
}

interface CodeToExchange extends TokenRequest {
  readonly code: string;
  readonly redirectUri: string;
  readonly codeVerifier: string;
}

/**
 * A refusal spends nothing, except for a second use, which ends the grant. The code is spent by the last write, so that the app can try again when a step
 * before it fails.
 */
export const exchangeCode =
  (ports: TokenPorts) =>
  async ({ client, code, redirectUri, codeVerifier, signal }: CodeToExchange): Promise<IssuedTokens> => {
    const { codes, grants, lifetimes, clock } = ports;
    const known = await codes.get(hashToken(code));
    const { grant, isGoodAt } = await grantOf(ports, known);
    if (!known || grant?.clientId !== client.id) throw invalidGrant(BAD_CODE);
    if (known.redirectUri !== redirectUri) throw invalidGrant('redirect_uri: must be the one of the authorization request');
    if (!provesChallenge(codeVerifier, known.challenge)) throw invalidGrant('code_verifier: does not match the code_challenge');
    const at = clock.now();
    if (!isGoodAt(at)) throw invalidGrant(BAD_CODE);
    // Only a grant whose code was exchanged outlives it.
    if (known.expiresAt <= at) return endGrant(ports, grant, BAD_CODE);
    const lasting = { ...grant, expiresAt: new Date(grant.createdAt.getTime() + lifetimes.grantMs) };
    const { refresh, tokens } = await prepareTokens(ports, { grant: lasting, scopes: grant.scopes, at, spent: known });
    signal.throwIfAborted();
    if (!(await grants.extend(grant.id, lasting.expiresAt))) throw invalidGrant(BAD_CODE);
    if (!(await issueOnce(ports, refresh))) return endGrant(ports, grant, BAD_CODE);
    return tokens;
  };

interface TokenToRefresh extends TokenRequest {
  readonly refreshToken: string;
  /** What the access token is to have, with blanks between; all of the grant when it names nothing. */
  readonly scope: string;
}

/** A refusal spends nothing, except for a use after the race window, which ends the grant. One write, the last, spends the token and stores the next. */
export const refreshTokens =
  (ports: TokenPorts) =>
  async ({ client, refreshToken, scope, signal }: TokenToRefresh): Promise<IssuedTokens> => {
    const known = await ports.refreshTokens.get(hashToken(refreshToken));
    const { grant, isGoodAt } = await grantOf(ports, known);
    const at = ports.clock.now();
    if (!known || grant?.clientId !== client.id || known.expiresAt <= at || !isGoodAt(at)) throw invalidGrant(BAD_REFRESH_TOKEN);
    const scopes = scopesAskedFor(scope, grant);
    if (!scopes) throw new DomainError('invalid', 'scope: must be part of what was granted', { type: 'invalid_scope' });
    const { refresh, tokens } = await prepareTokens(ports, { grant, scopes, at, spent: known });
    signal.throwIfAborted();
    if (await issueOnce(ports, refresh)) return tokens;
    const next = await ports.refreshTokens.issuedFor(known.hash);
    const sinceMs = at.getTime() - (next?.createdAt.getTime() ?? 0);
    if (Math.max(0, sinceMs) < ports.lifetimes.refreshRaceWindowMs) throw invalidGrant(BAD_REFRESH_TOKEN);
    return endGrant(ports, grant, BAD_REFRESH_TOKEN);
  };

interface RevokePorts extends Pick<TokenPorts, 'grants' | 'refreshTokens' | 'clock'> {
  readonly accessTokens: AccessTokenVerifier;
}

/** Ends the grant of any token of its family, also of a refresh token that was spent before. Says nothing of a token that is not the client's. */
export const revokeToken = (ports: RevokePorts) => {
  const { grants, refreshTokens, accessTokens, clock } = ports;
  const grantIdOf = async (token: string): Promise<string | null> => {
    const hash = hashToken(token);
    if (!JWT_FORM.test(token)) return (await refreshTokens.get(hash))?.grantId ?? null;
    const found = (await accessTokens.verify([{ hash, jwt: token }])).get(hash);
    return found && found.expiresAt > clock.now() ? found.grantId : null;
  };
  return async ({ client, token }: { readonly client: AuthenticatedClient; readonly token: string }): Promise<void> => {
    const grantId = await grantIdOf(token);
    const grant = grantId === null ? null : await grants.get(grantId);
    if (grant?.clientId === client.id) await grants.end(grant.id);
  };
};

interface ClientCredentials {
  /** Null without client authentication. */
  readonly clientId: string | null;
  /** Null when none was sent. */
  readonly secret: string | null;
  /** The secret came in the Authorization header. */
  readonly inHeader: boolean;
}

/** A confidential client may send its secret in the header or in the body, whatever it registered. */
export const authenticateClient =
  ({ clients }: { readonly clients: OAuthClients }) =>
  async ({ clientId, secret, inHeader }: ClientCredentials): Promise<AuthenticatedClient> => {
    const client = clientId === null ? null : await clients.proofOf(clientId);
    const secretHash = client?.secretHash ?? null;
    const isProved = secretHash === null ? secret === null && !inHeader : secret !== null && isSecret(secret, secretHash);
    if (client && isProved) return client;
    throw new DomainError('unauthorized', 'The client is unknown or could not be authenticated.', { type: 'invalid_client' });
  };

const isSecret = (secret: string, secretHash: string): boolean => timingSafeEqual(Buffer.from(hashToken(secret)), Buffer.from(secretHash));

const NO_GRANT = { grant: null, isGoodAt: () => false };

/** The grant of a token; it is good while it and the account live. */
const grantOf = async (
  { grants, accounts }: Pick<TokenPorts, 'grants' | 'accounts'>,
  token: Pick<RefreshToken, 'grantId' | 'accountId'> | null,
): Promise<{ readonly grant: Grant | null; isGoodAt(at: Date): boolean }> => {
  if (token === null) return NO_GRANT;
  const [grant, owner] = await Promise.all([grants.get(token.grantId), accounts.get(token.accountId)]);
  if (grant === null || owner === null) return NO_GRANT;
  return { grant, isGoodAt: (at) => owner.state === 'active' && grantIsLive(grant, owner, at) };
};

const BAD_CODE = 'code: unknown, expired, used before, or issued to another app';
const BAD_REFRESH_TOKEN = 'refresh_token: unknown, expired, used before, revoked, or issued to another app';

const invalidGrant = (message: string) => new DomainError('invalid', message, { type: 'invalid_grant' });

/** After a second use nobody can tell which of the two was the app. */
const endGrant = async ({ grants }: Pick<TokenPorts, 'grants'>, { id }: Grant, message: string): Promise<never> => {
  await grants.end(id);
  throw invalidGrant(message);
};
