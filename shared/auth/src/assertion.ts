import type { KeyObject } from 'node:crypto';
import type { Authenticator } from '@bubbles/http/routes/authenticator.ts';
import type { Caller } from '@bubbles/http/routes/route.ts';
import type { Clock } from '@bubbles/kernel/clock.ts';
import { DomainError, isDomainError } from '@bubbles/kernel/errors.ts';
import { errors, jwtVerify, SignJWT } from 'jose';
import { z } from 'zod';
import type { AssertionKeys } from './assertion-keys.ts';
import { type Verified, verifiedTokens } from './verified-tokens.ts';

const ISSUER = 'identity-and-oauth';
const TYPE = 'assertion+jwt';
const ALGORITHM = 'EdDSA';
export const ASSERTION_LIFETIME_SECONDS = 60;
/** How far the clock of identity may be ahead of ours; behind, the lifetime covers it. */
const SKEW_SECONDS = 30;
const REMEMBERED_ASSERTIONS = 10_000;

const Claims = z.object({
  sub: z.string(),
  cid: z.string(),
  kind: z.enum(['pat', 'oauth', 'session']),
  scopes: z.array(z.string()),
  /** Absent from identity of an older release. */
  life: z.int().positive().default(1),
  epoch: z.int(),
  iat: z.int(),
  exp: z.int(),
});

export interface Assertion {
  readonly caller: Caller;
  /** The service that it is for. */
  readonly audience: string;
  /** Version of the account document that it was made from. */
  readonly epoch: number;
}

export interface AssertionSigner {
  readonly kid: string;
  readonly key: KeyObject;
}

/** What identity says about the caller to one service, for 60 seconds. */
export const signAssertion = ({ caller, audience, epoch }: Assertion, { kid, key }: AssertionSigner, now: Date): Promise<string> => {
  const issuedAt = Math.floor(now.getTime() / 1000);
  const { credentialId: cid, kind, scopes, life } = caller;
  // Services of an older release take none without teams.
  return new SignJWT({ cid, kind, scopes, life, teams: [], epoch })
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

const refused = (cause?: unknown): DomainError => new DomainError('unauthorized', 'A valid credential is required.', { cause });

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
    const claims = Claims.safeParse(payload);
    if (!claims.success) throw refused(claims.error);
    const { sub, cid, kind, scopes, life, iat, exp } = claims.data;
    const early = iat > now.getTime() / 1000 + SKEW_SECONDS;
    if (early || exp > iat + ASSERTION_LIFETIME_SECONDS) throw refused();
    return { value: { userId: sub, life, credentialId: cid, kind, scopes }, expiresAt: exp * 1000 };
  };
  const verified = verifiedTokens({ size: REMEMBERED_ASSERTIONS, clock, verify });
  return {
    admit: async ({ assertion, accepts }) => {
      if (assertion === null) return { refusal: refused(), headers: {} };
      const caller = await verified(assertion);
      return accepts.includes(caller.kind) ? { caller, headers: {} } : { refusal: refused(), headers: {} };
    },
  };
};

/** What is wrong with the token is the caller's; what is wrong with the key set is ours. */
const translate = (error: unknown): never => {
  if (isDomainError(error)) throw error;
  if (error instanceof errors.JOSEError) throw refused(error);
  throw error;
};
