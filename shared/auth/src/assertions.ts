import { createPublicKey, type KeyObject } from 'node:crypto';
import { type AssertionClaims, type Caller, CREDENTIAL_KINDS, CREDENTIAL_REFUSALS } from '@bubbles/contracts/access.ts';
import type { AssertionKeySet } from '@bubbles/contracts/internal/identity.ts';
import type { InternalClient } from '@bubbles/http/client/internal-client.ts';
import type { Clock } from '@bubbles/kernel/clock.ts';
import { singleFlight } from '@bubbles/kernel/concurrency.ts';
import { DomainError, isDomainError, refusal } from '@bubbles/kernel/errors.ts';
import { createExpiringMemo } from '@bubbles/kernel/two-generation-cache.ts';
import { errors, jwtVerify, SignJWT } from 'jose';
import { z } from 'zod';
import type { Authenticator } from './guards.ts';

const ISSUER = 'identity-and-oauth';
const TYPE = 'assertion+jwt';
const ALGORITHM = 'EdDSA';
const LIFETIME_SECONDS = 60;
/** How far the clock of identity may be ahead of ours; behind, the lifetime covers it. */
const SKEW_SECONDS = 30;

interface Assertion {
  readonly caller: Caller;
  /** The service that it is for. */
  readonly audience: string;
  /** Version of the account document behind the assertion. */
  readonly accountVersion: number;
}

interface AssertionSigner {
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
  const expiresAt = issuedAt + LIFETIME_SECONDS;
  const claims: AssertionClaims = { sub: caller.userId, cid, kind, scopes, life, epoch: accountVersion, iat: issuedAt, exp: expiresAt };
  // Services of an older release take none without teams.
  return new SignJWT({ ...claims, teams: [] })
    .setProtectedHeader({ alg: ALGORITHM, typ: TYPE, kid })
    .setIssuer(ISSUER)
    .setAudience(audience)
    .sign(key);
};

interface AssertionKeys {
  /** Null when identity has no such key; rejects with `DomainError('unavailable')` when it cannot be asked. */
  find(kid: string): Promise<KeyObject | null>;
}

const MAX_KEY_AGE_MS = 600_000;
/** The least time between two fetches for an unknown kid: a caller may have made it up. */
const COOLDOWN_MS = 10_000;
const COOLDOWN_AFTER_FAILURE_MS = 1000;

interface KeyOptions {
  readonly fetchKeys: () => Promise<AssertionKeySet>;
  readonly clock: Clock;
}

/** Identity's keys, cached, and fetched again when one is unknown or they are old; old ones stay in use while identity is away. */
export const createAssertionKeys = ({ fetchKeys, clock }: KeyOptions): AssertionKeys => {
  let published: ReadonlyMap<string, KeyObject> | null = null;
  /** No longer published, and believed as long as they would have been: a replica of identity may not have noticed yet. */
  let withdrawn: ReadonlyMap<string, { readonly key: KeyObject; readonly until: number }> = new Map();
  let fetchAfter = Number.NEGATIVE_INFINITY;
  let freshUntil = Number.NEGATIVE_INFINITY;
  /** Identity may have keys that are not known here. */
  let lastFetchFailed = false;

  const fetchNow = async () => {
    fetchAfter = clock.monotonic() + COOLDOWN_AFTER_FAILURE_MS;
    lastFetchFailed = true;
    const { keys } = await fetchKeys();
    const now = clock.monotonic();
    const before = [...withdrawn, ...[...(published ?? [])].map(([kid, key]) => [kid, { key, until: freshUntil }] as const)];
    const shown = new Map(keys.map((jwk) => [jwk.kid, createPublicKey({ key: jwk, format: 'jwk' })]));
    withdrawn = new Map(before.filter(([kid, { until }]) => !shown.has(kid) && now < until));
    published = shown;
    fetchAfter = now + COOLDOWN_MS;
    freshUntil = now + MAX_KEY_AGE_MS;
    lastFetchFailed = false;
  };
  const fetchIfDue = singleFlight(async () => {
    if (clock.monotonic() >= fetchAfter) await fetchNow();
  });
  const freshKey = (kid: string): KeyObject | null => {
    const now = clock.monotonic();
    const key = now < freshUntil ? published?.get(kid) : undefined;
    if (key !== undefined) return key;
    const former = withdrawn.get(kid);
    return former !== undefined && now < former.until ? former.key : null;
  };

  return {
    find: async (kid) => {
      const fresh = freshKey(kid);
      if (fresh !== null) return fresh;
      const known = published?.get(kid) ?? null;
      try {
        await fetchIfDue();
      } catch (cause) {
        if (known !== null) return known;
        throw unavailable(cause);
      }
      const key = published?.get(kid) ?? null;
      if (key === null && lastFetchFailed) throw unavailable();
      return key;
    },
  };
};

const unavailable = (cause?: unknown): DomainError => new DomainError('unavailable', 'Signing keys could not be fetched.', { cause });
const refused = (cause?: unknown): DomainError => refusal(CREDENTIAL_REFUSALS.unauthorized, cause);

/** The claims that a service reads. An unknown kind of caller is refused, because its rights are unknown. */
export const AssertedClaims = z.object({
  sub: z.string(),
  cid: z.string(),
  kind: z.enum([...CREDENTIAL_KINDS, 'app']),
  scopes: z.array(z.string()),
  /** Older releases of identity omit it. */
  life: z.int().positive().default(1),
  iat: z.int(),
  exp: z.int(),
});

const Ed25519Key = z.object({ kty: z.literal('OKP'), crv: z.literal('Ed25519'), x: z.string(), kid: z.string() });
/** The fields of identity's keys that a service reads; keys of unknown types are ignored. */
const PublishedKeys = z.object({ keys: z.array(z.union([Ed25519Key, z.object({}).transform(() => null)])) });

interface AuthenticatorOptions {
  /** This service. */
  readonly audience: string;
  readonly keys: AssertionKeys;
  readonly clock: Clock;
}

const MAX_VERIFIED = 10_000;

/** Believes identity's assertion and nothing else that a request says of itself. */
export const createAssertionAuthenticator = ({ audience, keys, clock }: AuthenticatorOptions): Authenticator => {
  const keyOf = async ({ kid }: { readonly kid?: string }): Promise<KeyObject> => {
    const key = kid === undefined ? null : await keys.find(kid);
    if (key === null) throw refused();
    return key;
  };
  const verify = async (assertion: string) => {
    const now = clock.now();
    const { payload } = await jwtVerify(assertion, keyOf, {
      audience,
      issuer: ISSUER,
      typ: TYPE,
      algorithms: [ALGORITHM],
      currentDate: now,
    }).catch(translate);
    const claims = AssertedClaims.safeParse(payload);
    if (!claims.success) throw refused(claims.error);
    const { sub, cid, kind, scopes, life, iat, exp } = claims.data;
    const early = iat > now.getTime() / 1000 + SKEW_SECONDS;
    if (early || exp > iat + LIFETIME_SECONDS) throw refused();
    const caller: Caller = { userId: sub, life, credentialId: cid, kind, scopes };
    return { value: caller, expiresAtMs: exp * 1000 };
  };
  const now = () => clock.now().getTime();
  const verified = createExpiringMemo({ make: verify, now, keepMs: LIFETIME_SECONDS * 1000, most: MAX_VERIFIED });
  return { callerOf: (assertion) => (assertion === null ? Promise.reject(refused()) : verified(assertion)) };
};

/** What is wrong with the token is the caller's; what is wrong with the key set is ours. */
const translate = (error: unknown): never => {
  if (isDomainError(error)) throw error;
  if (error instanceof errors.JOSEError) throw refused(error);
  throw error;
};

interface CallerOptions extends Omit<AuthenticatorOptions, 'keys'> {
  readonly identity: InternalClient;
}

/** The authenticator of a service that asks identity for its keys. */
export const assertedCallers = ({ identity, ...options }: CallerOptions): Authenticator => {
  const fetchKeys = async () => {
    const { keys } = await identity.get('/internal/v1/assertion-keys', { schema: PublishedKeys });
    return { keys: keys.filter((key) => key !== null) };
  };
  return createAssertionAuthenticator({ ...options, keys: createAssertionKeys({ fetchKeys, clock: options.clock }) });
};
