import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Browser, browserOf, markupFaults, onlyForm, type ShownPage } from './browser.ts';
import { type Person, startIdentity, type TestIdentity } from './identity.ts';

const PATH = '/app/api-keys';
const HOSTILE = `<img src=x onerror="alert(1)">'&\u0301`;

let identity: TestIdentity;
let ada: Person;
let browser: Browser;
beforeEach(async () => {
  identity = await startIdentity();
  ada = await identity.person();
  await identity.join(await identity.team(), ada.id);
  browser = browserOf(identity, ada.session);
});
afterEach(() => identity.stop());

const newKeyForm = async () => onlyForm(await browser.get(PATH), PATH);
const create = async (name: string) => browser.send(await newKeyForm(), { name });
const keyIn = ({ html }: ShownPage): string => /value="(svc_pat_[\w-]{43})"/.exec(html)?.[1] ?? '';
const keyNames = async () => (await identity.as(ada.session)('GET', '/v1/api-keys')).body.data.map(({ name }: { name: string }) => name);
const me = async (token: string) => (await identity.as(token)('GET', '/v1/me')).status;

describe('the page of the API keys', () => {
  it('lists the active ones by preview, with their last use', async () => {
    await me(ada.pat);
    await identity.settle();
    const page = await browser.get(PATH);
    expect([page.status, page.heading]).toEqual([200, 'API keys']);
    expect(page.text).toContain(ada.pat.slice(0, 12));
    expect(page.html).not.toContain(ada.pat);
    expect(page.html.match(/<time datetime="2026-03-01T10:00:00.000Z">1 Mar 2026, 10:00 UTC<\/time>/g)).toHaveLength(2);
    expect(page.html).toContain('<a href="/app/api-keys" aria-current="page">');
    expect(markupFaults(page.html)).toEqual([]);
  });

  it('is private, runs nothing, and stands in no frame', async () => {
    const { headers } = await browser.get(PATH);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
    );
    expect(headers.get('vary')).toContain('Cookie');
  });

  it.each([PATH, '/app/connected-apps', '/app/sessions', '/app/', '/app/api-keys/x/revoke'])(
    'sends whoever is not signed in from %s to sign in and back',
    async (path) => {
      const { status, location } = await browserOf(identity, null).get(path);
      expect([status, location]).toEqual([303, `/app/sign-in?return_to=${encodeURIComponent(path)}`]);
    },
  );

  it.each(['disabled', 'deleted'])('[case 96] sends a %s account to sign in, with a form too', async (state) => {
    const form = await newKeyForm();
    await identity.admin('PUT', `accounts/${ada.id}/state`, { state });
    for (const page of [await browser.get(PATH), await browser.send(form, { name: 'ci' })])
      expect([page.status, page.location]).toEqual([303, '/app/sign-in?return_to=%2Fapp%2Fapi-keys']);
  });

  it('takes no key for a session, and no session from another place than the cookie', async () => {
    expect((await browserOf(identity, ada.pat).get(PATH)).status).toBe(303);
    const bearer = await identity.fetch(PATH, { headers: { authorization: `Bearer ${ada.session}` } });
    expect(bearer.status).toBe(303);
    expect((await identity.fetch('/v1/api-keys', { headers: { cookie: `__Host-session=${ada.session}` } })).status).toBe(401);
  });
});

describe('a new key', () => {
  it('[KEY-01] is shown once, to be copied, and works', async () => {
    const page = await create('  my key ');
    expect([page.status, page.heading, page.headers.get('cache-control')]).toEqual([200, 'Your new key', 'no-store']);
    expect(markupFaults(page.html)).toEqual([]);
    expect(await me(keyIn(page))).toBe(200);
    expect(await keyNames()).toEqual(['my key', 'first']);
    expect((await browser.get(PATH)).html).not.toContain(keyIn(page));
  });

  it('is made once, and its secret is not shown again, when the page is loaded again or the button pressed twice', async () => {
    const form = await newKeyForm();
    const pages = await Promise.all([1, 2, 3].map(() => browser.send(form, { name: 'ci' })));
    expect(pages.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
    expect(pages.filter((page) => keyIn(page) !== '')).toHaveLength(1);
    const again = await browser.send(form, { name: 'another name' });
    expect([again.status, again.heading, keyIn(again)]).toEqual([409, 'This key was made before', '']);
    expect(markupFaults(again.html)).toEqual([]);
    expect(await keyNames()).toEqual(['ci', 'first']);
  });

  it('is made once by one form that two replicas get at the same time', async () => {
    const other = await startIdentity({ database: identity.database, clock: identity.clock });
    const form = await newKeyForm();
    const pages = await Promise.all(
      Array.from({ length: 10 }, (_, n) => browserOf(n % 2 ? identity : other, ada.session).send(form, { name: 'race' })),
    );
    expect(pages.map(({ status }) => status).toSorted()).toEqual([200, ...Array(9).fill(409)]);
    const keys = pages.map(keyIn).filter((key) => key !== '');
    expect([keys.length, await me(keys[0] ?? ''), await keyNames()]).toEqual([1, 200, ['race', 'first']]);
    await other.stop();
  });

  it.each([
    ['', 400, 'The name must have 1 to 100 characters.'],
    ['   ', 400, 'The name must have 1 to 100 characters.'],
    ['a'.repeat(101), 400, 'The name must have 1 to 100 characters.'],
    ['a\u202eb', 400, 'The name must not hold control characters.'],
    ['\u3164', 400, 'The name must have a visible character.'],
  ])('with the name %j is refused in the form, which keeps it', async (name, status, problem) => {
    const page = await create(name);
    expect(page.status).toBe(status);
    expect(page.html).toContain(`role="alert">${problem}</p>`);
    expect(onlyForm(page, PATH).fields['name']).toBe(name);
    expect(markupFaults(page.html)).toEqual([]);
    const mended = await browser.send(onlyForm(page, PATH), { name: 'good' });
    expect(mended.status).toBe(200);
  });

  it('[KEY-04] without the pro plan is refused in one sentence', async () => {
    const ben = await identity.person();
    const at = browserOf(identity, ben.session);
    const page = await at.send(onlyForm(await at.get(PATH), PATH), { name: 'ci' });
    expect([page.status, onlyForm(page, PATH).fields['name']]).toEqual([403, 'ci']);
    expect(page.text).toContain('API keys need a workspace on the pro plan in which you are an admin or a member.');
  });

  it('[KEY-05] beside ten others is refused in the form', async () => {
    for (let n = 1; n < 10; n += 1) expect((await create(`key ${n}`)).status).toBe(200);
    const page = await create('one more');
    expect([page.status, onlyForm(page, PATH).fields['name']]).toEqual([409, 'one more']);
    expect(page.text).toContain('There are 10 active API keys already; revoke one first.');
    expect(await keyNames()).toHaveLength(10);
  });
});

describe('the forms of the API keys', () => {
  it.each([
    ['no token', { token: '' }, {}],
    ['a wrong token', { token: 'x'.repeat(43) }, {}],
    ['another form', { form: 'another' }, {}],
  ])('[case 41] make nothing with %s', async (_what, typed, headers) => {
    const page = await browser.send(await newKeyForm(), { name: 'ci', ...typed }, headers);
    expect([page.status, onlyForm(page, PATH).fields['name']]).toEqual([403, 'ci']);
    expect(await keyNames()).toEqual(['first']);
  });

  it.each([{ 'sec-fetch-site': 'cross-site' }, { 'sec-fetch-site': 'same-site' }, { origin: 'https://evil.test' }])(
    '[case 41] make nothing when another site sends them: %j',
    async (headers) => {
      expect((await browser.send(await newKeyForm(), { name: 'ci' }, headers)).status).toBe(403);
      const ask = await browser.get(`${PATH}/${ada.patId}/revoke`);
      expect((await browser.send(onlyForm(ask, `${PATH}/${ada.patId}/revoke`), {}, headers)).status).toBe(403);
      expect(await keyNames()).toEqual(['first']);
    },
  );

  it('[case 41] of one session are not taken from another one', async () => {
    const ben = await identity.person();
    await identity.join(await identity.team(), ben.id);
    const form = await newKeyForm();
    expect((await browserOf(identity, ben.session).send(form, { name: 'ci' })).status).toBe(403);
    const second = (await identity.admin('POST', `accounts/${ada.id}/sessions`)).body.session_token;
    expect((await browserOf(identity, second).send(form, { name: 'ci' })).status).toBe(403);
    expect(await keyNames()).toEqual(['first']);
  });

  it.each(['name=a&name=b', 'name=%ff', 'name=%00', '&'.repeat(100) + 'a=1&'.repeat(60)])(
    'are refused as a page when malformed: %s',
    async (body) => {
      const headers = { cookie: `__Host-session=${ada.session}`, 'content-type': 'application/x-www-form-urlencoded' };
      const answer = await identity.fetch(PATH, { method: 'POST', headers, body });
      expect([answer.status, answer.headers.get('content-type')]).toEqual([400, 'text/html; charset=utf-8']);
    },
  );
});

describe('the revocation of a key', () => {
  const ask = (id: string) => browser.get(`${PATH}/${id}/revoke`);

  it('[KEY-07] is asked for, and done at once', async () => {
    const page = await ask(ada.patId);
    expect([page.status, page.heading]).toEqual([200, 'Revoke a key']);
    expect(page.text).toContain('“first”');
    expect(markupFaults(page.html)).toEqual([]);
    const done = await browser.send(onlyForm(page, `${PATH}/${ada.patId}/revoke`));
    expect([done.status, done.location]).toEqual([303, `${PATH}?done=revoked`]);
    expect((await identity.as(ada.pat)('GET', '/v1/me')).body.error.type).toBe('token_revoked');
    const list = await browser.get(`${PATH}?done=revoked`);
    expect(list.html).toContain('<p role="status">The key was revoked.</p>');
    expect(list.text).toContain('There are none.');
    expect(markupFaults(list.html)).toEqual([]);
  });

  it('[KEY-07] of an unknown key, one revoked before and one of another account is the same 404', async () => {
    const ben = await identity.person();
    const form = onlyForm(await ask(ada.patId), `${PATH}/${ada.patId}/revoke`);
    await browser.send(form);
    const answers = [await ask('nowhere'), await ask(ada.patId), await ask(ben.patId), await browser.send(form)];
    expect(new Set(answers.map(({ status, html }) => `${status} ${html}`)).size).toBe(1);
    expect(answers[0]).toMatchObject({ status: 404, heading: 'Not found' });
    expect(await me(ben.pat)).toBe(200);
  });

  it('[case 41] does not go with the token of another key', async () => {
    const other = await create('other');
    const form = onlyForm(await ask(ada.patId), `${PATH}/${ada.patId}/revoke`);
    const listed = (await identity.as(ada.session)('GET', '/v1/api-keys')).body.data;
    const wrong = await browser.send({ ...form, action: `${PATH}/${listed[0].id}/revoke` });
    expect([wrong.status, wrong.heading]).toEqual([403, 'Not allowed']);
    expect(await me(keyIn(other))).toBe(200);
  });
});

describe('names of keys', () => {
  it('[case 48] are shown as they are and never as markup', async () => {
    const made = await create(HOSTILE);
    const [{ id }] = (await identity.as(ada.session)('GET', '/v1/api-keys')).body.data;
    const form = await newKeyForm();
    const pages = [
      made,
      await browser.get(PATH),
      await browser.get(`${PATH}/${id}/revoke`),
      await browser.send(form, { name: `${HOSTILE}\n` }),
    ];
    for (const page of pages) {
      expect(page.html).not.toContain('<img');
      expect(page.html).toContain('&lt;img src=x onerror=&quot;alert(1)&quot;&gt;&#39;&amp;');
      expect(markupFaults(page.html)).toEqual([]);
    }
  });

  it('of any notice in the address say only what there is to say', async () => {
    expect((await browser.get(`${PATH}?done=Your+account+is+locked`)).html).not.toMatch(/role="status"|locked/);
  });
});
