import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { DomainError } from '@bubbles/kernel/errors.ts';
import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { aCaller } from '@bubbles/testing/http.ts';
import { askGuard } from '@bubbles/testing/requests.ts';
import { describe, expect, it } from '@jest/globals';
import { SignJWT } from 'jose';
import { createAssertionAuthenticator, signAssertion } from './assertions.ts';
import { pat, patOrSession, session } from './guards.ts';

const start = new Date('2026-01-01T00:00:00.000Z');
const seconds = start.getTime() / 1000;
const identity = generateKeyPairSync('ed25519');
const signer = { kid: 'k1', key: identity.privateKey };
const caller = aCaller({ life: 2 });

const arranged = () => {
  const clock = fakeClock(start);
  const asked: string[] = [];
  const find = (kid: string): Promise<KeyObject | null> => {
    asked.push(kid);
    return Promise.resolve(kid === 'k1' ? identity.publicKey : null);
  };
  const ports = { authenticator: createAssertionAuthenticator({ audience: 'bubbles-query', keys: { find }, clock }) };
  const admit = (assertion: string | null, guard = patOrSession(null)) =>
    askGuard(guard, assertion === null ? {} : { 'x-internal-assertion': [assertion] }, ports);
  return { clock, asked, admit };
};

const sign = (audience = 'bubbles-query', who = caller) => signAssertion({ caller: who, audience, accountVersion: 7 }, signer, start);
const UNAUTHORIZED = { refusal: expect.objectContaining({ name: 'DomainError', kind: 'unauthorized' }), headers: {} };

describe('the assertion of identity', () => {
  it('says who calls, with everything that the service must know', async () => {
    expect(await arranged().admit(await sign())).toEqual({ caller, headers: {} });
  });

  it('is proved once and believed until it ends', async () => {
    const { admit, asked, clock } = arranged();
    const assertion = await sign();
    await admit(assertion);
    await clock.advance(59_000);
    expect(await admit(assertion)).toMatchObject({ caller: { userId: caller.userId } });
    expect(asked).toEqual(['k1']);
    await clock.advance(1000);
    expect(await admit(assertion)).toEqual(UNAUTHORIZED);
  });

  it('is for one service', async () => {
    expect(await arranged().admit(await sign('webhooks-dispatcher'))).toEqual(UNAUTHORIZED);
  });

  it('[AUTH-02] of a kind that the route does not take is refused, also when it was believed before', async () => {
    const { admit } = arranged();
    const assertion = await sign('bubbles-query', { ...caller, kind: 'session' });
    expect(await admit(assertion)).toMatchObject({ caller: { kind: 'session' } });
    expect(await admit(assertion, pat(null))).toEqual(UNAUTHORIZED);
  });

  it('[AUTH-02] of a page of the product is taken where a personal access token is, with its scopes alone', async () => {
    const { admit } = arranged();
    const assertion = await sign('bubbles-query', { ...caller, kind: 'app', scopes: ['webhooks:manage'] });
    expect(await admit(assertion, pat('webhooks:manage'))).toMatchObject({ caller: { kind: 'app' } });
    expect(await admit(assertion, patOrSession('webhooks:manage'))).toMatchObject({ caller: { kind: 'app' } });
    expect(await admit(assertion, pat('bubbles:read'))).toMatchObject({ refusal: { kind: 'forbidden' } });
    expect(await admit(assertion, session)).toEqual(UNAUTHORIZED);
  });

  it('[AUTH-01] is the only thing that counts: without one nobody is admitted', async () => {
    expect(await arranged().admit(null)).toEqual(UNAUTHORIZED);
  });

  it('[F21] is believed 30 seconds early, not more', async () => {
    const { admit, clock } = arranged();
    await clock.set(new Date(start.getTime() - 31_000));
    expect(await admit(await sign())).toEqual(UNAUTHORIZED);
    await clock.set(new Date(start.getTime() - 30_000));
    expect(await admit(await sign())).toMatchObject({ caller: { userId: caller.userId } });
  });

  const claims = {
    iss: 'identity-and-oauth',
    aud: 'bubbles-query',
    sub: 'u',
    cid: 'c',
    kind: 'pat',
    scopes: [],
    epoch: 1,
    iat: seconds,
    exp: seconds + 60,
  };
  const forged = (changes: Record<string, unknown>, header: Record<string, unknown> = {}, key = identity.privateKey) =>
    new SignJWT({ ...claims, ...changes }).setProtectedHeader({ alg: 'EdDSA', typ: 'assertion+jwt', kid: 'k1', ...header }).sign(key);

  it('of identity of an older release, which counts no lives, is of the first one', async () => {
    expect(await arranged().admit(await forged({}))).toMatchObject({ caller: { userId: 'u', life: 1 } });
  });

  it.each<[string, () => Promise<string>]>([
    ['signed by somebody else', () => forged({}, {}, generateKeyPairSync('ed25519').privateKey)],
    ['of another issuer', () => forged({ iss: 'gateway' })],
    ['without an end', () => forged({ exp: undefined })],
    ['for longer than a minute', () => forged({ exp: seconds + 61 })],
    ['without a subject', () => forged({ sub: undefined })],
    ['of a kind that there is not', () => forged({ kind: 'root' })],
    ['that is an access token', () => forged({}, { typ: 'at+jwt' })],
    ['that is a service token', () => forged({}, { typ: 'service+jwt' })],
    ['with a key that identity does not have', () => forged({}, { kid: 'k9' })],
    ['with no key named', () => forged({}, { kid: undefined })],
    ['that is none', () => Promise.resolve('abc')],
    ['sent twice', async () => `${await forged({})}, ${await forged({})}`],
  ])('one %s is refused', async (_, make) => {
    expect(await arranged().admit(await make())).toEqual(UNAUTHORIZED);
  });

  it('[ERR-05] is neither believed nor refused while the keys cannot be fetched', async () => {
    const keys = { find: () => Promise.reject(new DomainError('unavailable', 'No keys.')) };
    const authenticator = createAssertionAuthenticator({ audience: 'bubbles-query', keys, clock: fakeClock(start) });
    await expect(authenticator.callerOf(await sign())).rejects.toMatchObject({ kind: 'unavailable' });
  });
});
