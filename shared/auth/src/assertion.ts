import type { KeyObject } from 'node:crypto';
import { AssertionClaims, type Caller, CREDENTIAL_REFUSALS } from '@bubbles/contracts/access.ts';
import type { Clock } from '@bubbles/kernel/clock.ts';
import { type DomainError, isDomainError, refusal } from '@bubbles/kernel/errors.ts';
import { errors, jwtVerify, SignJWT } from 'jose';
import type { AssertionKeys } from './assertion-keys.ts';
import type { Authenticator } from './guards.ts';
import { type Verified, verifiedTokens } from './verified-tokens.ts';

const ISSUER = 'identity-and-oauth';
const TYPE = 'assertion+jwt';
const ALGORITHM = 'EdDSA';
export const ASSERTION_LIFETIME_SECONDS = 60;
/** How far the clock of identity may be ahead of ours; behind, the lifetime covers it. */
const SKEW_SECONDS = 30;
const REMEMBERED_ASSERTIONS = 10_000;

export interface Assertion {
  readonly caller: Caller;
  /** The service that it is for. */
  readonly audience: string;
  /** Of the account document that it was made from. */
  readonly accountVersion: number;
}

export interface AssertionSigner {
  readonly kid: string;
  readonly key: KeyObject;
}

/** What identity says about the caller to one service, for 60 seconds. */
export const signAssertion = (
  { caller, audience, accountVersion }: Assertion,
  { kid, key }: AssertionSigner,
  now: Date,
): Promise<string> => {
  const issuedAt = Math.floor(now.getTime() / 1000);
  const { credentialId: cid, kind, scopes, life } = caller;
  // Services of an older release take none without teams.
  return new SignJWT({ cid, kind, scopes, life, teams: [], epoch: accountVersion })
    .setProtectedHeader({ alg: ALGORITHM, typ: TYPE, kid })
    .setIssuer(ISSUER)
    .setSubject(caller.userId)
    .setAudience(audience)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + ASSERTION_LIFETIME_SECONDS)
    .sign(key);
};

export interface AssertionAuthenticatorOptions {
  /** This service. */
  readonly audience: string;
  readonly keys: AssertionKeys;
  readonly clock: Clock;
}

const refused = (cause?: unknown): DomainError => refusal(CREDENTIAL_REFUSALS.unauthorized, cause);

/** Believes identity's assertion and nothing else that a request says of itself. */
export const assertionAuthenticator = ({ audience, keys, clock }: AssertionAuthenticatorOptions): Authenticator => {
  const keyOf = async ({ kid }: { readonly kid?: string }): Promise<KeyObject> => {
    const key = kid === undefined ? null : await keys.find(kid);
    if (key === null) throw refused();
    return key;
  };
  const verify = async (token: string): Promise<Verified<Caller>> => {
    const now = clock.now();
    const { payload } = await jwtVerify(token, keyOf, {
      audience,
      issuer: ISSUER,
      typ: TYPE,
      algorithms: [ALGORITHM],
      currentDate: now,
    }).catch(translate);
    const claims = AssertionClaims.safeParse(payload);
    if (!claims.success) throw refused(claims.error);
    const { sub, cid, kind, scopes, life, iat, exp } = claims.data;
    const early = iat > now.getTime() / 1000 + SKEW_SECONDS;
    if (early || exp > iat + ASSERTION_LIFETIME_SECONDS) throw refused();
    return { value: { userId: sub, life, credentialId: cid, kind, scopes }, expiresAt: exp * 1000 };
  };
  const verified = verifiedTokens({ size: REMEMBERED_ASSERTIONS, clock, verify });
  return { callerOf: (assertion) => (assertion === null ? Promise.reject(refused()) : verified(assertion)) };
};

/** What is wrong with the token is the caller's; what is wrong with the key set is ours. */
const translate = (error: unknown): never => {
  if (isDomainError(error)) throw error;
  if (error instanceof errors.JOSEError) throw refused(error);
  throw error;
};
