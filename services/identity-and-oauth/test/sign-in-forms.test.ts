import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { formToken } from '../src/domain/form-token.ts';
import { startIdentity, type TestIdentity } from './identity.ts';
import { askForCode, codeFor, hiddenFieldsOf, openBrowser, signIn, titleOf } from './sign-in-browser.ts';

const ADA = 'ada@acme.test';
const MINUTE_MS = 60_000;
const OVER = [403, 'This code is over'];

let identity: TestIdentity;
/** Another replica on the same data. */
let other: TestIdentity;
beforeEach(async () => {
  const database = memoryDatabase();
  identity = await startIdentity({ database });
  other = await startIdentity({ database, clock: identity.clock });
});
afterEach(() => Promise.all([identity.stop(), other.stop()]));

describe('codes of sign-in', () => {
  it('count five tries of fifty at once on two replicas, whoever has an account', async () => {
    await identity.person({ email: ADA });
    const browser = openBrowser(identity);
    const page = await askForCode(browser, ADA);
    const code = await codeFor(identity, ADA);
    const wrong = code === '000000' ? '000001' : '000000';
    const elsewhere = openBrowser(other);
    for (const [name, value] of browser.cookies) elsewhere.cookies.set(name, value);
    const tried = await Promise.all(Array.from({ length: 50 }, (_, i) => (i % 2 ? browser : elsewhere).submit(page, { code: wrong })));
    expect(tried.map(({ status }) => status).toSorted()).toEqual([...Array(5).fill(400), ...Array(45).fill(403)]);
    expect(titleOf(await browser.submit(page, { code }))).toEqual(OVER);
  });

  it('are good for ten minutes, for one sign-in', async () => {
    await identity.person({ email: ADA });
    const browser = openBrowser(identity);
    const first = await askForCode(browser, ADA);
    const code = await codeFor(identity, ADA);
    const second = await askForCode(browser, ADA);
    expect((await browser.submit(second, { code })).status).toBe(400);
    await identity.clock.advance(10 * MINUTE_MS);
    expect(titleOf(await browser.submit(first, { code }))).toEqual(OVER);
  });

  it('are good in the browser that asked for them alone', async () => {
    await identity.person({ email: ADA });
    const page = await askForCode(openBrowser(identity), ADA);
    const code = await codeFor(identity, ADA);
    const stranger = openBrowser(identity);
    await stranger.get('/app/sign-in');
    expect((await stranger.submit(page, { code })).status).toBe(403);
    expect(titleOf(await stranger.get(/action="([^"]*)"/.exec(page.text)?.[1] ?? ''))).toEqual(OVER);
  });

  it('are not used up by a browser that knows the address of the page and makes the token of the form itself', async () => {
    await identity.person({ email: ADA });
    const browser = openBrowser(identity);
    const page = await askForCode(browser, ADA);
    const code = await codeFor(identity, ADA);
    const path = /action="([^"]*)"/.exec(page.text)?.[1] ?? '';
    const stranger = openBrowser(identity);
    await stranger.get('/app/sign-in');
    const token = formToken(stranger.cookies.get('__Host-sign-in') ?? '', ['sign in', 'code', path.split('/').at(-1) ?? '']);
    for (let i = 0; i < 6; i += 1) expect(titleOf(await stranger.post(path, { token, code }))).toEqual(OVER);
    expect((await browser.submit(page, { code })).status).toBe(303);
  });

  it('are no longer asked for than half an hour after the address was typed', async () => {
    const browser = openBrowser(identity);
    const proven = await signIn(identity, browser, ADA);
    await identity.clock.advance(30 * MINUTE_MS);
    expect(titleOf(await browser.get(proven.to ?? ''))).toEqual(OVER);
    await identity.runJob('sweep-sign-ins');
    expect(await identity.database.collection('sign_ins').count({})).toBe(0);
  });
});

describe('a sign-in that did not work out', () => {
  const [TO, AGAIN] = ['/oauth/interaction/x?a=1&b=2', 'href="/app/sign-in?return_to=%2Foauth%2Finteraction%2Fx%3Fa%3D1%26b%3D2"'];
  const tried = async (act: (code: string) => Promise<string>) => {
    const browser = openBrowser(identity);
    const page = await askForCode(browser, ADA, TO);
    const code = await act(await codeFor(identity, ADA));
    return { browser, page, shown: await browser.submit(page, { code }) };
  };

  it('[OAUTH-05] leads on to the app when the code was tried too often', async () => {
    const { browser, page } = await tried((code) => Promise.resolve(code === '000000' ? '000001' : '000000'));
    for (let i = 0; i < 4; i += 1) await browser.submit(page, { code: 'x' });
    const over = await browser.submit(page, { code: 'x' });
    expect([titleOf(over), over.text]).toEqual([OVER, expect.stringContaining(AGAIN)]);
  });

  it('[OAUTH-05] leads on to the app when the code has expired, on the page of the code too, as long as the sign-in is stored', async () => {
    const { browser, page, shown } = await tried(async (code) => {
      await identity.clock.advance(10 * MINUTE_MS);
      return code;
    });
    expect([titleOf(shown), shown.text]).toEqual([OVER, expect.stringContaining(AGAIN)]);
    await identity.clock.advance(20 * MINUTE_MS);
    const path = /action="([^"]*)"/.exec(page.text)?.[1] ?? '';
    expect((await browser.get(path)).text).toContain(AGAIN);
    expect((await openBrowser(identity).get(path)).text).not.toContain('interaction');
    await identity.runJob('sweep-sign-ins');
    expect((await browser.get(path)).text).toContain('href="/app/sign-in?return_to=%2Fapp%2F"');
    expect((await browser.submit(page, { code: 'x' })).text).toContain(AGAIN);
    const elsewhere = await browser.submit(page, { code: 'x', return_to: 'https://evil.test/' });
    expect(elsewhere.text).toContain('href="/app/sign-in?return_to=%2Fapp%2F"');
  });

  it('[OAUTH-05] leads on to the app from an account that is closed', async () => {
    const { id } = await identity.person({ email: ADA });
    await identity.admin('PUT', `accounts/${id}/state`, { state: 'disabled' });
    const { shown } = await tried((code) => Promise.resolve(code));
    expect([titleOf(shown), shown.text]).toEqual([[403, 'This account is closed'], expect.stringContaining(AGAIN)]);
  });
});

describe('forms of sign-in', () => {
  it('are refused without the token of the page, with that of another form, and without the cookie', async () => {
    const browser = openBrowser(identity);
    const page = await browser.get('/app/sign-in');
    const { token = '', ...fields } = hiddenFieldsOf(page);
    const codePage = await askForCode(browser, ADA);
    for (const wrong of ['', 'x', hiddenFieldsOf(codePage)['token'] ?? ''])
      expect((await browser.post('/app/sign-in', { ...fields, token: wrong, address: ADA })).status).toBe(403);
    expect((await openBrowser(identity).post('/app/sign-in', { ...fields, token, address: ADA })).status).toBe(403);
    const bare = openBrowser(identity);
    bare.cookies.set('__Host-sign-in', '');
    expect((await bare.post('/app/sign-in', { ...fields, token, address: ADA })).status).toBe(403);
  });

  it('for the code and the name are refused too without the token of their page, with the right code', async () => {
    const browser = openBrowser(identity);
    const page = await askForCode(browser, ADA);
    const code = await codeFor(identity, ADA);
    const path = /action="([^"]*)"/.exec(page.text)?.[1] ?? '';
    for (const token of ['', 'x', hiddenFieldsOf(await browser.get('/app/sign-in'))['token'] ?? ''])
      expect(titleOf(await browser.post(path, { token, code }))).toEqual([403, 'Not allowed']);
    const proven = await browser.submit(page, { code });
    for (const token of ['', hiddenFieldsOf(page)['token'] ?? ''])
      expect(titleOf(await browser.post(`${proven.to}/account`, { token, name: 'Ada' }))).toEqual([403, 'Not allowed']);
    expect((await identity.admin('GET', 'accounts')).body.accounts).toEqual([]);
  });

  it('[case 41] are refused when another site sends them', async () => {
    const browser = openBrowser(identity);
    const fields = { ...hiddenFieldsOf(await browser.get('/app/sign-in')), address: ADA };
    for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { origin: 'https://evil.test' }])
      expect((await browser.post('/app/sign-in', fields, headers)).status).toBe(403);
    await identity.settle();
    expect(identity.mail.accepted).toEqual([]);
  });

  it('say what is wrong with an address, and escape it', async () => {
    const browser = openBrowser(identity);
    for (const address of ['', 'ada', ' ada@acme.test', '"><script>alert(1)</script>', 'ada@acme.test\r\nBcc: eve@acme.test']) {
      const shown = await browser.submit(await browser.get('/app/sign-in'), { address });
      expect(titleOf(shown)).toEqual([400, 'Sign in']);
      expect(shown.text).toContain('This is not an e-mail address.');
      expect(shown.text).not.toContain('<script>');
    }
    await identity.settle();
    expect(identity.mail.accepted).toEqual([]);
  });

  it.each([
    ['a repeated field', 'address=a%40b.test&address=c%40d.test'],
    ['bytes that are not text', 'address=%ff'],
  ])('of %s are a page with 400', async (_what, body) => {
    const answer = await identity.fetch('/app/sign-in', {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body,
    });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([400, 'text/html; charset=utf-8']);
  });

  it.each(['nothing', '00000000-0000-4000-8000-000000000000'])('of a sign-in that there is not are a page: %s', async (id) => {
    const { status, headers } = await openBrowser(identity).get(`/app/sign-in/${id}`);
    expect([id === 'nothing' ? 404 : 403, 'text/html; charset=utf-8']).toEqual([status, headers.get('content-type')]);
  });
});

describe('limits of sign-in', () => {
  const statusOf = async (address: string, from: string, at: TestIdentity = identity) => {
    const browser = openBrowser(at, from);
    return browser.submit(await browser.get('/app/sign-in'), { address });
  };

  it('five codes an address in a quarter of an hour and two more for each network, over all replicas and whatever its case, for known and unknown ones alike', async () => {
    await identity.person({ email: ADA });
    for (const address of [ADA, 'nobody@acme.test']) {
      for (let i = 0; i < 5; i += 1) {
        const asked = i % 2 ? address : address.toUpperCase();
        expect((await statusOf(asked, `203.0.113.${i}`, i % 2 ? identity : other)).status).toBe(303);
      }
      for (let i = 5; i < 7; i += 1) expect((await statusOf(address, '203.0.113.9')).status).toBe(303);
      const refused = await statusOf(address, '203.0.113.9');
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '900']);
      expect(refused.text).not.toContain('acme');
    }
    await identity.clock.advance(15 * MINUTE_MS);
    expect((await statusOf(ADA, '203.0.113.9')).status).toBe(303);
  });

  it('thirty codes an address in a day, and two more for each network, so that strangers do not keep its owner out', async () => {
    for (let i = 0; i < 30; i += 1) {
      expect((await statusOf(ADA, `203.0.113.${i}`)).status).toBe(303);
      if (i % 5 === 4) await identity.clock.advance(15 * MINUTE_MS);
    }
    const strangers: number[] = [];
    for (let i = 30; i < 40; i += 1) strangers.push((await statusOf(ADA, `2001:db8:0:${i}::1`)).status);
    expect(strangers).toEqual([303, 303, ...Array(8).fill(429)]);
    await identity.person({ email: ADA });
    expect((await signIn(identity, openBrowser(identity, '198.51.100.7'), ADA)).status).toBe(303);
  });

  it('ninety codes an address in a day, from however many networks', async () => {
    const answers = await Promise.all(Array.from({ length: 100 }, (_, i) => statusOf(ADA, `10.0.0.${i}`)));
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(5 + 60);
    for (let i = 0; i < 5; i += 1) {
      await identity.clock.advance(15 * MINUTE_MS);
      for (let n = 0; n < 6; n += 1) expect((await statusOf(ADA, `10.1.${i}.${n}`)).status).toBe(n < 5 ? 303 : 429);
    }
    await identity.clock.advance(15 * MINUTE_MS);
    expect((await statusOf(ADA, '198.51.100.7')).status).toBe(429);
  });

  it('three of them from one client, ten in a day, so that the owner of the address can sign in beside a stranger', async () => {
    const asked = async (from: string, at: TestIdentity = identity) => (await statusOf(ADA, from, at)).status;
    const flood = async () => {
      const statuses: number[] = [];
      for (let i = 0; i < 6; i += 1) statuses.push(await asked(`2001:db8::${i}`, i % 2 ? identity : other));
      return statuses.filter((status) => status === 303).length;
    };
    for (const allowed of [3, 3, 3, 1, 0]) {
      expect([await flood(), await asked('203.0.113.9')]).toEqual([allowed, 303]);
      await identity.clock.advance(15 * MINUTE_MS);
    }
  });

  it('and as many for all names of one mailbox together', async () => {
    const names = ['ada@gmail.com', 'a.da@gmail.com', 'ada+1@googlemail.com', 'ada+2@gmail.com'];
    const statuses: number[] = [];
    for (const name of names) statuses.push((await statusOf(name, '203.0.113.9')).status);
    expect(statuses).toEqual([303, 303, 303, 429]);
    expect((await statusOf('ada@acme.test', '203.0.113.9')).status).toBe(303);
  });

  it('sixty codes a client in ten minutes, where all of an IPv6 network is one', async () => {
    for (let i = 0; i < 60; i += 1) expect((await statusOf(`a${i}@acme.test`, `2001:db8::${i}`)).status).toBe(303);
    expect((await statusOf('b@acme.test', '2001:db8::ffff')).status).toBe(429);
    expect((await statusOf('b@acme.test', '2001:db8:0:1::1')).status).toBe(303);
  });
});
