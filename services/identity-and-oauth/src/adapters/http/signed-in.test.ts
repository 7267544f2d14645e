import { askGuard } from '@bubbles/testing/requests.ts';
import { describe, expect, it } from '@jest/globals';
import { aCredential, anAccount } from '../../../test/builders.ts';
import type { CheckResult, CredentialCheck } from '../../domain/credential.ts';
import { hashToken } from '../../domain/token.ts';
import { sessionCookieName, signedInGuard, signedInOrClosedGuard } from './signed-in.ts';

const budget = { allowed: true, remaining: 120, resetSeconds: 60 };
const live: CheckResult = { outcome: 'allowed', credential: aCredential({ id: 'session-1', kind: 'session' }), budget };
const toSignIn = { status: 303, body: '/app/sign-in?return_to=%2Fapp%2Fthings%3Flimit%3D1' };

const asking = async (cookies: readonly string[], result: CheckResult = live) => {
  const asked: CredentialCheck[] = [];
  const guard = signedInGuard({
    checkCredentials: (checks) => {
      for (const check of checks) asked.push(check);
      return Promise.resolve([result]);
    },
  });
  return { found: await askGuard(guard, { cookie: cookies }, null), asked };
};

describe('a page for whoever is signed in', () => {
  it('is shown with a live session, which no request uses up', async () => {
    const { found, asked } = await asking(['a=b; __Host-session=svc_session_1']);
    const session = { account: anAccount(), accountVersion: 1, sessionId: 'session-1', sessionToken: 'svc_session_1' };
    expect(found).toEqual({ ...session, headers: {} });
    expect(asked).toEqual([{ hash: hashToken('svc_session_1'), jwt: null, accepts: ['session'], counted: false, countedElsewhere: null }]);
  });

  it.each([
    ['no cookie', []],
    ['an empty cookie', ['__Host-session=']],
    ['a cookie of another name', ['session=svc_session_1']],
    ['two cookies of that name', ['__Host-session=a; __Host-session=svc_session_1']],
  ])('sends the browser with %s to sign in, and back', async (_what, cookies) => {
    const { found, asked } = await asking(cookies);
    expect(found).toMatchObject(toSignIn);
    expect(asked).toEqual([]);
  });

  it('sends the browser home after it signed in when it came to a path that is too long for a header', async () => {
    const guard = signedInGuard({ checkCredentials: () => Promise.resolve([]) });
    const target = `/app/api-keys?${'&'.repeat(7000)}`;
    const ofLongPath: typeof guard = { ...guard, admit: (request, ports) => guard.admit({ ...request, target }, ports) };
    expect(await askGuard(ofLongPath, {}, null)).toMatchObject({ status: 303, body: '/app/sign-in?return_to=%2Fapp%2F' });
  });

  it.each(['unauthorized', 'account_deleted', 'token_revoked'] as const)(
    '[case 96] sends a session that is %s to sign in',
    async (refusal) => {
      expect((await asking(['__Host-session=svc_session_1'], { outcome: 'refused', refusal })).found).toMatchObject(toSignIn);
    },
  );

  it.each([
    [{ outcome: 'refused', refusal: 'account_deleted' }, { account: null }],
    [{ outcome: 'refused', refusal: 'unauthorized' }, toSignIn],
    [live, { account: anAccount() }],
  ] as const)('answers also whoever has an account that was closed meanwhile: %j', async (result, found) => {
    const guard = signedInOrClosedGuard({ checkCredentials: () => Promise.resolve([result]) });
    expect(await askGuard(guard, { cookie: ['__Host-session=svc_session_1'] }, null)).toMatchObject(found);
  });

  it('has a cookie with the prefix where there is https', () => {
    expect([sessionCookieName('https://api.test'), sessionCookieName('http://localhost:8080')]).toEqual(['__Host-session', 'session']);
  });
});
