import type { KeyObject } from 'node:crypto';
import type { ServiceTokens } from '@bubbles/http/client/internal-client.ts';
import { bearerToken } from '@bubbles/http/wire/framing.ts';
import type { Clock } from '@bubbles/kernel/clock.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import { createExpiringMemo } from '@bubbles/kernel/two-generation-cache.ts';
import { decodeJwt, jwtVerify, SignJWT } from 'jose';
import type { InternalAuth } from './guards.ts';

const TYPE = 'service+jwt';
const ALGORITHM = 'EdDSA';
const LIFETIME_SECONDS = 60;
/** A token is reused until it has less than this to live. */
const RESERVE_SECONDS = 20;
/** How far the clocks of two machines may be apart. */
const SKEW_SECONDS = 30;
const MAX_VERIFIED = 1000;

interface ServiceTokensOptions {
  /** The service that calls. */
  readonly caller: string;
  readonly key: KeyObject;
  readonly clock: Clock;
}

export const serviceTokens = ({ caller, key, clock }: ServiceTokensOptions): ServiceTokens => {
  const current = new Map<string, { readonly token: Promise<string>; readonly issuedAt: number }>();
  const sign = (audience: string, issuedAt: number): Promise<string> =>
    new SignJWT()
      .setProtectedHeader({ alg: ALGORITHM, typ: TYPE })
      .setIssuer(caller)
      .setAudience(audience)
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + LIFETIME_SECONDS)
      .sign(key);
  return {
    authorizationFor: async (audience) => {
      const now = Math.floor(clock.now().getTime() / 1000);
      let entry = current.get(audience);
      // A token from the future, after the wall clock was set back, is one that callees refuse.
      if (entry === undefined || entry.issuedAt > now || now >= entry.issuedAt + LIFETIME_SECONDS - RESERVE_SECONDS) {
        entry = { token: sign(audience, now), issuedAt: now };
        current.set(audience, entry);
      }
      return `Bearer ${await entry.token}`;
    },
  };
};

interface VerifiedService {
  /** The name of the calling service. */
  readonly value: string;
  readonly expiresAtMs: number;
}

interface ServiceAuthOptions {
  /** The service that is called. */
  readonly audience: string;
  /** Public keys by calling service; two of one service while it changes its key. */
  readonly callers: ReadonlyMap<string, readonly KeyObject[]>;
  readonly clock: Clock;
}

const refused = (cause?: unknown): DomainError => new DomainError('unauthorized', 'A valid service token is required.', { cause });

/** Takes the tokens of the configured callers and nobody else's. */
export const serviceAuth = ({ audience, callers, clock }: ServiceAuthOptions): InternalAuth => {
  const prove = async (token: string, key: KeyObject): Promise<VerifiedService> => {
    const { payload } = await jwtVerify(token, key, {
      audience,
      typ: TYPE,
      algorithms: [ALGORITHM],
      requiredClaims: ['iss', 'aud', 'iat', 'exp'],
      currentDate: clock.now(),
      clockTolerance: SKEW_SECONDS,
      maxTokenAge: LIFETIME_SECONDS,
    });
    const { iss = '', iat = 0, exp = 0 } = payload;
    if (exp > iat + LIFETIME_SECONDS) throw refused();
    return { value: iss, expiresAtMs: (exp + SKEW_SECONDS) * 1000 };
  };
  const verify = async (token: string): Promise<VerifiedService> => {
    let failure: unknown;
    for (const key of callers.get(issuerOf(token)) ?? []) {
      try {
        return await prove(token, key);
      } catch (error) {
        failure = error;
      }
    }
    throw refused(failure);
  };
  const now = () => clock.now().getTime();
  const verified = createExpiringMemo({ make: verify, now, keepMs: LIFETIME_SECONDS * 1000, most: MAX_VERIFIED });
  return {
    verify: (authorization) => {
      const token = bearerToken(authorization);
      return token === null ? Promise.reject(refused()) : verified(token);
    },
  };
};

/** Unproven: it only picks the keys that may prove it. */
const issuerOf = (token: string): string => {
  try {
    return decodeJwt(token).iss ?? '';
  } catch (cause) {
    throw refused(cause);
  }
};
