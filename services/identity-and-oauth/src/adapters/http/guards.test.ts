import { askGuard } from '@bubbles/testing/requests.ts';
import { describe, expect, it } from '@jest/globals';
import { aCredential, anAccount } from '../../../test/builders.ts';
import type { CheckResult, CredentialCheck } from '../../domain/credential.ts';
import { hashToken } from '../../domain/token.ts';
import { ownGuards } from './guards.ts';

const budget = { allowed: true, remaining: 119, resetSeconds: 60 };
const allowed: CheckResult = { outcome: 'allowed', credential: aCredential(), budget };

const guarded = (result: CheckResult = allowed) => {
  const asked: CredentialCheck[] = [];
  const { pat } = ownGuards({
    checkCredentials: (checks) => {
      for (const check of checks) asked.push(check);
      return Promise.resolve([result]);
    },
  });
  return {
    asked,
    admit: (authorization: readonly string[]) => askGuard(pat(null), { authorization, 'x-internal-assertion': ['forged'] }, null),
  };
};

describe('identity’s own guard', () => {
  it.each([
    ['no header', []],
    ['no space', ['Bearersvc_pat_x']],
    ['no token', ['Bearer ']],
    ['another scheme', ['Basic dTpw']],
    ['two tokens', ['Bearer a, Bearer b']],
    ['two headers', ['Bearer a', 'Bearer a']],
    ['a byte outside the grammar', ['Bearer svc_pat_é']],
  ])('[AUTH-01] %s is unauthorized without a look at the store', async (_what, authorization) => {
    const { admit, asked } = guarded();
    expect(await admit(authorization)).toMatchObject({ refusal: { kind: 'unauthorized' }, headers: {} });
    expect(asked).toEqual([]);
  });

  it('[AUTH-01] the scheme may have any case', async () => {
    const { admit, asked } = guarded();
    await admit(['bEARER token']);
    expect(asked).toEqual([{ hash: hashToken('token'), jwt: null, accepts: ['pat', 'oauth'], counted: true, countedElsewhere: null }]);
  });

  it('tells a JWT by its form', async () => {
    const { admit, asked } = guarded();
    await admit(['Bearer eyJh.b.c']);
    expect(asked).toMatchObject([{ jwt: 'eyJh.b.c' }]);
  });

  it('[RATE-03] carries the figures of the window, also on a refusal', async () => {
    const passed = await guarded().admit(['Bearer token']);
    expect(passed.headers).toEqual({ 'RateLimit-Policy': '"default";q=120;w=60', RateLimit: '"default";r=119;t=60' });
    const refused = await guarded({ outcome: 'limited', budget: { allowed: false, remaining: 0, resetSeconds: 17 } }).admit(['Bearer t']);
    expect(refused).toMatchObject({
      refusal: { kind: 'rate_limited', retryAfterSeconds: 17 },
      headers: { RateLimit: '"default";r=0;t=17' },
    });
  });

  it.each(['unauthorized', 'account_deleted', 'token_revoked'] as const)('[AUTH-05] hands on the refusal %s', async (refusal) => {
    expect(await guarded({ outcome: 'refused', refusal }).admit(['Bearer t'])).toMatchObject({
      refusal: { type: refusal },
      headers: {},
    });
  });

  it('hands over the account that admission read', async () => {
    const account = anAccount({ memberships: [{ teamId: 'team-1', role: 'admin', hidden: false }] });
    const { admit } = guarded({ outcome: 'allowed', credential: aCredential({ account }), budget });
    const admission = await admit(['Bearer t']);
    if (!('caller' in admission)) throw new Error('was refused');
    expect(admission.caller).toEqual({
      userId: 'user-1',
      life: 1,
      credentialId: 'key-1',
      kind: 'pat',
      scopes: ['bubbles:read', 'webhooks:manage', 'meetings:join'],
    });
    expect(admission.account).toBe(account);
  });
});
