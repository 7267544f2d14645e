import { hash } from 'node:crypto';
import { type Account, type BoundToLife, lifeOf } from './account.ts';
import type { OAuthClient } from './oauth-client.ts';
import { hashToken } from './token.ts';

const CODE_PREFIX = 'svc_code_';
const REFRESH_PREFIX = 'svc_refresh_';

/** How long what the OAuth server issues is good for. */
export interface OAuthLifetimes {
  readonly accessTokenMs: number;
  readonly codeMs: number;
  /** Since its last use: each refresh issues a new token. */
  readonly refreshTokenMs: number;
  /** Longest life of a grant from consent on, regardless of use. */
  readonly grantMs: number;
  /** A second use of a refresh token within it may be the app's own parallel request and is only refused; after it the grant ends. */
  readonly refreshRaceWindowMs: number;
}

/** What a user has allowed an app. Tokens of a grant are good only while it exists; ending it ends all of them at once. */
export interface Grant extends BoundToLife {
  readonly clientId: string;
  /** Name of the app on the consent page. */
  readonly clientName: string;
  readonly scopes: readonly string[];
  /** Until its code is exchanged this is the end of the code, so that a grant that nobody used is soon forgotten. */
  readonly expiresAt: Date;
}

/** What codes and refresh tokens have in common; app and scopes are those of the grant. The token itself is never stored. */
interface GrantToken {
  /** Lower-case hex SHA-256 of the token. */
  readonly hash: string;
  readonly grantId: string;
  readonly accountId: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

export interface AuthorizationCode extends GrantToken {
  readonly redirectUri: string;
  /** RFC 7636, method S256. */
  readonly challenge: string;
}

export interface RefreshToken extends GrantToken {
  /** The hash of the code or refresh token that was spent for it; for the first one of a grant without a code, the grant's id. */
  readonly issuedFor: string;
  /** Until nothing of it can come again: neither the token nor what was spent for it. */
  readonly keepUntil: Date;
}

/** A token with its text, which goes into the answer and nowhere else. */
interface Issued<T> {
  readonly stored: T;
  readonly token: string;
}

interface GrantSeed {
  readonly id: string;
  readonly at: Date;
  readonly expiresAt: Date;
}

/** What the user agrees to. */
interface Consent {
  readonly owner: Account;
  readonly client: Pick<OAuthClient, 'id' | 'name'>;
  readonly scopes: readonly string[];
}

export const newGrant = ({ owner, client, scopes }: Consent, { id, at, expiresAt }: GrantSeed): Grant => ({
  id,
  accountId: owner.id,
  clientId: client.id,
  clientName: client.name,
  scopes,
  createdAt: at,
  expiresAt,
  life: lifeOf(owner),
});

/** A grant of an earlier life of its account has ended with that life. */
export const grantIsLive = (grant: Pick<Grant, 'accountId' | 'expiresAt' | 'life'>, owner: Account, now: Date): boolean =>
  grant.accountId === owner.id && grant.expiresAt > now && lifeOf(grant) === lifeOf(owner);

interface CodeSeed extends Pick<AuthorizationCode, 'redirectUri' | 'challenge'> {
  readonly random: Buffer;
}

/** It ends with the grant, which lives on only when the code is exchanged. */
export const issueCode = (grant: Grant, { random, redirectUri, challenge }: CodeSeed): Issued<AuthorizationCode> => {
  const token = CODE_PREFIX + random.toString('base64url');
  const { id: grantId, accountId, createdAt, expiresAt } = grant;
  return { token, stored: { hash: hashToken(token), grantId, accountId, createdAt, expiresAt, redirectUri, challenge } };
};

interface RefreshTokenSeed {
  readonly random: Buffer;
  readonly at: Date;
  readonly refreshTokenMs: number;
  /** What is spent for it; null when the grant itself is new. */
  readonly spent: Pick<GrantToken, 'hash' | 'expiresAt'> | null;
}

export const issueRefreshToken = (grant: Grant, { random, at, refreshTokenMs, spent }: RefreshTokenSeed): Issued<RefreshToken> => {
  const token = REFRESH_PREFIX + random.toString('base64url');
  const expiresAt = earlier(grant.expiresAt, new Date(at.getTime() + refreshTokenMs));
  const stored = {
    issuedFor: spent?.hash ?? grant.id,
    hash: hashToken(token),
    grantId: grant.id,
    accountId: grant.accountId,
    createdAt: at,
    expiresAt,
    keepUntil: spent !== null && spent.expiresAt > expiresAt ? spent.expiresAt : expiresAt,
  };
  return { token, stored };
};

/** No access token outlives its grant. */
export const accessTokenEnd = (grant: Grant, at: Date, { accessTokenMs }: Pick<OAuthLifetimes, 'accessTokenMs'>): Date =>
  earlier(grant.expiresAt, new Date(at.getTime() + accessTokenMs));

const earlier = (one: Date, other: Date): Date => (one < other ? one : other);

const CODE_VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;

/** RFC 7636, 4.6, for the method S256. */
export const provesChallenge = (codeVerifier: string, challenge: string): boolean =>
  CODE_VERIFIER.test(codeVerifier) && hash('sha256', codeVerifier, 'base64url') === challenge;

/** What clients call this API (RFC 8707): its base URL, also as they find it in the metadata or at their connection. */
const RESOURCE_PATHS = ['', '/', '/v1', '/mcp'];

export const namesOtherResource = (resources: readonly string[], publicBaseUrl: string): boolean =>
  resources.some((resource) => resource !== '' && !RESOURCE_PATHS.some((path) => resource === publicBaseUrl + path));
