import { indexedCollections } from '@bubbles/store/indexed-collections.ts';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openAuthorizationRequests } from '../src/adapters/store/authorization-requests.ts';
import { answerConsent } from '../src/use-cases/authorization.ts';
import { anAccount } from './builders.ts';
import { aBrowser, granted, REDIRECT_URI, register, STATE, told } from './consenting.ts';
import { type Person, startIdentity, type TestIdentity } from './identity.ts';
import { oauthAt } from './oauth.ts';

const DENIED = { to: REDIRECT_URI, error: 'access_denied', error_description: expect.any(String), state: STATE, iss: 'https://api.test' };

describe('the consent of a user', () => {
  let identity: TestIdentity;
  let ada: Person;
  let clientId: string;
  beforeEach(async () => {
    identity = await startIdentity();
    ada = await identity.person();
    clientId = await register(identity);
  });
  afterEach(() => identity.stop());

  const exchange = (code: string | undefined, id = clientId) => oauthAt(identity).exchange({ id, secret: null }, code ?? '');
  const pageOf = async (response: Response) => ({ status: response.status, text: await response.text() });

  it('[OAUTH-05] [OAUTH-11] [case 28] [case 29] [case 47] takes the browser back with a code that is good for what was ticked', async () => {
    const browser = aBrowser(identity, ada);
    const question = await browser.ask(clientId, { scope: 'bubbles:read meetings:join' });
    expect(question.ticked).toEqual(['bubbles:read', 'meetings:join']);
    const response = await browser.answer({ ...question, ticked: ['bubbles:read'] });
    expect([response.status, response.headers.get('cache-control')]).toEqual([303, 'no-store']);
    const { code, ...answer } = told(response);
    expect(answer).toEqual({ to: REDIRECT_URI, state: STATE, iss: 'https://api.test' });
    const { status, body } = await exchange(code);
    expect([status, body.scope]).toEqual([200, 'bubbles:read']);
    expect((await identity.as(body.access_token)('GET', '/v1/me')).body.id).toBe(ada.id);
  });

  it('[case 36] a scope that was not asked for is not granted', async () => {
    const browser = aBrowser(identity, ada);
    const question = await browser.ask(clientId, { scope: 'bubbles:read' });
    const { code } = told(await browser.answer({ ...question, ticked: ['bubbles:read', 'webhooks:manage', 'admin', '__proto__'] }));
    expect((await exchange(code)).body.scope).toBe('bubbles:read');
  });

  it('allowing nothing shows the page again with what to do, and nothing is granted', async () => {
    const browser = aBrowser(identity, ada);
    const question = await browser.ask(clientId);
    for (const ticked of [[], ['admin']]) {
      const { status, text } = await pageOf(await browser.answer({ ...question, ticked }));
      expect(status).toBe(400);
      expect(text).toContain('<p class="bad" role="alert">Nothing is ticked.');
      expect(text).toContain(question.token);
    }
    expect(await granted(identity)).toEqual({ grants: 0, codes: 0 });
    expect(told(await browser.answer(question))).toHaveProperty('code');
  });

  it('denied: the app is told, and nothing is granted, not even afterwards', async () => {
    const browser = aBrowser(identity, ada);
    const question = await browser.ask(clientId);
    expect(told(await browser.answer(question, 'deny'))).toEqual(DENIED);
    expect(told(await browser.answer(question))).toEqual(DENIED);
    expect((await pageOf(await browser.get(question.path))).text).toContain('has been answered or has expired');
    expect(await granted(identity)).toEqual({ grants: 0, codes: 0 });
  });

  it('[case 40] is asked again for an app that has a grant', async () => {
    const browser = aBrowser(identity, ada);
    await exchange(told(await browser.answer(await browser.ask(clientId)))['code']);
    expect((await browser.ask(clientId)).ticked).toHaveLength(3);
  });

  it('[case 43] two tabs finish each for itself', async () => {
    const browser = aBrowser(identity, ada);
    const [one, two] = [await browser.ask(clientId, { state: 'one' }), await browser.ask(clientId, { state: 'two' })];
    const [second, first] = [told(await browser.answer(two)), told(await browser.answer(one))];
    expect([first['state'], second['state']]).toEqual(['one', 'two']);
    expect([(await exchange(first['code'])).status, (await exchange(second['code'])).status]).toEqual([200, 200]);
  });

  it('[case 44] sent twice there is one code, and none once it was used', async () => {
    const browser = aBrowser(identity, ada);
    const question = await browser.ask(clientId);
    const [first, second] = [told(await browser.answer(question)), told(await browser.answer({ ...question, ticked: ['meetings:join'] }))];
    expect(second).toEqual(first);
    expect(await granted(identity)).toEqual({ grants: 1, codes: 1 });
    const { body } = await exchange(first['code']);
    expect(body.scope).toBe('bubbles:read webhooks:manage meetings:join');
    expect(await pageOf(await browser.answer(question))).toMatchObject({ status: 400, text: expect.stringContaining('has been answered') });
    expect((await identity.as(body.access_token)('GET', '/v1/me')).status).toBe(200);
    expect(await granted(identity)).toEqual({ grants: 1, codes: 1 });
  });

  it('[case 44] sent again when the code is over there is none', async () => {
    const browser = aBrowser(identity, ada);
    const question = await browser.ask(clientId);
    await browser.answer(question);
    await identity.clock.advance(60_000);
    expect((await browser.answer(question)).status).toBe(400);
    expect(await granted(identity)).toEqual({ grants: 1, codes: 1 });
  });

  it('[case 44] sent ten times to two replicas at once there is one code', async () => {
    const other = await startIdentity({ database: identity.database, clock: identity.clock });
    const here = aBrowser(identity, ada);
    const question = await here.ask(clientId);
    const there = aBrowser(other, ada);
    there.cookies.set(question.path, here.cookies.get(question.path) ?? '');
    const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => (n % 2 ? there : here).answer(question)));
    await other.stop();
    const codes = new Set(answers.map((answer) => told(answer)['code']));
    expect([codes.size, codes.has(undefined as never)]).toEqual([1, false]);
    expect(await granted(identity)).toEqual({ grants: 1, codes: 1 });
    expect((await exchange([...codes][0])).status).toBe(200);
  });

  it('allowed and denied at once on two replicas: all are told the same', async () => {
    const other = await startIdentity({ database: identity.database, clock: identity.clock });
    const here = aBrowser(identity, ada);
    const question = await here.ask(clientId);
    const there = aBrowser(other, ada);
    there.cookies.set(question.path, here.cookies.get(question.path) ?? '');
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) => (n % 2 ? there : here).answer(question, n % 3 === 0 ? 'deny' : 'allow')),
    );
    await other.stop();
    const locations = new Set(answers.map(({ headers }) => headers.get('location')));
    expect(locations.size).toBe(1);
    expect((await granted(identity)).codes).toBe([...locations][0]?.includes('code=') ? 1 : 0);
  });

  it('[case 59] for a client that was deleted meanwhile there is no code', async () => {
    const { body } = await identity.as(null)('POST', '/oauth/register', { redirect_uris: [REDIRECT_URI] });
    const browser = aBrowser(identity, ada);
    const question = await browser.ask(body.client_id);
    await identity.as(body.registration_access_token)('DELETE', `/oauth/register/${body.client_id}`);
    expect((await browser.answer(question)).status).toBe(400);
    expect((await browser.get(question.path)).status).toBe(400);
    expect(await granted(identity)).toEqual({ grants: 0, codes: 0 });
  });

  it.each(['disabled', 'deleted'])('[case 96] [AUTH-05] of an account that was %s meanwhile is a denial', async (state) => {
    const browser = aBrowser(identity, ada);
    const question = await browser.ask(clientId);
    await identity.admin('PUT', `accounts/${ada.id}/state`, { state });
    expect(told(await browser.answer(question))).toEqual(DENIED);
    expect((await browser.get(question.path)).status).toBe(303);
    expect(await granted(identity)).toEqual({ grants: 0, codes: 0 });
  });

  it('is not given to a redirect URI that the client gave up meanwhile', async () => {
    const { body } = await identity.as(null)('POST', '/oauth/register', { redirect_uris: [REDIRECT_URI] });
    const browser = aBrowser(identity, ada);
    const question = await browser.ask(body.client_id);
    const changed = { client_id: body.client_id, redirect_uris: ['https://app.test/other'] };
    await identity.as(body.registration_access_token)('PUT', `/oauth/register/${body.client_id}`, changed);
    expect((await browser.answer(question)).status).toBe(400);
    expect(await granted(identity)).toEqual({ grants: 0, codes: 0 });
  });

  it('does not bring a grant back whose code was used, and which was ended, while the form came again', async () => {
    const stores = oauthAt(identity).stores;
    const requests = openAuthorizationRequests(indexedCollections(identity.database).open);
    const browser = aBrowser(identity, ada);
    const question = await browser.ask(clientId);
    const { code } = told(await browser.answer(question));
    const answer = answerConsent({
      ...stores,
      authorizationRequests: requests,
      issuer: 'https://api.test',
      clock: identity.clock,
      lifetimes: { accessTokenMs: 1, codeMs: 60_000, refreshTokenMs: 1, grantMs: 1, refreshRaceWindowMs: 1 },
      grants: {
        ...stores.grants,
        insert: async (grant) => {
          const { body } = await exchange(code);
          await oauthAt(identity).revoke({ id: clientId, secret: null }, body.refresh_token);
          return stores.grants.insert(grant);
        },
      },
    });
    const secret = browser.cookies.get(question.path)?.split('=')[1] ?? '';
    const visit = { requestId: question.path.split('/').at(-1) ?? '', secret, account: anAccount({ id: ada.id }) };
    await expect(answer({ ...visit, token: question.token, allowed: true, ticked: question.ticked })).rejects.toMatchObject({
      kind: 'invalid',
    });
    expect((await granted(identity)).grants).toBe(0);
  });
});
