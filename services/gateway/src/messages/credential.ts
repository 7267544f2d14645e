import { hash } from 'node:crypto';
import { bearerToken } from '@bubbles/http/routes/bearer.ts';
import { isObject, parsedJson } from './json.ts';

const JWT = /^eyJ[\w-]*\.([\w-]+)\.[\w-]+$/;
const MAX_TOKEN_LENGTH = 8192;

/** A bearer token as presented, before anybody has vouched for it. */
export interface Credential {
  /** Lower-case hex SHA-256 of the token. */
  readonly hash: string;
  /** The token itself when it has the form of a JWT, else null: an opaque token goes no further than this. */
  readonly jwt: string | null;
}

/** The credential that a request presents; null for none, a malformed one or more than one. */
export const credentialOf = (authorization: readonly string[]): Credential | null => {
  const token = bearerToken(authorization);
  if (token === null || token.length > MAX_TOKEN_LENGTH) return null;
  return { hash: hash('sha256', token, 'hex'), jwt: JWT.test(token) ? token : null };
};

/** What decides which replica of identity counts this credential: the grant of an OAuth token (unverified; a wrong one only moves its own budget), else the token. */
export const affinityOf = (credential: Credential): string =>
  credential.jwt === null ? credential.hash : (grantOf(credential.jwt) ?? credential.hash);

const grantOf = (jwt: string): string | null => {
  const payload = JWT.exec(jwt)?.[1];
  if (payload === undefined) return null;
  const claims = parsedJson(Buffer.from(payload, 'base64url').toString());
  return isObject(claims) && typeof claims['gid'] === 'string' ? claims['gid'] : null;
};
