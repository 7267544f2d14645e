import { openTestService } from '@bubbles/testing/service-under-test.ts';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { identityAndOauth } from '../src/service.ts';
import { type Browser, browserOf, markupFaults, onlyForm, type ShownForm, type ShownPage } from './browser.ts';
import { type Person, startIdentity, type TestIdentity } from './identity.ts';

const PATH = '/app/sessions';
const DAY_MS = 86_400_000;

let identity: TestIdentity;
let ada: Person;
let browser: Browser;
beforeEach(async () => {
  identity = await startIdentity();
  ada = await identity.person();
  browser = browserOf(identity, ada.session);
});
afterEach(() => identity.stop());

const signIn = async () => (await identity.admin('POST', `accounts/${ada.id}/sessions`)).body;
const formFor = (page: ShownPage, session: string): ShownForm => {
  const form = page.forms(PATH).find(({ fields }) => fields['session'] === session);
  if (form === undefined) throw new Error(`There is no form for ${session}.`);
  return form;
};
const isLive = async (token: string) => (await identity.as(token)('GET', '/v1/api-keys')).status === 200;

describe('the first page', () => {
  it('says who is signed in and leads to the others', async () => {
    const page = await browser.get('/app/');
    expect([page.status, page.heading]).toEqual([200, 'Your account']);
    expect(page.text).toContain('You are signed in as Ada (ada-');
    for (const path of ['/app/api-keys', '/app/connected-apps', '/app/webhooks', PATH]) expect(page.html).toContain(`<a href="${path}">`);
    expect(markupFaults(page.html)).toEqual([]);
  });

  it('signs this browser out', async () => {
    const done = await browser.send(onlyForm(await browser.get('/app/'), PATH));
    expect([done.status, done.location, await isLive(ada.session)]).toEqual([303, '/app/sign-in', false]);
  });

  it('knows an account without a name, and escapes one', async () => {
    const nobody = await identity.person({ name: null, email: null });
    expect((await browserOf(identity, nobody.session).get('/app/')).text).toContain('somebody without a name');
    const hostile = await identity.person({ name: '<b>&' });
    expect((await browserOf(identity, hostile.session).get('/app/')).html).toContain('<bdi>&lt;b&gt;&amp;</bdi>');
  });
});

describe('the page of the sessions', () => {
  it('lists the live ones, newest first, and marks this one', async () => {
    await identity.clock.advance(DAY_MS);
    await signIn();
    const ended = await signIn();
    await identity.admin('DELETE', `sessions/${ended.id}`);
    await identity.person();
    const page = await browser.get(PATH);
    expect([page.status, page.heading]).toEqual([200, 'Sessions']);
    const rows = [...page.html.matchAll(/<th scope="row"><time datetime="([^"]*)">[^<]*<\/time>(.*?)<\/th>/g)];
    expect(rows.map(([, at, more]) => [at, more])).toEqual([
      ['2026-03-02T10:00:00.000Z', ''],
      ['2026-03-01T10:00:00.000Z', ' <strong>This browser</strong>'],
    ]);
    expect(page.html).not.toContain(ada.session);
    expect(markupFaults(page.html)).toEqual([]);
  });

  it('shows a hundred of them at most', async () => {
    for (let n = 0; n < 105; n += 1) await signIn();
    const page = await browser.get(PATH);
    expect(page.forms(PATH)).toHaveLength(101);
    expect(page.text).toContain('Older ones are not shown.');
  });
});

describe('signing out', () => {
  it('ends one session at once and no other', async () => {
    const other = await signIn();
    const page = await browser.get(PATH);
    const done = await browser.send(formFor(page, other.id));
    expect([done.status, done.location]).toEqual([303, `${PATH}?done=ended`]);
    expect([await isLive(other.session_token), await isLive(ada.session)]).toEqual([false, true]);
    expect((await browser.get(`${PATH}?done=ended`)).html).toContain('<p role="status">The session was signed out.</p>');
    expect((await browser.send(formFor(page, other.id))).status).toBe(404);
  });

  it('of this browser leads to the sign-in', async () => {
    const done = await browser.send(formFor(await browser.get(PATH), ada.sessionId));
    expect([done.status, done.location]).toEqual([303, '/app/sign-in']);
    expect(done.headers.getSetCookie()).toEqual(['__Host-session=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure']);
    expect([await isLive(ada.session), (await browser.get(PATH)).status]).toEqual([false, 303]);
  });

  it('everywhere ends all sessions of the account; keys and other accounts stay', async () => {
    const other = await signIn();
    const ben = await identity.person();
    const done = await browser.send(formFor(await browser.get(PATH), 'all'));
    expect([done.status, done.location]).toEqual([303, '/app/sign-in']);
    expect([await isLive(ada.session), await isLive(other.session_token), await isLive(ben.session)]).toEqual([false, false, true]);
    expect((await identity.as(ada.pat)('GET', '/v1/me')).status).toBe(200);
  });

  it('[case 41] does not go for another account, without a token, with another one, or from another site', async () => {
    const ben = await identity.person();
    const form = formFor(await browser.get(PATH), ada.sessionId);
    const attempts = [
      await browser.send(form, { session: ben.sessionId }),
      await browser.send(form, { session: 'all' }),
      await browser.send(form, { token: '' }),
      await browser.send(form, {}, { 'sec-fetch-site': 'cross-site' }),
      await browserOf(identity, ben.session).send(form),
    ];
    expect(attempts.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403]);
    expect([await isLive(ada.session), await isLive(ben.session)]).toEqual([true, true]);
  });
});

describe('a form that is sent after the session has ended', () => {
  const specs = openTestService(identityAndOauth).service.routes.map(({ spec }) => spec);
  const pathsOf = (wanted: string) =>
    specs.filter(({ method, guard }) => method === wanted && guard.reads === 'Cookie').map(({ path }) => path.replaceAll(/\{\w+\}/g, 'x'));
  const [forms, pages] = [pathsOf('POST'), pathsOf('GET')];

  it('is one of these', () => expect(forms).toEqual(expect.arrayContaining([PATH, '/app/webhooks/x/test', '/oauth/interaction/x'])));

  it.each(forms)('leads to a page after signing in: %s', async (action) => {
    const sent = await browserOf(identity, null).send({ action, fields: { decision: 'allow' } });
    expect(sent.status).toBe(303);
    const returnTo = new URL(sent.location ?? '', 'http://own.invalid').searchParams.get('return_to') ?? '';
    expect(pages.filter((path) => path !== '/app/')).toContain(returnTo);
  });
});
