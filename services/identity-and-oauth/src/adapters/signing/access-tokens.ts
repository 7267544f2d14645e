import { type KeyObject, sign } from 'node:crypto';
import type { Clock } from '@bubbles/kernel/clock.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import { createTwoGenerationCache } from '@bubbles/kernel/two-generation-cache.ts';
import { errors, type JWTPayload, jwtVerify } from 'jose';
import { z } from 'zod';
import type { AccessToken, AccessTokenSigner, AccessTokenVerifier, SignedToken } from '../../ports.ts';
import type { KeyRing } from './key-ring.ts';

const ALGORITHM = 'ES256';
const TYPE = 'at+jwt';

interface SignerOptions {
  readonly ring: Pick<KeyRing<unknown>, 'current'>;
  readonly issuer: string;
  readonly ids: Ids;
}

/** Access tokens as RFC 9068 has them, for this API alone. */
export const createAccessTokenSigner = ({ ring, issuer, ids }: SignerOptions): AccessTokenSigner => ({
  sign: async ({ grant, scopes, at, expiresAt }) => {
    const { kid, key } = await ring.current();
    const claims = {
      iss: issuer,
      aud: issuer,
      sub: grant.accountId,
      client_id: grant.clientId,
      scope: scopes.join(' '),
      gid: grant.id,
      jti: ids.uuid(),
      iat: Math.floor(at.getTime() / 1000),
      // A part of a second more: the client was told how long it lives at least.
      exp: Math.ceil(expiresAt.getTime() / 1000),
    };
    return compactJws({ header: { alg: ALGORITHM, typ: TYPE, kid }, claims, key });
  },
});

interface JwsParts {
  readonly header: object;
  readonly claims: object;
  readonly key: KeyObject;
}

/** RFC 7515, 7.1. Signed on this thread: that takes half as much as to have another one do it. */
const compactJws = ({ header, claims, key }: JwsParts): string => {
  const input = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  return `${input}.${sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
};

/** How long a signature is remembered that nobody uses. */
const REMEMBERED_MS = 600_000;
const MAX_REMEMBERED = 20_000;

const AccessTokenClaims = z.object({ sub: z.string(), client_id: z.string(), scope: z.string(), gid: z.string(), exp: z.int() });

interface Verified {
  readonly token: AccessToken;
  /** Id of the signing key, which may be withdrawn. */
  readonly kid: string;
}

interface VerifierOptions {
  readonly ring: Pick<KeyRing<unknown>, 'find'>;
  readonly issuer: string;
  readonly clock: Clock;
}

/** Believes the signatures of our own keys and remembers them by the hash of the token; what else is true of a token is never remembered. */
export const createAccessTokenVerifier = ({ ring, issuer, clock }: VerifierOptions): AccessTokenVerifier => {
  const remembered = createTwoGenerationCache<Verified>(REMEMBERED_MS, MAX_REMEMBERED);

  const payloadOf = async (jwt: string): Promise<Omit<Verified, 'token'> & { readonly payload: JWTPayload }> => {
    let kid = '';
    const keyOf = async (header: { readonly kid?: string }) => {
      kid = header.kid ?? '';
      const key = await ring.find(kid);
      if (key === null) throw new errors.JWKSNoMatchingKey();
      return key;
    };
    const options = { issuer, audience: issuer, typ: TYPE, algorithms: [ALGORITHM], currentDate: clock.now() };
    // All but its time has been verified of one that expired, whose account and grant still tell why it is refused.
    const { payload } = await jwtVerify(jwt, keyOf, options).catch((error: unknown) => {
      if (error instanceof errors.JWTExpired) return error;
      throw error;
    });
    return { kid, payload };
  };
  const verifyNew = async ({ hash, jwt }: SignedToken): Promise<AccessToken | null> => {
    try {
      const { kid, payload } = await payloadOf(jwt);
      const claims = AccessTokenClaims.safeParse(payload);
      if (!claims.success) return null;
      const { sub, client_id, scope, gid, exp } = claims.data;
      const scopes = scope.split(' ').filter((name) => name !== '');
      const token: AccessToken = { grantId: gid, accountId: sub, clientId: client_id, scopes, expiresAt: new Date(exp * 1000) };
      remembered.set(hash, { token, kid }, clock.monotonic());
      return token;
    } catch (error) {
      if (error instanceof errors.JOSEError) return null;
      throw error;
    }
  };

  return {
    verify: async (tokens) => {
      const nowMs = clock.monotonic();
      const known = new Map<string, Verified>();
      const others: SignedToken[] = [];
      for (const token of tokens) {
        const verified = remembered.get(token.hash, nowMs);
        if (verified) known.set(token.hash, verified);
        else others.push(token);
      }
      const kids = [...new Set(known.values().map(({ kid }) => kid))];
      const [published, ...verifiedNow] = await Promise.all([
        Promise.all(kids.map((kid) => ring.find(kid))),
        ...others.map(async (token) => [token.hash, await verifyNew(token)] as const),
      ]);
      const withdrawn = new Set(kids.filter((_, i) => published[i] === null));
      const found = new Map<string, AccessToken>();
      for (const [hash, { token, kid }] of known) if (!withdrawn.has(kid)) found.set(hash, token);
      for (const [hash, token] of verifiedNow) if (token) found.set(hash, token);
      return found;
    },
  };
};
