import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { aBrowser, authorizeUrl, type Fields, REDIRECT_URI, register, STATE, told } from './consenting.ts';
import { startIdentity, type TestIdentity } from './identity.ts';

describe('the question of a client', () => {
  let identity: TestIdentity;
  let clientId: string;
  let asked: number;
  beforeEach(async () => {
    identity = await startIdentity();
    clientId = await registered();
    asked = 0;
  });
  afterEach(() => identity.stop());

  const registered = (fields: object = {}) => register(identity, fields);
  const send = (url: string, headers: Readonly<Record<string, string>> = {}) => identity.fetch(url, { headers });
  const ask = (fields: Fields = {}) => send(authorizeUrl({ client_id: clientId, ...fields }));
  const requests = () => identity.database.collection('oauth_requests').count({});

  /** `asked`, `page` (for a person, and nothing for whoever sent them here), or the error that the app is told; all else in full. */
  const outcome = async (response: Response): Promise<unknown> => {
    const { status, headers } = response;
    const [page, location, cookies] = [await response.text(), headers.get('location'), headers.getSetCookie().length];
    if (status === 303 && location?.startsWith('/oauth/interaction/') && cookies === 1) {
      asked += 1;
      return 'asked';
    }
    expect([cookies, await requests()]).toEqual([0, asked]);
    const isPage = status === 400 && headers.get('content-type') === 'text/html; charset=utf-8' && location === null;
    if (isPage && !page.includes('<script>')) return 'page';
    const { to, state, iss, error, error_description, ...others } = told(response);
    const isWhole = to === REDIRECT_URI && state === STATE && iss === 'https://api.test' && error_description !== undefined;
    return status === 303 && isWhole && Object.keys(others).length === 0 ? error : { status, location, page };
  };
  const outcomeOf = async (fields: Fields = {}) => outcome(await ask(fields));

  it('[OAUTH-05] goes on to a page of its own, tied to the browser', async () => {
    const response = await ask();
    expect(await outcome(response)).toBe('asked');
    const path = response.headers.get('location');
    expect(response.headers.getSetCookie()).toEqual([
      expect.stringMatching(new RegExp(`^__Secure-authorization=[\\w-]{43}; Path=${path}; Max-Age=1800; HttpOnly; SameSite=Lax; Secure$`)),
    ]);
    expect([response.headers.get('cache-control'), response.headers.get('access-control-allow-origin')]).toEqual(['no-store', null]);
    const stored = JSON.stringify(await identity.database.collection('oauth_requests').find({}));
    expect(stored).not.toContain(path?.split('/').at(-1) ?? '');
    expect(stored).not.toContain(/=([^;]+)/.exec(response.headers.getSetCookie()[0] ?? '')?.[1] ?? '');
  });

  it.each([
    ['unknown', 'nobody'],
    ['missing', undefined],
    ['empty', ''],
    ['a page of HTML', '<script>alert(1)</script>'],
    ['an address in the network of the server', 'https://127.0.0.1/client.json'],
    ['the name of a field of objects', '__proto__'],
  ])('[case 18] of a client that is %s: a page, never a redirect', async (_what, client_id) => {
    expect(await outcomeOf({ client_id })).toBe('page');
  });

  it.each([
    ['prompt=none', { prompt: 'none' }],
    ['another response type', { response_type: 'token' }],
    ['no challenge', { code_challenge: undefined }],
    ['an unknown scope', { scope: 'admin' }],
    ['a request object', { request: 'eyJ' }],
  ])('[case 19] %s beside a wrong redirect URI: a page', async (_what, fields) => {
    expect(await outcomeOf({ redirect_uri: 'https://evil.test/cb', ...fields })).toBe('page');
    expect(await outcomeOf({ client_id: 'nobody', ...fields })).toBe('page');
  });

  it.each(['client_id', 'redirect_uri'])('[case 20] a repeated %s: a page, also when both are right', async (name) => {
    const url = authorizeUrl({ client_id: clientId });
    const value = name === 'client_id' ? clientId : REDIRECT_URI;
    for (const second of [value, '', 'https://evil.test/cb']) {
      expect(await outcome(await send(`${url}&${name}=${encodeURIComponent(second)}`))).toBe('page');
      expect(await outcome(await send(url.replace('?', `?${name}=${encodeURIComponent(second)}&`)))).toBe('page');
    }
  });

  it.each(['scope', 'response_type', 'code_challenge', 'code_challenge_method', 'response_mode', 'nonce', 'unknown'])(
    '[case 20] a repeated %s: invalid_request',
    async (name) => {
      expect(await outcome(await send(`${authorizeUrl({ client_id: clientId, [name]: 'a' })}&${name}=b`))).toBe('invalid_request');
    },
  );

  it('[case 20] a repeated state: invalid_request, without any of the two', async () => {
    const answer = told(await send(`${authorizeUrl({ client_id: clientId })}&state=b`));
    expect(answer).toMatchObject({ to: REDIRECT_URI, error: 'invalid_request' });
    expect(answer).not.toHaveProperty('state');
  });

  it.each([
    undefined,
    '',
    'https://app.test/cb/',
    'https://app.test/cb?a=b',
    'https://APP.test/cb',
    'https://app.test:443/cb',
    'https://app.test/a/..;/cb',
    'https://app.test\\@evil.test/cb',
    'https://user@app.test/cb',
    ' https://app.test/cb',
    'javascript:alert(1)',
    'https://evil.test',
  ])('[case 6] [case 21] the redirect URI %j: a page, never a redirect', async (redirect_uri) => {
    expect(await outcomeOf({ redirect_uri })).toBe('page');
  });

  it.each([
    ['http://127.0.0.1/cb', 'http://127.0.0.1:51234/cb', true],
    ['http://localhost:3000/cb', 'http://localhost:51234/cb', true],
    ['http://127.0.0.1/cb', 'http://localhost:51234/cb', false],
    ['http://127.0.0.1/cb', 'http://127.0.0.1:99999/cb', false],
    ['http://127.0.0.1/cb', 'http://127.0.0.1@evil.test/cb', false],
  ])('[case 10] [case 11] [case 12] registered %s, sent to %s: %s', async (uri, redirect_uri, isTaken) => {
    const client_id = await registered({ redirect_uris: [uri] });
    const response = await ask({ client_id, redirect_uri });
    expect(await outcome(response)).toBe(isTaken ? 'asked' : 'page');
  });

  it.each(['none', 'client_secret_basic'])('[case 22] [OAUTH-04] without PKCE a client of the method %s is refused', async (method) => {
    const client_id = await registered({ token_endpoint_auth_method: method });
    expect(await outcomeOf({ client_id, code_challenge: undefined, code_challenge_method: undefined })).toBe('invalid_request');
  });

  it('[case 23] a method without a challenge is refused', async () => {
    expect(await outcomeOf({ code_challenge: undefined })).toBe('invalid_request');
    expect(await outcomeOf({ code_challenge: '' })).toBe('invalid_request');
  });

  it.each([undefined, 'plain', 's256', 'S512', ''])('[case 24] the challenge method %j is refused', async (code_challenge_method) => {
    expect(await outcomeOf({ code_challenge_method })).toBe('invalid_request');
  });

  it.each(['a'.repeat(42), 'a'.repeat(44), `${'a'.repeat(42)}=`, `${'a'.repeat(42)}.`, `${'a'.repeat(42)}ä`])(
    '[case 25] the challenge %j is refused',
    async (code_challenge) => {
      expect(await outcomeOf({ code_challenge })).toBe('invalid_request');
    },
  );

  it.each(['token', 'id_token', 'none', 'code token', 'code id_token', 'CODE', 'code code'])(
    '[case 26] the response type %j is refused',
    async (response_type) => {
      expect(await outcomeOf({ response_type })).toBe('unsupported_response_type');
    },
  );

  it('[case 26] a missing response type is refused', async () => {
    expect(await outcomeOf({ response_type: undefined })).toBe('invalid_request');
  });

  it.each(['fragment', 'form_post', 'query.jwt', 'web_message'])('[case 27] the response mode %s: an error, by query', async (mode) => {
    expect(await outcomeOf({ response_mode: mode })).toBe('invalid_request');
  });

  it('[case 27] the response mode query is taken', async () => {
    expect(await outcomeOf({ response_mode: 'query' })).toBe('asked');
  });

  it.each(['a b+c/ä=&?#', '%00', '"\'<>', '💡', ' ', 'x'.repeat(4096), '0'])(
    '[case 28] the state %j comes back as it was',
    async (state) => {
      expect(told(await ask({ state, scope: 'admin' }))).toMatchObject({ error: 'invalid_scope', state });
    },
  );

  it('[case 28] without a state there is none in the answer', async () => {
    for (const state of [undefined, '']) expect(told(await ask({ state, scope: 'admin' }))).not.toHaveProperty('state');
  });

  it('[case 28] a state that would not fit into an answer is told, without it', async () => {
    const answer = told(await ask({ state: 'ä'.repeat(1400) }));
    expect(answer).toMatchObject({ error: 'invalid_request', error_description: 'state: is too long' });
    expect(answer).not.toHaveProperty('state');
  });

  it('an answer keeps the query of the redirect URI', async () => {
    const client_id = await registered({ redirect_uris: ['https://app.test/cb?a=b%20c', 'cursor://app/cb'] });
    const location = async (redirect_uri: string) => (await ask({ client_id, redirect_uri, scope: 'admin' })).headers.get('location');
    expect(await location('https://app.test/cb?a=b%20c')).toMatch(/^https:\/\/app\.test\/cb\?a=b%20c&error=invalid_scope&/);
    expect(await location('cursor://app/cb')).toMatch(/^cursor:\/\/app\/cb\?error=invalid_scope&/);
  });

  it('[case 31] no header reaches the issuer, the next address or the cookie', async () => {
    const headers = { 'x-forwarded-host': 'evil.test', 'x-forwarded-proto': 'http', forwarded: 'host=evil.test;proto=http' };
    const response = await send(authorizeUrl({ client_id: clientId }), headers);
    expect(await outcome(response)).toBe('asked');
    expect(response.headers.getSetCookie()[0]).toMatch(/; Secure$/);
    expect(told(await send(authorizeUrl({ client_id: clientId, scope: 'admin' }), headers))['iss']).toBe('https://api.test');
  });

  it.each(['admin', 'bubbles:read admin', 'BUBBLES:READ', 'bubbles:read,meetings:join'])(
    '[case 32] the scope %j is refused',
    async (scope) => {
      expect(await outcomeOf({ scope })).toBe('invalid_scope');
    },
  );

  it('[case 32] a scope that the client did not register is refused', async () => {
    const client_id = await registered({ scope: 'bubbles:read' });
    expect(await outcomeOf({ client_id, scope: 'meetings:join' })).toBe('invalid_scope');
  });

  it.each([
    ['[case 33]', 'openid profile email offline_access bubbles:read', ['bubbles:read']],
    ['[case 33]', 'openid offline_access', ['bubbles:read', 'meetings:join']],
    ['[case 34]', undefined, ['bubbles:read', 'meetings:join']],
    ['[case 35]', '', ['bubbles:read', 'meetings:join']],
  ])('%s of the scope %j the user is asked for %j', async (_case, scope, asked) => {
    const client_id = await registered({ scope: 'meetings:join bubbles:read' });
    expect((await aBrowser(identity, await identity.person()).ask(client_id, { scope })).ticked).toEqual(asked);
  });

  it('[case 37] what belongs to OpenID Connect is ignored', async () => {
    expect(
      await outcomeOf({
        nonce: 'a',
        max_age: '0',
        claims: '{"userinfo":',
        ui_locales: 'de',
        login_hint: 'a',
        display: 'popup',
        acr_values: '1',
      }),
    ).toBe('asked');
    for (const prompt of ['login', 'consent', 'select_account']) expect(await outcomeOf({ prompt })).toBe('asked');
  });

  it('prompt=none is refused: there is always a question', async () => {
    expect(await outcomeOf({ prompt: 'none' })).toBe('consent_required');
    expect(await outcomeOf({ prompt: 'login none' })).toBe('consent_required');
  });

  it.each(['request', 'request_uri'])('[case 38] %s is refused, and nothing is fetched', async (name) => {
    expect(await outcomeOf({ [name]: 'http://127.0.0.1:9/' })).toBe(`${name}_not_supported`);
  });

  it.each(['https://evil.test', 'https://api.test.evil.test', 'http://api.test', 'https://api.test/v2', 'https://API.test', 'a'])(
    '[case 39] the resource %s is refused',
    async (resource) => {
      expect(await outcomeOf({ resource })).toBe('invalid_target');
    },
  );

  it.each(['https://api.test', 'https://api.test/', 'https://api.test/v1', 'https://api.test/mcp', ''])(
    '[case 39] the resource %j is ours',
    async (resource) => {
      expect(await outcomeOf({ resource })).toBe('asked');
    },
  );

  it('[case 39] several resources may be named, of which all must be ours', async () => {
    const url = authorizeUrl({ client_id: clientId, resource: 'https://api.test' });
    expect(await outcome(await send(`${url}&resource=${encodeURIComponent('https://api.test/mcp')}`))).toBe('asked');
    expect(await outcome(await send(`${url}&resource=${encodeURIComponent('https://evil.test')}`))).toBe('invalid_target');
  });

  it.each(['%', '%ff', '%00', '%ed%a0%80'])('a query with %s is a page', async (text) => {
    const response = await send(`${authorizeUrl({ client_id: clientId })}&a=${text}`);
    expect([response.status, response.headers.get('content-type')]).toEqual([400, 'text/html; charset=utf-8']);
  });

  it('[case 53] one client from one address asks 60 times a minute; others go on', async () => {
    const other = await registered();
    const from = async (client_id: string, address: string) =>
      (await send(authorizeUrl({ client_id }), { 'x-forwarded-for': address })).status;
    const statuses = await Promise.all(Array.from({ length: 61 }, () => from(clientId, '203.0.113.7')));
    expect(statuses.filter((status) => status === 303)).toHaveLength(60);
    const refused = await send(authorizeUrl({ client_id: clientId }), { 'x-forwarded-for': '203.0.113.7' });
    expect([refused.status, refused.headers.get('retry-after'), refused.headers.get('content-type')]).toEqual([
      429,
      '60',
      'text/html; charset=utf-8',
    ]);
    expect([await from(other, '203.0.113.7'), await from(clientId, '203.0.113.8')]).toEqual([303, 303]);
    await identity.clock.advance(60_000);
    expect(await from(clientId, '203.0.113.7')).toBe(303);
  });

  it('[case 95] one address asks for 60 metadata documents a minute, whatever their hosts', async () => {
    const from = async (n: number, address: string) =>
      (await send(authorizeUrl({ client_id: `https://${n}.invalid/client` }), { 'x-forwarded-for': address })).status;
    const statuses = await Promise.all(Array.from({ length: 60 }, (_, n) => from(n, '203.0.113.7')));
    expect([...new Set(statuses), await from(61, '203.0.113.7'), await from(61, '203.0.113.8')]).toEqual([400, 429, 400]);
  });

  it('is forgotten when nobody answered it for half an hour', async () => {
    await ask();
    await identity.clock.advance(30 * 60_000 - 1);
    await identity.runJob('sweep-authorization-requests');
    expect(await requests()).toBe(1);
    await identity.clock.advance(1);
    await identity.runJob('sweep-authorization-requests');
    expect(await requests()).toBe(0);
  });
});
