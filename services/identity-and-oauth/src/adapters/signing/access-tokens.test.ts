import { createHmac, createPublicKey, generateKeyPairSync, randomBytes } from 'node:crypto';
import { systemIds } from '@bubbles/kernel/ids.ts';
import { createSeal } from '@bubbles/kernel/seal.ts';
import { type FakeClock, fakeClock } from '@bubbles/testing/fake-clock.ts';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { decodeJwt, decodeProtectedHeader, exportJWK, importJWK, type JWK, jwtVerify, SignJWT } from 'jose';
import { AT, aGrant } from '../../../test/builders.ts';
import { fakeSigningKeyStore } from '../../../test/fakes.ts';
import { hashToken } from '../../domain/token.ts';
import type { AccessTokenVerifier, P256Key } from '../../ports.ts';
import { createAccessTokenSigner, createAccessTokenVerifier } from './access-tokens.ts';
import { createKeyRing, ES256, type KeyRing } from './key-ring.ts';

const ISSUER = 'https://api.test';
const LIFE_MS = 3_600_000;
const DAY_MS = 24 * LIFE_MS;
const SCOPES = ['bubbles:read', 'meetings:join'];
const encoded = (value: object | string): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

let clock: FakeClock;
let ring: KeyRing<P256Key>;
let found: string[];
let verifier: AccessTokenVerifier;
beforeEach(() => {
  clock = fakeClock(AT);
  const seal = createSeal([{ id: 'k1', key: randomBytes(32) }], randomBytes);
  ring = createKeyRing({ keys: fakeSigningKeyStore(), algorithm: ES256, keepAfterMs: 2 * LIFE_MS, seal, clock, ids: systemIds() });
  found = [];
  const find = (kid: string) => {
    found.push(kid);
    return ring.find(kid);
  };
  verifier = createAccessTokenVerifier({ ring: { find }, issuer: ISSUER, clock });
});

const issue = (issuer = ISSUER): Promise<string> => {
  const at = clock.now();
  const signer = createAccessTokenSigner({ ring, issuer, ids: systemIds() });
  return signer.sign({ grant: aGrant(), scopes: SCOPES, at, expiresAt: new Date(at.getTime() + LIFE_MS) });
};
const verified = async (...jwts: readonly string[]) => {
  const tokens = await verifier.verify(jwts.map((jwt) => ({ hash: hashToken(jwt), jwt })));
  return jwts.map((jwt) => tokens.get(hashToken(jwt)) ?? null);
};
const publicJwk = async (): Promise<JWK> => {
  const [shown] = await ring.published();
  if (!shown) throw new Error('no key is published');
  return { ...shown };
};

describe('access tokens', () => {
  it('[OAUTH-06] are signed as RFC 9068 has it, with the grant that they belong to', async () => {
    const jwt = await issue();
    const jwk = await publicJwk();
    const { payload, protectedHeader } = await jwtVerify(jwt, await importJWK(jwk, 'ES256'), { currentDate: AT });
    expect(protectedHeader).toEqual({ alg: 'ES256', typ: 'at+jwt', kid: jwk.kid });
    const iat = AT.getTime() / 1000;
    expect(payload).toEqual({
      iss: ISSUER,
      aud: ISSUER,
      sub: 'user-1',
      client_id: 'client-1',
      scope: 'bubbles:read meetings:join',
      gid: 'grant-1',
      jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
      iat,
      exp: iat + 3600,
    });
    expect(await issue()).not.toBe(jwt);
  });

  it('[OAUTH-10] live as long as the client was told at least, whatever part of a second it was', async () => {
    await clock.advance(600);
    const jwt = await issue();
    const { iat = 0, exp = 0 } = decodeJwt(jwt);
    expect(exp - iat).toBe(3601);
    await clock.advance(LIFE_MS - 1);
    const [token] = await verified(jwt);
    expect(token && token.expiresAt > clock.now()).toBe(true);
  });

  it('are known by what they say, each by its own hash, also when they have expired', async () => {
    const jwt = await issue();
    const token = {
      grantId: 'grant-1',
      accountId: 'user-1',
      clientId: 'client-1',
      scopes: SCOPES,
      expiresAt: new Date(AT.getTime() + LIFE_MS),
    };
    expect(await verified(jwt, 'eyJ.eyJ.x', jwt)).toEqual([token, null, token]);
    await clock.advance(2 * LIFE_MS);
    expect(await verified(jwt)).toEqual([token]);
    verifier = createAccessTokenVerifier({ ring, issuer: ISSUER, clock });
    expect(await verified(jwt)).toEqual([token]);
  });

  it('[case 86] are refused in every form that others can make', async () => {
    const jwt = await issue();
    const [, payload = '', signature = ''] = jwt.split('.');
    const header = decodeProtectedHeader(jwt);
    const claims = decodeJwt(jwt);
    const jwk = await publicJwk();
    const mine = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const ownJwk = await exportJWK(mine.publicKey);
    const signedByMe = (extra: object) =>
      new SignJWT(claims).setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: jwk.kid ?? '', ...extra }).sign(mine.privateKey);
    const hs256 = (secret: string | Buffer) => {
      const input = `${encoded({ ...header, alg: 'HS256' })}.${payload}`;
      return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`;
    };
    const pem = createPublicKey({ key: { ...jwk }, format: 'jwk' }).export({ type: 'spki', format: 'pem' });
    const forged = {
      'alg none': `${encoded({ ...header, alg: 'none' })}.${payload}.`,
      'alg none with the signature': `${encoded({ ...header, alg: 'none' })}.${payload}.${signature}`,
      'HS256 with the public key as JSON': hs256(JSON.stringify(jwk)),
      'HS256 with the public key as PEM': hs256(pem),
      'unknown kid': await signedByMe({ kid: 'nobody' }),
      'no kid': await new SignJWT(claims).setProtectedHeader({ alg: 'ES256', typ: 'at+jwt' }).sign(mine.privateKey),
      'our kid, another key': await signedByMe({}),
      'jwk in the header': await signedByMe({ jwk: ownJwk }),
      'jku in the header': await signedByMe({ jku: 'https://evil.test/jwks', kid: 'evil' }),
      'x5u in the header': await signedByMe({ x5u: 'https://evil.test/cert', kid: 'evil' }),
      'tampered payload': `${encoded(header)}.${encoded({ ...claims, scope: 'webhooks:manage' })}.${signature}`,
      'another grant': `${encoded(header)}.${encoded({ ...claims, gid: 'grant-2' })}.${signature}`,
      'a longer life': `${encoded(header)}.${encoded({ ...claims, exp: (claims.exp ?? 0) + 1 })}.${signature}`,
      'empty signature': `${encoded(header)}.${payload}.`,
      'signature of zeros': `${encoded(header)}.${payload}.${Buffer.alloc(64).toString('base64url')}`,
      'another issuer': await issue('https://evil.test'),
    };
    const names = Object.keys(forged);
    expect(Object.fromEntries((await verified(...Object.values(forged))).map((token, i) => [names[i], token]))).toEqual(
      Object.fromEntries(names.map((name) => [name, null])),
    );
  });

  it('[case 86] signed by our key are refused with another type, algorithm, audience or without a claim', async () => {
    const jwt = await issue();
    const { kid, key } = await ring.current();
    const claims = decodeJwt(jwt);
    const signed = (header: object, changed: object) =>
      new SignJWT({ ...claims, ...changed }).setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid, ...header }).sign(key);
    expect(
      await verified(
        await signed({ typ: 'JWT' }, {}),
        await signed({ typ: 'assertion+jwt' }, {}),
        await signed({}, { aud: 'bubbles-query' }),
        await signed({}, { aud: undefined }),
        await signed({}, { gid: undefined }),
        await signed({}, { exp: undefined }),
        await signed({}, { sub: undefined }),
        await signed({}, { scope: ['bubbles:read'] }),
      ),
    ).toEqual(Array(8).fill(null));
  });

  it('are verified once: what was verified is remembered by the hash of the token, what was refused is not', async () => {
    const [jwt, forged] = [await issue(), 'eyJhbGciOiJFUzI1NiIsImtpZCI6ImsifQ.eyJh.c2ln'];
    await verified(jwt, forged, jwt);
    found = [];
    const [again] = await verified(jwt, jwt);
    expect([again?.grantId, found.length]).toEqual(['grant-1', 1]);
    const tampered = await verifier.verify([{ hash: hashToken(forged), jwt: forged }]);
    expect(tampered.size).toBe(0);
  });

  it('[OAUTH-09] stay good when another key signs, and are refused when their key is withdrawn, remembered or not', async () => {
    await ring.current();
    await clock.advance(30 * DAY_MS - 1000);
    const last = await issue();
    await clock.advance(2000);
    const next = await issue();
    expect(decodeProtectedHeader(next).kid).not.toBe(decodeProtectedHeader(last).kid);
    expect((await verified(last, next)).map((token) => token?.grantId)).toEqual(['grant-1', 'grant-1']);
    await clock.advance(2 * LIFE_MS);
    expect((await verified(last, next)).map((token) => token?.grantId)).toEqual([undefined, 'grant-1']);
  });

  it('is not told that a token is bad when the keys cannot be read', async () => {
    const jwt = await issue();
    const away = createAccessTokenVerifier({ ring: { find: () => Promise.reject(new Error('store away')) }, issuer: ISSUER, clock });
    await expect(away.verify([{ hash: hashToken(jwt), jwt }])).rejects.toThrow('store away');
  });
});
