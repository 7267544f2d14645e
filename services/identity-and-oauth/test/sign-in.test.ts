import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { formToken } from '../src/domain/form-token.ts';
import { startIdentity, type TestIdentity } from './identity.ts';
import { askForCode, codeFor, hiddenFieldsOf, openBrowser, type Shown, signIn, signUp, titleOf } from './sign-in-browser.ts';

const ADA = 'ada@acme.test';
const SESSION = '__Host-session';

let identity: TestIdentity;
/** Another replica on the same data. */
let other: TestIdentity;
beforeEach(async () => {
  const database = memoryDatabase();
  identity = await startIdentity({ database });
  other = await startIdentity({ database, clock: identity.clock });
});
afterEach(() => Promise.all([identity.stop(), other.stop()]));

const keysWith = (token: string | undefined) => identity.as(token ?? '')('GET', '/v1/api-keys');
const accountsAt = async (email: string) => (await identity.admin('GET', `accounts?email=${encodeURIComponent(email)}`)).body.accounts;
const setState = (id: string, state: string) => identity.admin('PUT', `accounts/${id}/state`, { state });
const [CODE_PAGE, WRONG, OVER, NAME_PAGE] = [
  [200, 'Type the code'],
  [400, 'Type the code'],
  [403, 'This code is over'],
  [200, 'Open an account'],
];

describe('signing in', () => {
  it('[OAUTH-05] with the mailed code gives this browser a session and goes on where it came from', async () => {
    const { id } = await identity.person({ email: ADA });
    const browser = openBrowser(identity);
    const page = await askForCode(browser, 'ADA@acme.test', '/app/sessions?a=1&b=2');
    expect(titleOf(page)).toEqual(CODE_PAGE);
    const { status, to, headers } = await browser.submit(page, { code: ` ${await codeFor(identity, ADA)} ` });
    expect([status, to]).toEqual([303, '/app/sessions?a=1&b=2']);
    expect(headers.getSetCookie()).toEqual([
      expect.stringMatching(/^__Host-session=svc_session_[\w-]{43}; Path=\/; Max-Age=1209600; HttpOnly; SameSite=Lax; Secure$/),
    ]);
    expect(headers.get('cache-control')).toBe('no-store');
    expect((await keysWith(browser.cookies.get(SESSION))).status).toBe(200);
    expect((await identity.admin('GET', `accounts/${id}`)).body.revision).toBe(1);
  });

  it('[AUTH-08] the cookie is not read below /v1', async () => {
    await identity.person({ email: ADA });
    const browser = openBrowser(identity);
    await signIn(identity, browser, ADA);
    expect((await browser.get('/v1/api-keys')).status).toBe(401);
  });

  it('gives a new session each time and ends the one that the browser had, also one that was put there', async () => {
    const ada = await identity.person({ email: ADA });
    const browser = openBrowser(identity);
    browser.cookies.set(SESSION, ada.session);
    await signIn(identity, browser, ADA);
    const first = browser.cookies.get(SESSION);
    expect(first).not.toBe(ada.session);
    expect((await keysWith(ada.session)).status).toBe(401);
    await signIn(identity, browser, ADA);
    expect([(await keysWith(first)).status, (await keysWith(browser.cookies.get(SESSION))).status]).toEqual([401, 200]);
  });

  it('a code form that is sent twice gets in twice, and no more half a minute later', async () => {
    await identity.person({ email: ADA });
    const browser = openBrowser(identity);
    const page = await askForCode(browser, ADA);
    const code = await codeFor(identity, ADA);
    const statuses = [(await browser.submit(page, { code })).status, (await browser.submit(page, { code })).status];
    await identity.clock.advance(30_000);
    expect([...statuses, titleOf(await browser.submit(page, { code }))]).toEqual([303, 303, OVER]);
  });

  it('a code form that is sent five times at once gets in each time', async () => {
    await identity.person({ email: ADA });
    const browser = openBrowser(identity);
    const page = await askForCode(browser, ADA);
    const code = await codeFor(identity, ADA);
    const sent = await Promise.all(Array.from({ length: 5 }, () => browser.submit(page, { code })));
    expect(sent.map(({ status }) => status)).toEqual(Array(5).fill(303));
  });

  it('two tabs finish on their own', async () => {
    await identity.person({ email: ADA });
    await identity.person({ email: 'ben@acme.test' });
    const browser = openBrowser(identity);
    const first = await askForCode(browser, ADA, '/app/sessions');
    const second = await askForCode(browser, 'ben@acme.test');
    expect((await browser.submit(first, { code: await codeFor(identity, ADA) })).to).toBe('/app/sessions');
    expect((await browser.submit(second, { code: await codeFor(identity, 'ben@acme.test') })).to).toBe('/app/');
  });

  it.each([
    'https://evil.test/',
    '//evil.test',
    '/\\evil.test',
    '/app/../oauth/authorize',
    '/app/%2e%2e/v1/me',
    '/app/\n',
    '/v1/me',
    '/app/sign-in',
    '/application',
    'javascript:alert(1)',
    `/app/${'a'.repeat(2048)}`,
  ])('goes home instead of to %j', async (path) => {
    await identity.person({ email: ADA });
    expect((await signIn(identity, openBrowser(identity), ADA, path)).to).toBe('/app/');
  });
});

describe('signing up', () => {
  it('[OAUTH-05] opens an account at the proven address, with a name and in no workspace, and goes on', async () => {
    const browser = openBrowser(identity);
    const proven = await signIn(identity, browser, ADA, '/oauth/interaction/x');
    const page = await browser.get(proven.to ?? '');
    expect(titleOf(page)).toEqual(NAME_PAGE);
    expect(await accountsAt(ADA)).toEqual([]);
    for (const name of ['', ' ', '\u200b', 'a\u0007', 'a'.repeat(201)])
      expect(titleOf(await browser.submit(page, { name }))).toEqual([400, 'Open an account']);
    const opened = await browser.submit(page, { name: ' Ada <b>Lovelace</b> ' });
    expect([opened.status, opened.to]).toEqual([303, '/oauth/interaction/x']);
    expect(await accountsAt(ADA)).toMatchObject([
      { name: 'Ada <b>Lovelace</b>', email: ADA, state: 'active', memberships: [], active_keys: [] },
    ]);
    expect((await keysWith(browser.cookies.get(SESSION))).status).toBe(200);
  });

  it('takes a name of 200 characters, where an emoji is one', async () => {
    const browser = openBrowser(identity);
    const page = await browser.get((await signIn(identity, browser, ADA)).to ?? '');
    expect(titleOf(await browser.submit(page, { name: '🎈'.repeat(201) }))).toEqual([400, 'Open an account']);
    expect((await browser.submit(page, { name: ` ${'🎈'.repeat(200)} ` })).status).toBe(303);
    expect(await accountsAt(ADA)).toMatchObject([{ name: '🎈'.repeat(200) }]);
  });

  it('needs the code first', async () => {
    const browser = openBrowser(identity);
    const page = await askForCode(browser, ADA);
    const path = /action="([^"]*)"/.exec(page.text)?.[1] ?? '';
    expect((await browser.post(`${path}/account`, { ...hiddenFieldsOf(page), name: 'Ada' })).status).toBe(403);
    const token = formToken(browser.cookies.get('__Host-sign-in') ?? '', ['sign in', 'name', path.split('/').at(-1) ?? '']);
    expect(titleOf(await browser.post(`${path}/account`, { token, name: 'Ada' }))).toEqual([403, 'This code is over']);
    expect(await accountsAt(ADA)).toEqual([]);
  });

  it('twice at once with one address, on two replicas: one account, in which both are in the end', async () => {
    const browsers = [openBrowser(identity), openBrowser(other)];
    const replicas = [identity, other];
    const pages: Shown[] = [];
    for (const [i, browser] of browsers.entries()) {
      const page = await askForCode(browser, ADA);
      await Promise.all(replicas.map(({ settle }) => settle()));
      const { text } = replicas.flatMap(({ mail }) => mail.accepted).at(i === 0 ? 0 : -1) ?? { text: '' };
      const codes = replicas.flatMap(({ mail }) => mail.accepted.map((one) => /\b\d{6}\b/.exec(one.text)?.[0] ?? ''));
      expect(text).toContain('Your code');
      for (const code of codes) {
        const proven = await browser.submit(page, { code });
        if (proven.to !== null) pages.push(await browser.get(proven.to));
      }
    }
    expect(pages.map(titleOf)).toEqual([NAME_PAGE, NAME_PAGE]);
    const sent = await Promise.all(
      pages.flatMap((page, i) => Array.from({ length: 3 }, () => browsers[i]?.submit(page, { name: `Ada ${i}` }))),
    );
    for (const answer of sent) expect([303, 409]).toContain(answer?.status);
    expect(sent.some((answer) => answer?.status === 303)).toBe(true);
    expect(await accountsAt(ADA)).toHaveLength(1);
    expect((await identity.admin('GET', 'accounts')).body.accounts).toHaveLength(1);
    for (const [i, page] of pages.entries()) expect((await browsers[i]?.submit(page, { name: 'Ada' }))?.status).toBe(303);
  });

  it('an account that was opened meanwhile is the one that is entered', async () => {
    const browser = openBrowser(identity);
    const proven = await signIn(identity, browser, ADA);
    const { id } = await identity.person({ email: ADA });
    const entered = await browser.submit(await browser.get(proven.to ?? ''), { name: 'Eve' });
    expect(entered.status).toBe(303);
    expect(await accountsAt(ADA)).toMatchObject([{ user_id: id, name: 'Ada' }]);
  });

  it('opens a new account at the address of one that was deleted', async () => {
    const { id } = await identity.person({ email: ADA });
    await setState(id, 'deleted');
    expect((await signUp(identity, openBrowser(identity), ADA, 'Ada')).status).toBe(303);
    expect((await accountsAt(ADA))[0].user_id).not.toBe(id);
  });
});

describe('a closed account', () => {
  it('[AUTH-05] is told of after the right code only, and gets no session', async () => {
    const { id } = await identity.person({ email: ADA });
    await setState(id, 'disabled');
    const browser = openBrowser(identity);
    const page = await askForCode(browser, ADA);
    expect(titleOf(page)).toEqual(CODE_PAGE);
    expect(titleOf(await browser.submit(page, { code: '000000' }))).toEqual(WRONG);
    const closed = await browser.submit(page, { code: await codeFor(identity, ADA) });
    expect([titleOf(closed), browser.cookies.has(SESSION)]).toEqual([[403, 'This account is closed'], false]);
  });

  it('[AUTH-05] that is closed between code and name is not entered', async () => {
    const browser = openBrowser(identity);
    const page = await browser.get((await signIn(identity, browser, ADA)).to ?? '');
    const { id } = await identity.person({ email: ADA });
    await setState(id, 'disabled');
    expect(titleOf(await browser.submit(page, { name: 'Ada' }))).toEqual([403, 'This account is closed']);
  });
});
