import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { allowInsecureRequests, validateJwtAccessToken } from 'oauth4webapi';
import { createFormBrowser } from '../support/form-browser.ts';
import { drawPkce } from '../support/oauth-user.ts';
import { type Answer, send } from './support/client.ts';
import {
  authorizationUrl,
  authorize,
  browserOf,
  CALLBACK,
  comeBack,
  consent,
  DENY,
  exchange,
  post,
  type RegisteredApp,
  refresh,
  register,
  revoke,
  SCOPES,
  statusOf,
} from './support/oauth-scene.ts';
import { openWorld } from './support/open-world.ts';
import type { World } from './support/world.ts';

let world: World;
let app: RegisteredApp;
beforeAll(async () => {
  world = await openWorld();
  app = await register(world, { client_name: 'Minutes & more' });
});
afterAll(() => world.close());

const refusal = ({ status, json }: Answer) => [status, json.error];
const typeOf = ({ status, json }: Answer) => [status, json.error.type];
const challenged = (fields: Readonly<Record<string, string>> = {}) =>
  authorizationUrl(world, app, { code_challenge: drawPkce().challenge, ...fields });

describe('section 5, authorization', () => {
  it('[OAUTH-05] the consent page names the app, where it leads and the scopes; the app gets a code, the state and the issuer', async () => {
    const person = await world.user();
    const state = 'a+b %2B/=&~é "<';
    const browser = browserOf(world, person);
    const page = await browser.open(challenged({ state }));
    expect(page.status).toBe(200);
    for (const shown of ['Minutes &amp; more', new URL(CALLBACK).host, ...SCOPES]) expect(page.html).toContain(shown);
    const back = await consent(browser, challenged({ state }));
    expect(`${back.origin}${back.pathname}`).toBe(CALLBACK);
    const { issuer } = (await send(world.baseUrl, '/.well-known/oauth-authorization-server')).json;
    expect(Object.fromEntries(back.searchParams)).toEqual({ code: expect.stringMatching(/^[\w-]{40,}$/), state, iss: issuer });
  });

  it('[OAUTH-05] a user who says no sends the app away with access_denied', async () => {
    const back = await consent(browserOf(world, await world.user()), challenged(), DENY);
    expect(Object.fromEntries(back.searchParams)).toMatchObject({
      error: 'access_denied',
      state: 'state of the app',
      iss: expect.any(String),
    });
    expect(back.searchParams.has('code')).toBe(false);
  });

  it('[OAUTH-05] who is not signed in is asked to sign in first', async () => {
    const page = await createFormBrowser().open(challenged());
    expect([page.status, page.url.pathname]).toEqual([200, '/app/sign-in']);
    expect(page.forms.some(({ fields }) => fields.some(({ type }) => type === 'email'))).toBe(true);
  });

  it.each([
    ['no challenge', { code_challenge: '' }],
    ['the method plain', { code_challenge_method: 'plain' }],
    ['no method, which means plain', { code_challenge_method: '' }],
    ['a challenge that is no SHA-256', { code_challenge: 'short' }],
  ])('[OAUTH-04] %s: the app is told, the user is not asked', async (_what, fields) => {
    const back = await consent(createFormBrowser(), challenged(fields));
    expect(Object.fromEntries(back.searchParams)).toMatchObject({ error: 'invalid_request', state: 'state of the app' });
  });

  it('[OAUTH-05] an address that the app has not registered is never led to', async () => {
    for (const fields of [{ redirect_uri: 'https://evil.example/' }, { redirect_uri: `${CALLBACK}/more` }, { client_id: 'unknown' }]) {
      const page = await createFormBrowser().open(challenged(fields));
      expect([page.status, page.url.host]).toEqual([400, new URL(world.baseUrl).host]);
      expect(page.headers.get('content-type')).toMatch(/^text\/html/);
    }
  });
});

describe('section 5, tokens', () => {
  it('[OAUTH-06] [OAUTH-09] an access token is a JWT that anybody verifies with the key set', async () => {
    const person = await world.user();
    const answer = await exchange(world, await comeBack(world, person, app));
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({
      access_token: expect.any(String),
      token_type: 'Bearer',
      expires_in: 3600,
      refresh_token: expect.any(String),
      scope: SCOPES.join(' '),
    });
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const server = (await send(world.baseUrl, '/.well-known/oauth-authorization-server')).json;
    const { access_token: token } = answer.json;
    const request = new Request(`${world.baseUrl}/v1/me`, { headers: { authorization: `Bearer ${token}` } });
    const claims = await validateJwtAccessToken(server, request, server.issuer, { [allowInsecureRequests]: true });
    expect(claims).toMatchObject({ sub: person.id, client_id: app.client_id, scope: SCOPES.join(' '), jti: expect.any(String) });
    // Both are whole seconds: it lives as long as `expires_in` says, and less than a second more.
    expect([3600, 3601]).toContain(claims.exp - claims.iat);
    const header = JSON.parse(Buffer.from(token.split('.')[0], 'base64url').toString());
    expect(header).toEqual({ alg: 'ES256', typ: 'at+jwt', kid: expect.any(String) });
    expect((await send(world.baseUrl, '/v1/me', { as: token })).json.id).toBe(person.id);
  });

  it('[OAUTH-06] a code is good once: its second use is refused and ends all that came of the first', async () => {
    const back = await comeBack(world, await world.user(), app);
    const { json } = await exchange(world, back);
    expect(await statusOf(world, json.access_token)).toBe(200);
    expect(refusal(await exchange(world, back))).toEqual([400, 'invalid_grant']);
    expect(typeOf(await send(world.baseUrl, '/v1/me', { as: json.access_token }))).toEqual([401, 'unauthorized']);
    expect(refusal(await refresh(world, app, json.refresh_token))).toEqual([400, 'invalid_grant']);
  });

  it('[OAUTH-06] a code asks for its own client, address and verifier; a failure does not use it up', async () => {
    const other = await register(world);
    const back = await comeBack(world, await world.user(), app);
    for (const fields of [
      { client_id: other.client_id },
      { redirect_uri: `${CALLBACK}?x` },
      { code_verifier: drawPkce().verifier },
      { code: `${back.code}x` },
    ])
      expect(refusal(await exchange(world, back, fields))).toEqual([400, 'invalid_grant']);
    expect((await exchange(world, back)).status).toBe(200);
  });

  it('[OAUTH-06] of ten uses of a code at once one wins, and nothing survives the others', async () => {
    const back = await comeBack(world, await world.user(), app);
    const answers = await Promise.all(Array.from({ length: 10 }, () => exchange(world, back)));
    const won = answers.filter(({ status }) => status === 200);
    expect(won).toHaveLength(1);
    expect(await statusOf(world, won[0]?.json.access_token)).toBe(401);
  });

  it('[OAUTH-03] [OAUTH-06] a confidential client proves itself', async () => {
    const secretive = await register(world, { token_endpoint_auth_method: 'client_secret_basic' });
    const back = await comeBack(world, await world.user(), secretive);
    const basic = (secret: string) => ({ authorization: `Basic ${btoa(`${secretive.client_id}:${secret}`)}` });
    const ask = (headers: Readonly<Record<string, string>>, fields: Readonly<Record<string, string>> = {}) =>
      post(
        world,
        '/oauth/token',
        { grant_type: 'authorization_code', code: back.code, redirect_uri: CALLBACK, code_verifier: back.verifier, ...fields },
        headers,
      );
    const wrong = await ask(basic('wrong'));
    expect(refusal(wrong)).toEqual([401, 'invalid_client']);
    expect(wrong.headers.get('www-authenticate')).toMatch(/^Basic/);
    expect(refusal(await ask({}, { client_id: secretive.client_id }))).toEqual([401, 'invalid_client']);
    expect((await ask(basic(secretive.client_secret ?? ''))).status).toBe(200);
  });

  it('[OAUTH-07] a refresh gives a new refresh token, and the one that was sent is dead', async () => {
    const person = await world.user();
    const first = await authorize(world, person, app);
    const second = await refresh(world, app, first.refresh_token);
    expect(second.status).toBe(200);
    expect(second.json.refresh_token).not.toBe(first.refresh_token);
    expect(second.json.access_token).not.toBe(first.access_token);
    expect(refusal(await refresh(world, app, first.refresh_token))).toEqual([400, 'invalid_grant']);
    expect(await statusOf(world, second.json.access_token)).toBe(200);
    expect((await refresh(world, app, second.json.refresh_token)).status).toBe(200);
  });

  it('[OAUTH-07] of ten refreshes at once one wins, and the session goes on', async () => {
    const { refresh_token: token } = await authorize(world, await world.user(), app);
    const answers = await Promise.all(Array.from({ length: 10 }, () => refresh(world, app, token)));
    const won = answers.filter(({ status }) => status === 200);
    expect(won).toHaveLength(1);
    expect(await statusOf(world, won[0]?.json.access_token)).toBe(200);
    expect((await refresh(world, app, won[0]?.json.refresh_token)).status).toBe(200);
  });

  it('[OAUTH-07] [OAUTH-11] a refresh may ask for less, never for more, and the refresh token keeps all', async () => {
    const tokens = await authorize(world, await world.user(), app, { press: 'allow', untick: ['webhooks:manage'] });
    expect(tokens.scope).toBe('bubbles:read meetings:join');
    const more = await refresh(world, app, tokens.refresh_token, { scope: 'webhooks:manage' });
    expect(refusal(more)).toEqual([400, 'invalid_scope']);
    const less = await refresh(world, app, tokens.refresh_token, { scope: 'bubbles:read' });
    expect([less.status, less.json.scope]).toEqual([200, 'bubbles:read']);
    expect((await refresh(world, app, less.json.refresh_token)).json.scope).toBe('bubbles:read meetings:join');
  });

  it.each(['access_token', 'refresh_token'] as const)(
    '[OAUTH-08] revoking the %s ends both at once, other authorizations stay',
    async (kind) => {
      const person = await world.user();
      const [tokens, others] = [await authorize(world, person, app), await authorize(world, person, app)];
      const revoked = await revoke(world, app, tokens[kind]);
      expect([revoked.status, revoked.text]).toEqual([200, '']);
      expect(await statusOf(world, tokens.access_token)).toBe(401);
      expect(refusal(await refresh(world, app, tokens.refresh_token))).toEqual([400, 'invalid_grant']);
      expect(await statusOf(world, others.access_token)).toBe(200);
      expect((await revoke(world, app, tokens[kind])).status).toBe(200);
    },
  );

  it('[OAUTH-08] what is no token of this client is answered with 200 and nothing happens', async () => {
    const person = await world.user();
    const [tokens, other] = [await authorize(world, person, app), await register(world)];
    for (const token of ['unknown', 'a.b.c', person.pat, person.session_token]) expect((await revoke(world, app, token)).status).toBe(200);
    expect((await revoke(world, other, tokens.access_token)).status).toBe(200);
    expect((await revoke(world, other, tokens.refresh_token)).status).toBe(200);
    for (const token of [person.pat, tokens.access_token]) expect(await statusOf(world, token)).toBe(200);
    expect(await statusOf(world, person.session_token, '/v1/api-keys')).toBe(200);
  });
});
