import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { markupFaults } from './browser.ts';
import { aBrowser, authorizeUrl, granted, REDIRECT_URI, register, told } from './consenting.ts';
import { type Person, startIdentity, type TestIdentity } from './identity.ts';

describe('the page that asks for consent', () => {
  let identity: TestIdentity;
  let ada: Person;
  let clientId: string;
  beforeEach(async () => {
    identity = await startIdentity();
    ada = await identity.person();
    clientId = await register(identity);
  });
  afterEach(() => identity.stop());

  const pageOf = async (response: Response) => ({ status: response.status, text: await response.text() });

  it('is asked for by a page that names app, destination, account and each scope, and takes no script', async () => {
    const browser = aBrowser(identity, ada);
    const { path, page } = await browser.ask(clientId);
    expect(page).toContain('<bdi>Notes</bdi>');
    expect(page).toContain('Nobody has verified that name.');
    expect(page).toContain('the site <strong>app.test</strong>');
    expect(page).toMatch(/<bdi>ada[^<]*@acme\.test<\/bdi>/);
    expect(page).toContain(`href="/app/sign-in?return_to=${encodeURIComponent(path)}"`);
    for (const text of ['Read bubbles, transcripts', 'Create and manage webhook', 'Send the notetaker']) expect(page).toContain(text);
    expect(markupFaults(page)).toEqual([]);
  });

  it.each([
    ['http://127.0.0.1:3000/cb', 'an app on this computer (<strong>127.0.0.1:3000</strong>)'],
    ['cursor://anysphere/cb', 'the app on this device that opens <strong>cursor:</strong> links'],
    ['https://xn--pple-43d.test/cb', 'the site <strong>xn--pple-43d.test</strong>'],
  ])('[case 15] [case 50] says where %s leads, and goes there', async (uri, text) => {
    const browser = aBrowser(identity, ada);
    const question = await browser.ask(await register(identity, { redirect_uris: [uri], client_name: 'ChatGPT' }), { redirect_uri: uri });
    expect(question.page).toContain(text);
    expect(question.page).toContain('Nobody has verified that name.');
    expect(told(await browser.answer(question))['to']).toBe(uri);
  });

  it('[case 45] [case 46] [case 92] cannot be framed or kept, and its policy leaves the way back open', async () => {
    const browser = aBrowser(identity, ada);
    const { path } = await browser.ask(clientId);
    const { headers } = await browser.get(path);
    const policy = headers.get('content-security-policy');
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('form-action');
    expect([headers.get('x-frame-options'), headers.get('cache-control'), headers.get('x-content-type-options')]).toEqual([
      'DENY',
      'no-store',
      'nosniff',
    ]);
    expect(headers.get('access-control-allow-origin')).toBeNull();
  });

  it('[case 48] [case 51] shows markup in a name as text, and no logo', async () => {
    const id = await register(identity, { client_name: '"><script>alert(1)</script>', logo_uri: 'https://app.test/logo.png' });
    const { page } = await aBrowser(identity, ada).ask(id);
    expect(page).not.toMatch(/<script|<img|logo\.png/);
    expect(page).toContain('&quot;&gt;&lt;script&gt;');
    expect(markupFaults(page)).toEqual([]);
  });

  it('is asked of whoever signs in first', async () => {
    const browser = aBrowser(identity, null);
    const path = (await browser.get(authorizeUrl({ client_id: clientId }))).headers.get('location') ?? '';
    const response = await browser.get(path);
    expect([response.status, response.headers.get('location')]).toEqual([303, `/app/sign-in?return_to=${encodeURIComponent(path)}`]);
    expect(await granted(identity)).toEqual({ grants: 0, codes: 0 });
  });

  it.each([
    ['no token', ''],
    ['another token', 'a'.repeat(43)],
    ['a long token', 'a'.repeat(10_000)],
  ])('[case 41] a form with %s is refused', async (_what, token) => {
    const browser = aBrowser(identity, ada);
    const question = await browser.ask(clientId);
    for (const decision of ['allow', 'deny'] as const) expect((await browser.answer({ ...question, token }, decision)).status).toBe(403);
    expect(await granted(identity)).toEqual({ grants: 0, codes: 0 });
    expect(told(await browser.answer(question))).toHaveProperty('code');
  });

  it.each([
    [{ 'sec-fetch-site': 'cross-site' }, 403],
    [{ 'sec-fetch-site': 'same-site' }, 403],
    [{ origin: 'https://evil.test' }, 403],
    [{ 'sec-fetch-site': 'same-origin', origin: 'null' }, 303],
    [{ origin: 'https://api.test' }, 303],
  ])('[case 41] a form that comes with %j: %i', async (headers, status) => {
    const browser = aBrowser(identity, ada);
    const answer = await browser.answer(await browser.ask(clientId), 'allow', headers);
    expect(answer.status).toBe(status);
    expect((await granted(identity)).codes).toBe(status === 303 ? 1 : 0);
  });

  it('[case 41] the token of another request is refused', async () => {
    const browser = aBrowser(identity, ada);
    const [one, other] = [await browser.ask(clientId), await browser.ask(clientId)];
    expect((await browser.answer({ ...one, token: other.token })).status).toBe(403);
  });

  it('[case 42] another browser is refused, also one of the same user', async () => {
    const question = await aBrowser(identity, ada).ask(clientId);
    const other = aBrowser(identity, ada);
    expect(await pageOf(await other.get(question.path))).toMatchObject({ status: 403, text: expect.stringContaining('another browser') });
    expect((await other.answer(question)).status).toBe(403);
    await other.ask(clientId);
    other.cookies.set(question.path, [...other.cookies.values()][0] ?? '');
    expect((await other.answer(question)).status).toBe(403);
    expect(await granted(identity)).toEqual({ grants: 0, codes: 0 });
  });

  it('whoever signed in meanwhile does not answer for the one who was asked', async () => {
    const browser = aBrowser(identity, ada);
    const question = await browser.ask(clientId);
    const ben = aBrowser(identity, await identity.person({ email: 'ben@acme.test' }));
    ben.cookies.set(question.path, browser.cookies.get(question.path) ?? '');
    expect((await ben.answer(question)).status).toBe(403);
    const page = await (await ben.get(question.path)).text();
    expect(page).toContain('ben@acme.test');
    await browser.answer(question);
    expect((await ben.answer({ ...question, token: /name="token" value="([^"]*)"/.exec(page)?.[1] ?? '' })).status).toBe(400);
    expect((await granted(identity)).grants).toBe(1);
  });

  it('a request that nobody knows, or that has expired, is a page that says what to do', async () => {
    const browser = aBrowser(identity, ada);
    const question = await browser.ask(clientId);
    await identity.clock.advance(30 * 60_000);
    const pages = [await browser.get(question.path), await browser.answer(question), await browser.get('/oauth/interaction/nobody')];
    for (const response of pages)
      expect(await pageOf(response)).toMatchObject({
        status: 400,
        text: expect.stringContaining('Go back to the app; if it is not connected, connect it again'),
      });
  });

  it.each([
    ['another decision', [['decision', 'maybe']]],
    ['no decision', []],
    [
      'two decisions',
      [
        ['decision', 'allow'],
        ['decision', 'deny'],
      ],
    ],
    [
      'two tokens',
      [
        ['decision', 'allow'],
        ['token', 'a'],
        ['token', 'b'],
      ],
    ],
  ] as const)('a form with %s is refused', async (_what, fields) => {
    const browser = aBrowser(identity, ada);
    const { path } = await browser.ask(clientId);
    expect((await browser.post(path, fields)).status).toBe(400);
  });

  it('a form of more than 32 KiB, or no form, is refused with a page', async () => {
    const browser = aBrowser(identity, ada);
    const { path, token } = await browser.ask(clientId);
    expect(
      (
        await browser.post(path, [
          ['token', token],
          ['a', 'a'.repeat(33_000)],
        ])
      ).status,
    ).toBe(413);
    expect((await browser.post(path, [['token', token]], { 'content-type': 'application/json' })).status).toBe(400);
  });

  it('on plain http the cookies have no prefix', async () => {
    const plain = await startIdentity({ environment: { PUBLIC_BASE_URL: 'http://localhost:8080' } });
    const { body } = await plain.as(null)('POST', '/oauth/register', { redirect_uris: [REDIRECT_URI] });
    const response = await plain.fetch(authorizeUrl({ client_id: body.client_id }));
    expect(response.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^authorization=[\w-]{43}; Path=\/oauth\/[^;]+; Max-Age=1800; HttpOnly; SameSite=Lax$/),
    ]);
    await plain.stop();
  });
});
