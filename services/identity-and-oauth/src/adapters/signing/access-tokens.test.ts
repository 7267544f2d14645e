import { createPublicKey, randomBytes } from 'node:crypto';
import { systemIds } from '@bubbles/kernel/ids.ts';
import { createSeal } from '@bubbles/kernel/seal.ts';
import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { describe, expect, it } from '@jest/globals';
import { jwtVerify } from 'jose';
import { AT, aGrant } from '../../../test/builders.ts';
import { fakeSigningKeyStore } from '../../../test/fakes.ts';
import type { P256Key } from '../../ports.ts';
import { createAccessTokenSigner } from './access-tokens.ts';
import { createKeyRing, ES256 } from './key-ring.ts';

const ISSUER = 'https://api.test';
const LIFE_MS = 3_600_000;

const started = () => {
  const clock = fakeClock(AT);
  const ids = systemIds();
  const seal = createSeal([{ id: 'k1', key: randomBytes(32) }], randomBytes);
  const ring = createKeyRing<P256Key>({ keys: fakeSigningKeyStore(), algorithm: ES256, keepAfterMs: LIFE_MS, seal, clock, ids });
  return { ring, signer: createAccessTokenSigner({ ring, issuer: ISSUER, ids }) };
};

describe('access tokens', () => {
  it('[OAUTH-07] are signed as RFC 9068 has it, with the grant that they belong to', async () => {
    const { ring, signer } = started();
    const sign = () =>
      signer.sign({ grant: aGrant(), scopes: ['bubbles:read', 'meetings:join'], at: AT, expiresAt: new Date(AT.getTime() + LIFE_MS) });
    const jwt = await sign();
    const [shown] = await ring.published();
    if (!shown) throw new Error('no key is published');
    const { payload, protectedHeader } = await jwtVerify(jwt, createPublicKey({ key: { ...shown }, format: 'jwk' }), { currentDate: AT });
    expect(protectedHeader).toEqual({ alg: 'ES256', typ: 'at+jwt', kid: shown.kid });
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
    expect(await sign()).not.toBe(jwt);
  });
});
