import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { describe, expect, it } from '@jest/globals';
import { SignJWT } from 'jose';
import { serviceAuth, serviceTokens } from './service-tokens.ts';

const start = new Date('2026-01-01T00:00:00.000Z');
const keyPair = () => generateKeyPairSync('ed25519');
const gateway = keyPair();
const worker = keyPair();

const arranged = () => {
  const clock = fakeClock(start);
  const callers = new Map([
    ['gateway', [gateway.publicKey]],
    ['worker', [worker.publicKey]],
  ]);
  return {
    clock,
    tokens: serviceTokens({ caller: 'gateway', key: gateway.privateKey, clock }),
    auth: serviceAuth({ audience: 'identity', callers, clock }),
  };
};

interface Forged {
  readonly key?: KeyObject | Uint8Array;
  readonly header?: Record<string, unknown>;
  readonly claims?: Record<string, unknown>;
}
const seconds = Math.floor(start.getTime() / 1000);
const forged = ({ key = gateway.privateKey, header, claims }: Forged): Promise<string> =>
  new SignJWT({ iss: 'gateway', aud: 'identity', iat: seconds, exp: seconds + 60, ...claims })
    .setProtectedHeader({ alg: 'EdDSA', typ: 'service+jwt', ...header })
    .sign(key);

describe('service tokens', () => {
  it('tell the callee who calls', async () => {
    const { tokens, auth } = arranged();
    expect(await auth.verify([await tokens.authorizationFor('identity')])).toBe('gateway');
  });

  it('are for one callee only', async () => {
    const { tokens, auth } = arranged();
    await expect(auth.verify([await tokens.authorizationFor('bubbles-query')])).rejects.toMatchObject({ kind: 'unauthorized' });
  });

  it('are reused until 20 seconds before they end, and end', async () => {
    const { tokens, auth, clock } = arranged();
    const first = await tokens.authorizationFor('identity');
    await clock.advance(39_000);
    expect(await tokens.authorizationFor('identity')).toBe(first);
    await clock.advance(1000);
    expect(await tokens.authorizationFor('identity')).not.toBe(first);
    expect(await auth.verify([first])).toBe('gateway');
    await clock.advance(50_000);
    await expect(auth.verify([first])).rejects.toMatchObject({ kind: 'unauthorized' });
  });

  it('[F21] survive clocks that are 30 seconds apart, either way', async () => {
    for (const apart of [-30_000, 30_000]) {
      const { tokens } = arranged();
      const callee = fakeClock(new Date(start.getTime() + apart));
      const auth = serviceAuth({ audience: 'identity', callers: new Map([['gateway', [gateway.publicKey]]]), clock: callee });
      const token = await tokens.authorizationFor('identity');
      expect(await auth.verify([token])).toBe('gateway');
    }
  });

  it('of a caller that changes its key are taken with either', async () => {
    const next = keyPair();
    const clock = fakeClock(start);
    const auth = serviceAuth({ audience: 'identity', callers: new Map([['gateway', [gateway.publicKey, next.publicKey]]]), clock });
    for (const { privateKey } of [gateway, next]) {
      const tokens = serviceTokens({ caller: 'gateway', key: privateKey, clock });
      expect(await auth.verify([await tokens.authorizationFor('identity')])).toBe('gateway');
    }
  });

  it.each<[string, Forged]>([
    ['signed with the key of another caller', { key: worker.privateKey }],
    ['of a caller that nobody knows', { claims: { iss: 'stranger' } }],
    ['of no caller', { claims: { iss: undefined } }],
    ['without an end', { claims: { exp: undefined } }],
    ['without a beginning', { claims: { iat: undefined } }],
    ['for a year', { claims: { exp: seconds + 31_536_000 } }],
    ['of yesterday', { claims: { iat: seconds - 86_400, exp: seconds - 86_340 } }],
    ['from the future', { claims: { iat: seconds + 600, exp: seconds + 660 } }],
    ['for nobody', { claims: { aud: undefined } }],
    ['of another type', { header: { typ: 'assertion+jwt' } }],
    ['of no type', { header: { typ: undefined } }],
    ['made with the public key as a secret', { key: gateway.publicKey.export({ format: 'der', type: 'spki' }), header: { alg: 'HS256' } }],
  ])('%s are refused', async (_, details) => {
    const { auth } = arranged();
    await expect(auth.verify([`Bearer ${await forged(details)}`])).rejects.toMatchObject({ name: 'DomainError', kind: 'unauthorized' });
  });

  it('without a signature are refused', async () => {
    const { auth } = arranged();
    const [, payload] = (await forged({})).split('.');
    const unsigned = `${Buffer.from('{"alg":"none","typ":"service+jwt"}').toString('base64url')}.${payload}.`;
    await expect(auth.verify([`Bearer ${unsigned}`])).rejects.toMatchObject({ kind: 'unauthorized' });
  });

  it.each([[[]], [['']], [['Bearer']], [['Bearer a.b.c']], [['Bearer not-a-jwt']], [['Basic Z2F0ZXdheTo=']], [['Bearer é']]])(
    'nothing that is no token: %j',
    async (authorization) => {
      await expect(arranged().auth.verify(authorization)).rejects.toMatchObject({ kind: 'unauthorized' });
    },
  );

  it('two headers are refused, valid as they may be', async () => {
    const { tokens, auth } = arranged();
    const token = await tokens.authorizationFor('identity');
    await expect(auth.verify([token, token])).rejects.toMatchObject({ kind: 'unauthorized' });
  });
});
