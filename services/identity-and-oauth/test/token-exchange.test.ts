import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Person, startIdentity, type TestIdentity } from './identity.ts';
import { oauthAt, type TestClient, VERIFIER } from './oauth.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const basic = (id: string, secret: string) => ({ authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` });

let identity: TestIdentity;
let oauth: ReturnType<typeof oauthAt>;
let ada: Person;
let app: TestClient;
beforeEach(async () => {
  identity = await startIdentity();
  oauth = oauthAt(identity);
  ada = await identity.person();
  app = await oauth.client();
});
afterEach(() => identity.stop());

const me = async (accessToken: string) => (await identity.as(accessToken)('GET', '/v1/me')).status;
const refusal = ({ status, body }: { readonly status: number; readonly body: { readonly error: string } }) => [status, body.error];
const INVALID_GRANT = [400, 'invalid_grant'];

describe('an authorization code', () => {
  it('[OAUTH-06] [case 70] [case 92] is exchanged for tokens, in JSON that nobody keeps, whatever the client accepts', async () => {
    const code = await oauth.code(app, ada.id);
    const form = {
      client_id: app.id,
      grant_type: 'authorization_code',
      code,
      redirect_uri: 'https://app.test/cb',
      code_verifier: VERIFIER,
    };
    const { status, headers, body } = await oauth.token(form, { accept: 'text/html' });
    expect(status).toBe(200);
    expect(['content-type', 'cache-control', 'pragma'].map((name) => headers.get(name))).toEqual([
      'application/json; charset=utf-8',
      'no-store',
      'no-cache',
    ]);
    expect(body).toEqual({
      access_token: expect.stringMatching(/^eyJ/),
      token_type: 'Bearer',
      expires_in: 3600,
      refresh_token: expect.stringMatching(/^svc_refresh_[\w-]{43}$/),
      scope: 'bubbles:read webhooks:manage meetings:join',
    });
    expect(await me(body.access_token)).toBe(200);
  });

  it('[OAUTH-11] gives what the user granted, and no more', async () => {
    const { body } = await oauth.exchange(app, await oauth.code(app, ada.id, { scopes: ['bubbles:read'] }), { scope: 'meetings:join' });
    expect(body.scope).toBe('bubbles:read');
  });

  it('[case 1] used a second time is refused, and all that it was exchanged for ends', async () => {
    const code = await oauth.code(app, ada.id);
    const { body } = await oauth.exchange(app, code);
    expect(refusal(await oauth.exchange(app, code))).toEqual(INVALID_GRANT);
    expect(await me(body.access_token)).toBe(401);
    expect(refusal(await oauth.refresh(app, body.refresh_token))).toEqual(INVALID_GRANT);
  });

  it('[case 2] exchanged ten times at once over two replicas passes once', async () => {
    const other = await startIdentity({ database: identity.database, clock: identity.clock });
    const code = await oauth.code(app, ada.id);
    const answers = await Promise.all(Array.from({ length: 10 }, (_, i) => oauthAt(i % 2 ? identity : other).exchange(app, code)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(9).fill(400)]);
    // The others were a second use.
    expect(await oauth.stores.grants.ofAccount(ada.id)).toEqual([]);
    await other.stop();
  });

  it('[case 3] [OAUTH-10] is good for a minute, and its end ends nothing', async () => {
    const [early, late] = [await oauth.code(app, ada.id), await oauth.code(app, ada.id)];
    await identity.clock.advance(59_999);
    const { status, body } = await oauth.exchange(app, early);
    expect(status).toBe(200);
    await identity.clock.advance(1);
    expect(refusal(await oauth.exchange(app, late))).toEqual(INVALID_GRANT);
    expect(await me(body.access_token)).toBe(200);
  });

  it('[case 4] of another client is refused, and stays good for its owner', async () => {
    const code = await oauth.code(app, ada.id);
    expect(refusal(await oauth.exchange(await oauth.client(), code))).toEqual(INVALID_GRANT);
    expect((await oauth.exchange(app, code)).status).toBe(200);
  });

  it('[case 5] that comes again ends the grant as long as its tokens can live', async () => {
    const code = await oauth.code(app, ada.id);
    let { refresh_token: refreshToken } = (await oauth.exchange(app, code)).body;
    await identity.clock.advance(29 * DAY_MS);
    await identity.runJob('sweep-grants');
    refreshToken = (await oauth.refresh(app, refreshToken)).body.refresh_token;
    expect(refusal(await oauth.exchange(app, code))).toEqual(INVALID_GRANT);
    expect(refusal(await oauth.refresh(app, refreshToken))).toEqual(INVALID_GRANT);
  });

  it.each([
    ['[case 21] no redirect_uri', { redirect_uri: '' }, 'invalid_request', 'redirect_uri: is required'],
    ['another redirect_uri', { redirect_uri: 'https://app.test/cb/' }, 'invalid_grant', 'redirect_uri: must be'],
    ['[case 25] no code_verifier', { code_verifier: '' }, 'invalid_request', 'code_verifier: is required'],
    ['[case 25] a short code_verifier', { code_verifier: VERIFIER.slice(1) }, 'invalid_grant', 'code_verifier: does not match'],
    ['[case 25] another code_verifier', { code_verifier: VERIFIER.replace('d', 'e') }, 'invalid_grant', 'code_verifier: does not match'],
    ['no code', { code: '' }, 'invalid_request', 'code: is required'],
    ['[case 39] a foreign resource', { resource: 'https://other.test' }, 'invalid_target', 'resource: is not this API'],
    ['an unknown grant_type', { grant_type: 'password' }, 'unsupported_grant_type', 'grant_type: must be'],
  ])('[ERR-06] %s is refused, and the code stays good', async (_what, form, error, description) => {
    const code = await oauth.code(app, ada.id);
    const { status, body } = await oauth.exchange(app, code, form);
    expect([status, body]).toEqual([400, { error, error_description: expect.stringContaining(description) }]);
    expect((await oauth.exchange(app, code)).status).toBe(200);
  });

  it.each(['https://api.test', 'https://api.test/', 'https://api.test/v1', 'https://api.test/mcp'])(
    '[case 39] takes %s for this API',
    async (resource) => {
      expect((await oauth.exchange(app, await oauth.code(app, ada.id), { resource })).status).toBe(200);
    },
  );

  it('of an account that is disabled meanwhile is refused and not spent', async () => {
    const code = await oauth.code(app, ada.id);
    await identity.admin('PUT', `accounts/${ada.id}/state`, { state: 'disabled' });
    expect(refusal(await oauth.exchange(app, code))).toEqual(INVALID_GRANT);
    await identity.admin('PUT', `accounts/${ada.id}/state`, { state: 'active' });
    expect((await oauth.exchange(app, code)).status).toBe(200);
  });

  it('lives on as a grant for a year, and no token of it longer', async () => {
    let { body } = await oauth.exchange(app, await oauth.code(app, ada.id));
    for (let day = 0; day < 364; day += 28) {
      await identity.clock.advance(28 * DAY_MS);
      body = (await oauth.refresh(app, body.refresh_token)).body;
    }
    await identity.clock.advance(DAY_MS - HOUR_MS / 2);
    body = (await oauth.refresh(app, body.refresh_token)).body;
    expect(body.expires_in).toBe(1800);
    await identity.clock.advance(HOUR_MS / 2);
    expect(refusal(await oauth.refresh(app, body.refresh_token))).toEqual(INVALID_GRANT);
    expect(await me(body.access_token)).toBe(401);
  });
});

describe('who asks for tokens', () => {
  let secretive: TestClient;
  const form = { grant_type: 'refresh_token', refresh_token: 'svc_refresh_x' };
  beforeEach(async () => {
    secretive = await oauth.client({ confidential: true });
  });
  const ask = (sent: Record<string, string>, headers: Record<string, string> = {}) => oauth.token({ ...form, ...sent }, headers);

  it('[case 64] [case 98] an unknown client: 401 invalid_client', async () => {
    const { status, headers, body } = await ask({ client_id: 'nobody' });
    expect([status, body]).toEqual([401, { error: 'invalid_client', error_description: expect.any(String) }]);
    expect(headers.get('www-authenticate')).toBe('Basic realm="oauth"');
  });

  it('[case 65] a wrong secret, none at all, or another scheme: 401 with the challenge', async () => {
    const { id, secret } = secretive;
    const answers = [
      await ask({}, basic(id, 'wrong')),
      await ask({}, basic(id, '')),
      await ask({ client_id: id, client_secret: 'wrong' }),
      await ask({ client_id: id }),
      await ask({ client_id: id, client_secret: '' }),
      await ask({}),
      await ask({ client_id: id, client_secret: `${secret}` }, { authorization: 'Bearer x' }),
    ];
    for (const answer of answers) {
      expect(refusal(answer)).toEqual([401, 'invalid_client']);
      expect(answer.headers.get('www-authenticate')).toBe('Basic realm="oauth"');
    }
  });

  it('[case 67] the right secret of a confidential client passes in the header and in the body, and both at once do not', async () => {
    const { id, secret } = secretive;
    const [header, inBody] = [basic(id, `${secret}`), { client_id: id, client_secret: `${secret}` }];
    expect(refusal(await ask({}, header))).toEqual(INVALID_GRANT);
    expect(refusal(await ask({ client_id: id }, header))).toEqual(INVALID_GRANT);
    expect(refusal(await ask(inBody))).toEqual(INVALID_GRANT);
    expect(refusal(await ask(inBody, header))).toEqual([400, 'invalid_request']);
  });

  it('reads id and secret of the header as a form has them', async () => {
    const encoded = (text: string) => text.replaceAll(/./g, (c) => `%${(c.codePointAt(0) ?? 0).toString(16)}`);
    expect(refusal(await ask({}, basic(encoded(secretive.id), encoded(`${secretive.secret}`))))).toEqual(INVALID_GRANT);
  });

  it('[case 66] another client_id in the body than in the header: 400', async () => {
    expect(refusal(await ask({ client_id: app.id }, basic(secretive.id, `${secretive.secret}`)))).toEqual([400, 'invalid_request']);
  });

  it('[case 68] a public client that sends Basic or a secret: 401', async () => {
    for (const secret of ['', 'x']) expect(refusal(await ask({}, basic(app.id, secret)))).toEqual([401, 'invalid_client']);
    expect(refusal(await ask({ client_id: app.id, client_secret: 'x' }))).toEqual([401, 'invalid_client']);
    expect(refusal(await ask({ client_id: app.id, client_secret: '' }))).toEqual(INVALID_GRANT);
  });

  it.each([
    'Basic',
    'Basic ',
    'Basic !',
    'Basic eA==',
    'Basic Ong=',
    'Basic JTp4',
    `Basic ${Buffer.from('a:%E0').toString('base64')}`,
    'Basic YTpi YTpi',
  ])('[case 69] the malformed header %s: 400', async (authorization) => {
    expect(refusal(await ask({}, { authorization }))).toEqual([400, 'invalid_request']);
  });

  it('[case 69] an id longer than the body may have, by which whoever asks too often would be remembered: 400', async () => {
    expect(refusal(await ask({}, basic('a'.repeat(2049), 'x')))).toEqual([400, 'invalid_request']);
    expect(refusal(await ask({}, basic('a'.repeat(2048), 'x')))).toEqual([401, 'invalid_client']);
  });
});

describe('the form of a token request', () => {
  const answerOf = async (init: RequestInit) => {
    const response = await identity.fetch('/oauth/token', { method: 'POST', ...init });
    return { status: response.status, body: JSON.parse(await response.text()) };
  };

  it('[case 61] is no JSON', async () => {
    const json = { body: JSON.stringify({ grant_type: 'refresh_token' }), headers: { 'content-type': 'application/json' } };
    expect(refusal(await answerOf(json))).toEqual([400, 'invalid_request']);
  });

  it('[case 62] is never a GET', async () => {
    expect((await identity.fetch('/oauth/token?grant_type=refresh_token')).status).toBe(404);
  });

  it('[case 63] has each parameter once', async () => {
    for (const name of ['grant_type', 'client_id', 'refresh_token', 'scope']) {
      const form = [...Object.entries({ grant_type: 'refresh_token', client_id: app.id, refresh_token: 'x', scope: 'x' }), [name, 'x']];
      expect(refusal(await oauth.token(form))).toEqual([400, 'invalid_request']);
    }
  });

  it('has a grant_type, and no body over 32 KiB', async () => {
    expect(refusal(await oauth.token({ client_id: app.id }))).toEqual([400, 'invalid_request']);
    expect(refusal(await oauth.token({ client_id: app.id, grant_type: '' }))).toEqual([400, 'unsupported_grant_type']);
    expect(refusal(await oauth.token({ grant_type: 'x'.repeat(33_000) }))).toEqual([413, 'invalid_request']);
  });
});

describe('the limit of token requests', () => {
  it('is 60 a minute for a client and a network, with the time to wait', async () => {
    const ask = (clientId: string, address: string) =>
      oauth.token({ grant_type: 'refresh_token', client_id: clientId, refresh_token: 'x' }, { 'x-forwarded-for': address });
    const [one, sameNetwork, other] = ['2001:db8:1:2::1', '2001:db8:1:2::2', '2001:db8:1:3::1'];
    for (let i = 0; i < 60; i += 1) expect((await ask(app.id, i % 2 ? `${one}` : `${sameNetwork}`)).status).toBe(400);
    const { status, headers, body } = await ask(app.id, `${one}`);
    expect([status, headers.get('retry-after'), body]).toEqual([
      429,
      '1',
      { error: 'temporarily_unavailable', error_description: 'More than 60 requests in 60 seconds.' },
    ]);
    expect((await ask(app.id, `${other}`)).status).toBe(400);
    expect((await ask('other', `${one}`)).status).toBe(401);
    await identity.clock.advance(1000);
    expect((await ask(app.id, `${one}`)).status).toBe(400);
    expect((await ask(app.id, `${one}`)).status).toBe(429);
  });
});
