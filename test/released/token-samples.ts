import type { KeyObject } from 'node:crypto';
import { createAssertionAuthenticator, signAssertion } from '@bubbles/auth/assertions.ts';
import { serviceAuth, serviceTokens } from '@bubbles/auth/service-tokens.ts';
import type { Caller } from '@bubbles/contracts/access.ts';
import { createAccessTokenSigner, createAccessTokenVerifier } from '@bubbles/identity-and-oauth/adapters/signing/access-tokens.ts';
import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { fakeIds } from '@bubbles/testing/fake-ids.ts';
import { aCaller } from '@bubbles/testing/http.ts';
import { z } from 'zod';
import { lostOf, publicKeyOf, SAMPLE_TIME, type SampleFamily } from './samples.ts';

const KID = 'sample';
const AUDIENCE = 'bubbles-query';
const ISSUER = 'https://api.example.com';
const MINUTE_MS = 60_000;
const caller: Caller = aCaller({ userId: '3f1c2d4e-5b6a-4788-9c0d-1e2f3a4b5c6d', life: 2, credentialId: 'key-1' });

const Token = z.object({ token: z.string() });
/** The token, and what it says. */
const written = (token: string) => {
  const [header, claims] = token
    .split('.')
    .slice(0, 2)
    .map((part): unknown => JSON.parse(Buffer.from(part, 'base64url').toString()));
  return { token, header, claims };
};

/** What is read of a sample, or why nothing is. */
const reading = async (read: () => Promise<unknown>, expected: unknown): Promise<readonly string[]> => {
  try {
    return lostOf(expected, await read()).map((lost) => `the code of now reads it otherwise: ${lost}`);
  } catch (error) {
    return [`the code of now refuses it: ${Error.isError(error) ? error.message : String(error)}`];
  }
};
const keysOf = (key: KeyObject) => ({ find: (kid: string) => Promise.resolve(kid === KID ? publicKeyOf(key) : null) });

const assertion: SampleFamily = {
  name: 'assertion',
  contract: 'internal',
  producer: 'identity-and-oauth',
  consumers: 'every service',
  drawn: ['token'],
  make: async ({ ed25519 }) =>
    written(await signAssertion({ caller, audience: AUDIENCE, accountVersion: 3 }, { kid: KID, key: ed25519 }, SAMPLE_TIME)),
  refusals: (sample, { ed25519 }) => {
    const authenticator = createAssertionAuthenticator({ audience: AUDIENCE, keys: keysOf(ed25519), clock: fakeClock(SAMPLE_TIME) });
    return reading(() => authenticator.callerOf(Token.parse(sample).token), caller);
  },
};

const serviceToken: SampleFamily = {
  name: 'service token',
  contract: 'internal',
  producer: 'every service',
  consumers: 'every service that it calls',
  drawn: ['token'],
  make: async ({ ed25519 }) => {
    const tokens = serviceTokens({ caller: 'gateway', key: ed25519, clock: fakeClock(SAMPLE_TIME) });
    const [scheme = '', token = ''] = (await tokens.authorizationFor(AUDIENCE)).split(' ');
    return { scheme, ...written(token) };
  },
  refusals: (sample, { ed25519 }) => {
    const { scheme, token } = Token.extend({ scheme: z.string() }).parse(sample);
    const callers = new Map([['gateway', [publicKeyOf(ed25519)]]]);
    const auth = serviceAuth({ audience: AUDIENCE, callers, clock: fakeClock(SAMPLE_TIME) });
    return reading(() => auth.verify([`${scheme} ${token}`]), 'gateway');
  },
};

const accessToken: SampleFamily = {
  name: 'access token',
  contract: 'public',
  producer: 'identity-and-oauth',
  consumers: 'apps and its own replicas',
  drawn: ['token'],
  make: async ({ p256 }) => {
    const ring = { current: () => Promise.resolve({ kid: KID, key: p256 }) };
    const app = { clientId: 'client-1', clientName: 'Notes', scopes: ['bubbles:read'] };
    const grant = { id: 'grant-1', accountId: caller.userId, life: 2, createdAt: SAMPLE_TIME, expiresAt: SAMPLE_TIME, ...app };
    const signer = createAccessTokenSigner({ ring, issuer: ISSUER, ids: fakeIds() });
    const expiresAt = new Date(SAMPLE_TIME.getTime() + MINUTE_MS);
    return written(await signer.sign({ grant, scopes: grant.scopes, at: SAMPLE_TIME, expiresAt }));
  },
  refusals: async (sample, { p256 }) => {
    const verifier = createAccessTokenVerifier({ ring: keysOf(p256), issuer: ISSUER, clock: fakeClock(SAMPLE_TIME) });
    const found = await verifier.verify([{ hash: 'hash', jwt: Token.parse(sample).token }]);
    const expected = { grantId: 'grant-1', accountId: caller.userId, clientId: 'client-1', scopes: ['bubbles:read'] };
    return lostOf(expected, found.get('hash')).map((lost) => `the code of now reads it otherwise: ${lost}`);
  },
};

export const TOKEN_SAMPLES: readonly SampleFamily[] = [assertion, serviceToken, accessToken];
