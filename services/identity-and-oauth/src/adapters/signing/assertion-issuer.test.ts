import { createPublicKey, randomBytes } from 'node:crypto';
import { systemIds } from '@bubbles/kernel/ids.ts';
import { createSeal } from '@bubbles/kernel/seal.ts';
import { type FakeClock, fakeClock } from '@bubbles/testing/fake-clock.ts';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import { aCredential, anAccount } from '../../../test/builders.ts';
import { fakeSigningKeyStore } from '../../../test/fakes.ts';
import type { Ed25519Key } from '../../ports.ts';
import { createAssertionIssuer } from './assertions.ts';
import { createKeyRing, ED25519, type KeyRing } from './key-ring.ts';

describe('assertion issuer', () => {
  let clock: FakeClock;
  let ring: KeyRing<Ed25519Key>;
  beforeEach(() => {
    clock = fakeClock();
    ring = createKeyRing({
      keys: fakeSigningKeyStore(),
      algorithm: ED25519,
      keepAfterMs: 7_200_000,
      seal: createSeal([{ id: 'k1', key: randomBytes(32) }], randomBytes),
      clock,
      ids: systemIds(),
    });
  });

  it('says of a page that it calls for who is signed in there, and is never the one of the session itself', async () => {
    const issuer = createAssertionIssuer({ ring, clock });
    const account = anAccount({ life: 3 });
    const session = aCredential({ id: 'session-1', kind: 'session', account, accountVersion: 7 });
    const page = { sessionId: 'session-1', account, accountVersion: 7 };
    const to = { audience: 'webhooks-dispatcher', scopes: ['webhooks:manage'] };
    const [own, first, again, other] = [
      await issuer.issue(session, 'webhooks-dispatcher'),
      await issuer.issueForPage(page, to),
      await issuer.issueForPage(page, to),
      await issuer.issueForPage(page, { ...to, scopes: [] }),
    ];
    expect(decodeJwt(own)).toMatchObject({ kind: 'session' });
    expect(decodeJwt(first)).toMatchObject({
      sub: 'user-1',
      cid: 'session-1',
      kind: 'app',
      life: 3,
      scopes: ['webhooks:manage'],
      aud: 'webhooks-dispatcher',
      epoch: 7,
    });
    expect(again).toBe(first);
    expect(decodeJwt(other)).toMatchObject({ kind: 'app', scopes: [] });
  });

  it('says who calls to one service for 60 seconds, signed by a published key, with no teams as services of an older release take it', async () => {
    const credential = aCredential({
      accountVersion: 7,
      account: anAccount({ memberships: [{ teamId: 'team-1', role: 'guest', hidden: true }], life: 3 }),
    });
    const assertion = await createAssertionIssuer({ ring, clock }).issue(credential, 'bubbles-query');
    const [published] = await ring.published();
    if (!published) throw new Error('no key is published');
    const { payload, protectedHeader } = await jwtVerify(assertion, createPublicKey({ key: { ...published }, format: 'jwk' }), {
      currentDate: clock.now(),
      audience: 'bubbles-query',
      issuer: 'identity-and-oauth',
    });
    expect(protectedHeader.kid).toBe(published.kid);
    expect(payload).toMatchObject({
      sub: 'user-1',
      cid: 'key-1',
      kind: 'pat',
      life: 3,
      scopes: ['bubbles:read', 'webhooks:manage', 'meetings:join'],
      teams: [],
      epoch: 7,
    });
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(60);
  });

  it('hands the same one out for 20 seconds and then another', async () => {
    const assertions = createAssertionIssuer({ ring, clock });
    const first = await assertions.issue(aCredential(), 'bubbles-query');
    await clock.advance(19_999);
    expect(await assertions.issue(aCredential(), 'bubbles-query')).toBe(first);
    await clock.advance(1);
    expect(decodeJwt(await assertions.issue(aCredential(), 'bubbles-query')).iat).toBe((decodeJwt(first).iat ?? 0) + 20);
  });

  it.each([
    ['back', -3600],
    ['forward', 86_400],
  ])('hands out another one at once when the clock was set %s, since services would refuse the first', async (_, seconds) => {
    let setBy = 0;
    const wall = { ...clock, now: () => new Date(clock.now().getTime() + setBy) };
    const assertions = createAssertionIssuer({ ring, clock: wall });
    const first = await assertions.issue(aCredential(), 'bubbles-query');
    setBy = seconds * 1000;
    expect(decodeJwt(await assertions.issue(aCredential(), 'bubbles-query')).iat).toBe((decodeJwt(first).iat ?? 0) + seconds);
  });

  it('[AUTH-05] never reuses one over a change of the account', async () => {
    const assertions = createAssertionIssuer({ ring, clock });
    await assertions.issue(aCredential({ accountVersion: 1 }), 'bubbles-query');
    expect(decodeJwt(await assertions.issue(aCredential({ accountVersion: 2 }), 'bubbles-query'))['epoch']).toBe(2);
  });

  it('[AUTH-05] never reuses one whose key does not sign any more', async () => {
    let key = await ring.current();
    const assertions = createAssertionIssuer({ ring: { ...ring, current: () => Promise.resolve(key) }, clock });
    const first = await assertions.issue(aCredential(), 'bubbles-query');
    await clock.advance(1000);
    expect(await assertions.issue(aCredential(), 'bubbles-query')).toBe(first);
    key = { ...key, kid: 'another' };
    expect(decodeProtectedHeader(await assertions.issue(aCredential(), 'bubbles-query')).kid).toBe('another');
  });

  it('never hands one service what was made for another, nor one credential that of another', async () => {
    const assertions = createAssertionIssuer({ ring, clock });
    const made = await Promise.all([
      assertions.issue(aCredential(), 'bubbles-query'),
      assertions.issue(aCredential(), 'webhooks-dispatcher'),
      assertions.issue(aCredential({ id: 'key-2' }), 'bubbles-query'),
    ]);
    expect(made.map((one) => decodeJwt(one)).map(({ aud, cid }) => `${cid} ${aud}`)).toEqual([
      'key-1 bubbles-query',
      'key-1 webhooks-dispatcher',
      'key-2 bubbles-query',
    ]);
  });

  it('[OAUTH-11] never hands one access token the scopes of another one of its grant', async () => {
    const assertions = createAssertionIssuer({ ring, clock });
    const scopesFor = async (...scopes: readonly string[]) =>
      decodeJwt(await assertions.issue(aCredential({ id: 'grant-1', kind: 'oauth', scopes }), 'bubbles-query'))['scopes'];
    expect(await scopesFor('bubbles:read', 'webhooks:manage')).toEqual(['bubbles:read', 'webhooks:manage']);
    expect(await scopesFor('bubbles:read')).toEqual(['bubbles:read']);
    expect(await scopesFor()).toEqual([]);
  });

  it('a failure to sign is not handed out again', async () => {
    let broken = true;
    const flaky = { ...ring, current: () => (broken ? Promise.reject(new Error('store away')) : ring.current()) };
    const assertions = createAssertionIssuer({ ring: flaky, clock });
    await expect(assertions.issue(aCredential(), 'bubbles-query')).rejects.toThrow('store away');
    broken = false;
    expect(decodeJwt(await assertions.issue(aCredential(), 'bubbles-query')).sub).toBe('user-1');
  });
});
