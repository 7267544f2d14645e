import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { aBrowser, register, told } from './consenting.ts';
import { type Person, startIdentity, type TestIdentity } from './identity.ts';
import { oauthAt, type TestClient } from './oauth.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const ALL = 'bubbles:read webhooks:manage meetings:join';
const INVALID_GRANT = [400, 'invalid_grant'];

let identity: TestIdentity;
let oauth: ReturnType<typeof oauthAt>;
let ada: Person;
let app: TestClient;
const begin = async (environment: Readonly<Record<string, string>> = {}) => {
  identity = await startIdentity({ environment });
  oauth = oauthAt(identity);
  ada = await identity.person();
  app = await oauth.client();
};
beforeEach(() => begin());
afterEach(() => identity.stop());

const connect = async (granted: { readonly scopes?: string[] } = {}) =>
  (await oauth.exchange(app, await oauth.code(app, ada.id, granted))).body;
const me = async (accessToken: string) => (await identity.as(accessToken)('GET', '/v1/me')).status;
const refusal = ({ status, body }: { readonly status: number; readonly body: { readonly error: string } }) => [status, body.error];

describe('a refresh token', () => {
  it('[OAUTH-07] [case 78] gives another one, and an access token with all that was granted; it is dead then', async () => {
    const first = await connect();
    const { status, headers, body } = await oauth.refresh(app, first.refresh_token);
    expect([status, headers.get('cache-control'), body.token_type, body.expires_in, body.scope]).toEqual([
      200,
      'no-store',
      'Bearer',
      3600,
      ALL,
    ]);
    expect(body.refresh_token).not.toBe(first.refresh_token);
    for (const token of [first.access_token, body.access_token]) expect(await me(token)).toBe(200);
    expect(refusal(await oauth.refresh(app, first.refresh_token))).toEqual(INVALID_GRANT);
  });

  it('[OAUTH-10] is good for 30 days since it was issued', async () => {
    let { refresh_token: token } = await connect();
    for (let i = 0; i < 3; i += 1) {
      await identity.clock.advance(30 * DAY_MS - 1);
      token = (await oauth.refresh(app, token)).body.refresh_token;
    }
    await identity.clock.advance(30 * DAY_MS);
    expect(refusal(await oauth.refresh(app, token))).toEqual(INVALID_GRANT);
  });

  it('[case 71] used ten times at once over two replicas passes once, and the one that passed goes on', async () => {
    const other = await startIdentity({ database: identity.database, clock: identity.clock });
    const { refresh_token: token } = await connect();
    const answers = await Promise.all(Array.from({ length: 10 }, (_, i) => oauthAt(i % 2 ? identity : other).refresh(app, token)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(9).fill(400)]);
    const winner = answers.find(({ status }) => status === 200)?.body;
    expect(await me(winner.access_token)).toBe(200);
    expect((await oauth.refresh(app, winner.refresh_token)).status).toBe(200);
    await other.stop();
  });

  it('[case 72] that comes again within two seconds is refused, and ends nothing', async () => {
    const first = await connect();
    const { body: second } = await oauth.refresh(app, first.refresh_token);
    await identity.clock.advance(1999);
    expect(refusal(await oauth.refresh(app, first.refresh_token))).toEqual(INVALID_GRANT);
    expect(await me(second.access_token)).toBe(200);
    expect((await oauth.refresh(app, second.refresh_token)).status).toBe(200);
  });

  it('[case 73] [OAUTH-07] that comes again later ends all of its grant', async () => {
    const first = await connect();
    const { body: second } = await oauth.refresh(app, first.refresh_token);
    const { body: third } = await oauth.refresh(app, second.refresh_token);
    await identity.clock.advance(2000);
    expect(refusal(await oauth.refresh(app, first.refresh_token))).toEqual(INVALID_GRANT);
    for (const { access_token: token } of [first, second, third]) expect(await me(token)).toBe(401);
    expect(refusal(await oauth.refresh(app, third.refresh_token))).toEqual(INVALID_GRANT);
  });

  it('[case 74] that comes again in the same millisecond ends the grant where there is no race window', async () => {
    await identity.stop();
    await begin({ OAUTH_REFRESH_RACE_WINDOW: '0s' });
    const first = await connect();
    const { body: second } = await oauth.refresh(app, first.refresh_token);
    expect(refusal(await oauth.refresh(app, first.refresh_token))).toEqual(INVALID_GRANT);
    expect(await me(second.access_token)).toBe(401);
  });

  it('[case 76] asked for more than was granted is refused and not spent; a code beside it is ignored', async () => {
    const { refresh_token: token } = await connect({ scopes: ['bubbles:read'] });
    for (const scope of ['meetings:join', 'bubbles:read meetings:join', 'admin'])
      expect(refusal(await oauth.refresh(app, token, { scope }))).toEqual([400, 'invalid_scope']);
    const { body } = await oauth.refresh(app, token, { code: await oauth.code(app, ada.id) });
    expect(body.scope).toBe('bubbles:read');
  });

  it('[case 77] asked for less keeps its scope', async () => {
    const { refresh_token: token } = await connect();
    const { body: narrow } = await oauth.refresh(app, token, { scope: 'meetings:join offline_access' });
    expect(narrow.scope).toBe('meetings:join');
    expect((await oauth.refresh(app, narrow.refresh_token)).body.scope).toBe(ALL);
  });

  it('[case 79] of another client is refused and not spent', async () => {
    const { refresh_token: token } = await connect();
    expect(refusal(await oauth.refresh(await oauth.client(), token))).toEqual(INVALID_GRANT);
    await identity.clock.advance(3000);
    expect((await oauth.refresh(app, token)).status).toBe(200);
  });

  it('[case 80] is no access token, and no code', async () => {
    const { access_token: accessToken } = await connect();
    for (const token of [accessToken, await oauth.code(app, ada.id), 'svc_refresh_', ada.pat])
      expect(refusal(await oauth.refresh(app, token))).toEqual(INVALID_GRANT);
    expect(refusal(await oauth.refresh(app, ''))).toEqual([400, 'invalid_request']);
  });

  it('[case 96] [AUTH-05] of a closed account is refused and not spent: it works when the account is opened again, unless that was deleted', async () => {
    const setState = (state: string) => identity.admin('PUT', `accounts/${ada.id}/state`, { state });
    const { refresh_token: token } = await connect();
    for (let i = 0; i < 2; i += 1) {
      await setState('disabled');
      expect(refusal(await oauth.refresh(app, token))).toEqual(INVALID_GRANT);
    }
    await setState('active');
    const { status, body } = await oauth.refresh(app, token);
    expect(status).toBe(200);
    await setState('deleted');
    await setState('active');
    expect(refusal(await oauth.refresh(app, body.refresh_token))).toEqual(INVALID_GRANT);
  });

  it('keeps its use known as long as it could come again, also after refresh tokens were given a shorter life', async () => {
    const { refresh_token: token } = await connect();
    const hasty = await startIdentity({ database: identity.database, clock: identity.clock, environment: { OAUTH_REFRESH_LIFE: '1h' } });
    expect((await oauthAt(hasty).refresh(app, token)).status).toBe(200);
    await identity.clock.advance(29 * DAY_MS);
    await hasty.runJob('sweep-grants');
    expect(refusal(await oauth.refresh(app, token))).toEqual(INVALID_GRANT);
    await hasty.stop();
  });
});

describe('revocation', () => {
  it('[OAUTH-08] [case 81] by an access token ends it at once, and the refresh token with it: 200 with an empty body', async () => {
    const { access_token: accessToken, refresh_token: refreshToken } = await connect();
    const { status, headers, body } = await oauth.revoke(app, accessToken);
    expect([status, body, headers.get('cache-control')]).toEqual([200, null, 'no-store']);
    expect(await me(accessToken)).toBe(401);
    expect(refusal(await oauth.refresh(app, refreshToken))).toEqual(INVALID_GRANT);
  });

  it('[OAUTH-08] [case 83] [case 84] by a refresh token does the same, whatever the hint, and again', async () => {
    const { access_token: accessToken, refresh_token: refreshToken } = await connect();
    for (let i = 0; i < 2; i += 1) {
      const { status, body } = await oauth.revoke(app, refreshToken, { token_type_hint: 'access_token' });
      expect([status, body]).toEqual([200, null]);
    }
    expect(await me(accessToken)).toBe(401);
    expect(refusal(await oauth.refresh(app, refreshToken))).toEqual(INVALID_GRANT);
  });

  it('by a refresh token that was used before ends the family', async () => {
    const first = await connect();
    const { body: second } = await oauth.refresh(app, first.refresh_token);
    await oauth.revoke(app, first.refresh_token);
    expect(await me(second.access_token)).toBe(401);
    expect(refusal(await oauth.refresh(app, second.refresh_token))).toEqual(INVALID_GRANT);
  });

  it('[case 82] by anything else is answered in the same way, and nothing happens', async () => {
    const tokens = await connect();
    const [head, payload, signature = ''] = tokens.access_token.split('.');
    const forged = [head, payload, signature.replace(/^./, (c: string) => (c === 'A' ? 'B' : 'A'))].join('.');
    const stranger = await oauth.client();
    for (const [client, token] of [
      [app, ada.pat],
      [app, ada.session],
      [app, 'garbage'],
      [app, forged],
      [stranger, tokens.access_token],
      [stranger, tokens.refresh_token],
    ] as const) {
      const { status, body } = await oauth.revoke(client, token);
      expect([status, body]).toEqual([200, null]);
    }
    for (const token of [tokens.access_token, ada.pat]) expect(await me(token)).toBe(200);
    expect((await oauth.refresh(app, tokens.refresh_token)).status).toBe(200);
  });

  it('by an access token that has expired does nothing', async () => {
    const { access_token: accessToken, refresh_token: refreshToken } = await connect();
    await identity.clock.advance(3_600_000);
    expect((await oauth.revoke(app, accessToken)).status).toBe(200);
    expect((await oauth.refresh(app, refreshToken)).status).toBe(200);
  });

  it('[case 85] without a token is refused, and so is one of a client that is not proven', async () => {
    expect(refusal(await oauth.revoke(app, ''))).toEqual([400, 'invalid_request']);
    const { access_token: accessToken } = await connect();
    expect(refusal(await oauth.revoke({ id: 'nobody', secret: null }, accessToken))).toEqual([401, 'invalid_client']);
    expect(await me(accessToken)).toBe(200);
  });

  it('[case 97] of one authorization leaves another one of the same app', async () => {
    const [one, other] = [await connect(), await connect()];
    await oauth.revoke(app, one.access_token);
    expect([await me(one.access_token), await me(other.access_token)]).toEqual([401, 200]);
    expect((await oauth.refresh(app, other.refresh_token)).status).toBe(200);
  });

  it('is not undone by the consent form that comes again', async () => {
    const client = { id: await register(identity), secret: null };
    const browser = aBrowser(identity, ada);
    const question = await browser.ask(client.id);
    const { code = '' } = told(await browser.answer(question));
    const { body } = await oauth.exchange(client, code);
    await oauth.revoke(client, body.refresh_token);
    expect((await browser.answer(question)).status).toBe(400);
    expect(await me(body.access_token)).toBe(401);
  });

  it('[case 75] that races a refresh on another replica leaves nothing alive, twenty-five times', async () => {
    const other = await startIdentity({ database: identity.database, clock: identity.clock });
    for (let i = 0; i < 25; i += 1) {
      app = await oauth.client();
      const first = await connect();
      const [refreshed, revoked] = await Promise.all([
        oauth.refresh(app, first.refresh_token),
        oauthAt(other).revoke(app, i % 2 ? first.refresh_token : first.access_token),
      ]);
      expect(revoked.status).toBe(200);
      const tokens = [first, ...(refreshed.status === 200 ? [refreshed.body] : [])];
      for (const { access_token: accessToken, refresh_token: refreshToken } of tokens) {
        expect(await me(accessToken)).toBe(401);
        expect(refusal(await oauth.refresh(app, refreshToken))).toEqual(INVALID_GRANT);
      }
    }
    await other.stop();
  });
});
