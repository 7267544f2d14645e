import { afterEach, describe, expect, it } from '@jest/globals';
import { startSignup, type TestSignup } from './signup.ts';

let signup: TestSignup;
afterEach(() => signup.stop());

const refusalOf = async (email: string, method: 'POST' | 'GET' = 'POST') => {
  const { status, body } = await signup.step('start', { email }, { method });
  return [status, body.error?.type, body.error?.message];
};

describe('the address of a signup', () => {
  it.each(['POST', 'GET'] as const)('[SIGN-02] is refused by %s for what is wrong with it, and nothing is mailed', async (method) => {
    signup = await startSignup();
    for (const [email, reason] of [
      ['ada@mailinator.com', /temporary mail services/],
      ['ada@sub.yopmail.com', /temporary mail services/],
      ['ada@localhost', /two parts/],
      ['ada@[127.0.0.1]', /IP address/],
      ['ada@example.com\r\nBcc: eve@example.com', /control characters/],
      [`${'a'.repeat(65)}@example.com`, /64 bytes/],
      ['ada', /such as/],
    ] as const)
      expect(await refusalOf(email, method)).toEqual([
        400,
        'invalid_request',
        expect.stringMatching(new RegExp(`^email: .*${reason.source}`)),
      ]);
    await signup.settle();
    expect(signup.mail.accepted).toEqual([]);
  });

  it('[SIGN-02] is judged by the lists of the installation first', async () => {
    signup = await startSignup({
      environment: { SIGNUP_DENIED_DOMAINS: 'rival.example xyz # both', SIGNUP_ALLOWED_DOMAINS: 'mailinator.com' },
    });
    for (const email of ['ada@rival.example', 'ada@mail.rival.example', 'ada@any.xyz'])
      expect(await refusalOf(email)).toEqual([
        400,
        'invalid_request',
        'email: addresses at this domain cannot sign up here. Use another address.',
      ]);
    for (const email of ['ada@mailinator.com', 'ada@example.com']) expect((await signup.step('start', { email })).status).toBe(200);
  });

  it('[SIGN-02] counts with all that reach its mailbox, and is mailed as it was given', async () => {
    signup = await startSignup();
    const spelt = (n: number) => `${n % 2 === 0 ? 'ada.lovelace' : 'adalovelace'}+${n}@${n % 3 === 0 ? 'googlemail' : 'gmail'}.com`;
    for (let n = 0; n < 10; n += 1) expect((await signup.step('start', { email: spelt(n) }, { from: `198.51.100.${n}` })).status).toBe(200);
    expect((await refusalOf('a.d.a.lovelace@gmail.com')).slice(0, 2)).toEqual([429, 'rate_limited']);
    expect((await signup.step('start', { email: 'ada.lovelace+1@example.com' })).status).toBe(200);
    await signup.settle();
    expect(signup.mail.accepted.map(({ to }) => to)).toEqual(expect.arrayContaining([spelt(0), spelt(1), 'ada.lovelace+1@example.com']));
  });

  it('[SIGN-07] at a provider of mail for anybody opens no workspace to its domain', async () => {
    signup = await startSignup({ environment: { SIGNUP_CONSUMER_DOMAINS: 'isp.example', SIGNUP_COMPANY_DOMAINS: 'gmx.ch' } });
    const available = async (email: string) => {
      const signup_session = await signup.listed(email);
      const { body } = await signup.step('workspace', { signup_session, action: 'create', workspace_name: 'Acme' });
      return [body.domain_join, (await signup.step('workspace', { signup_session, action: 'enable_domain_join' })).status];
    };
    expect(await available('ada@mail.acme.co.uk')).toEqual([{ available: true, domain: 'acme.co.uk' }, 200]);
    expect(await available('ada@gmx.ch')).toEqual([{ available: true, domain: 'gmx.ch' }, 200]);
    for (const domain of ['gmail.com', 'yahoo.co.jp', 'isp.example', 'acme.onmicrosoft.com'])
      expect(await available(`ada@${domain}`)).toEqual([{ available: false, domain }, 403]);
  });
});
