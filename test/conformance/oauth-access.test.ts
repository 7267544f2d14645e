import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { drawPkce } from '../support/oauth-user.ts';
import { type Answer, send } from './support/client.ts';
import {
  authorizationUrl,
  authorize,
  browserOf,
  exchange,
  type RegisteredApp,
  refresh,
  register,
  revoke,
  statusOf,
} from './support/oauth-scene.ts';
import { openWorld } from './support/open-world.ts';
import type { Person, World } from './support/world.ts';

let world: World;
let app: RegisteredApp;
beforeAll(async () => {
  world = await openWorld();
  app = await register(world);
});
afterAll(() => world.close());

const refusal = ({ status, json }: Answer) => [status, json.error];
const typeOf = ({ status, json }: Answer) => [status, json.error.type];

describe('section 5, what an access token is good for', () => {
  it('[OAUTH-11] [AUTH-06] [AUTH-09] only for what the user granted; the refusal says what is missing', async () => {
    const person = await world.user();
    const { access_token: token, scope } = await authorize(world, person, app, {
      press: 'allow',
      untick: ['webhooks:manage', 'bubbles:read'],
    });
    expect(scope).toBe('meetings:join');
    expect(await statusOf(world, token)).toBe(200);
    for (const [path, needed] of [
      ['/v1/bubbles', 'bubbles:read'],
      ['/v1/webhooks', 'webhooks:manage'],
    ] as const) {
      const answer = await send(world.baseUrl, path, { as: token });
      expect(typeOf(answer)).toEqual([403, 'forbidden']);
      const challenge = answer.headers.get('www-authenticate') ?? '';
      expect(challenge).toContain('error="insufficient_scope"');
      expect(challenge).toContain(`scope="${needed}"`);
    }
  });

  it('[OAUTH-11] scopes that the form never offered are not granted', async () => {
    const { verifier, challenge } = drawPkce();
    const browser = browserOf(world, await world.user());
    const page = await browser.open(authorizationUrl(world, app, { code_challenge: challenge, scope: 'bubbles:read' }));
    const [form] = page.forms;
    const box = form?.fields.find(({ type }) => type === 'checkbox');
    if (form === undefined || box === undefined) throw new Error(`no form: ${page.html}`);
    const smuggled = { ...box, value: 'webhooks:manage', sent: true };
    const { url } = await browser.submit(page, { press: 'allow' }, { ...form, fields: [...form.fields, smuggled] });
    const granted = await exchange(world, { app, verifier, code: url.searchParams.get('code') ?? '' });
    expect(granted.json.scope).toBe('bubbles:read');
  });

  it('[AUTH-02] an OAuth token manages no keys', async () => {
    const { access_token: token } = await authorize(world, await world.user(), app);
    for (const method of ['GET', 'POST'])
      expect(
        typeOf(await send(world.baseUrl, '/v1/api-keys', { method, as: token, ...(method === 'POST' && { body: { name: 'a' } }) })),
      ).toEqual([401, 'unauthorized']);
  });

  it.each(['disabled', 'deleted'] as const)('[AUTH-05] the tokens of a %s account are refused at once, revoked ones too', async (state) => {
    const person = await world.user();
    const [live, revoked] = [await authorize(world, person, app), await authorize(world, person, app)];
    await revoke(world, app, revoked.refresh_token);
    await world.setState(person.id, state);
    for (const { access_token: as } of [live, revoked])
      for (const path of ['/v1/me', '/v1/bubbles', '/v1/webhooks', '/v1/api-keys'])
        expect(typeOf(await send(world.baseUrl, path, { as }))).toEqual([401, 'account_deleted']);
    expect(refusal(await refresh(world, app, live.refresh_token))).toEqual([400, 'invalid_grant']);
  });

  it('[AUTH-05] the grants of an account that was disabled live again with it', async () => {
    const person = await world.user();
    const tokens = await authorize(world, person, app);
    await world.setState(person.id, 'disabled');
    expect(refusal(await refresh(world, app, tokens.refresh_token))).toEqual([400, 'invalid_grant']);
    await world.setState(person.id, 'active');
    expect((await refresh(world, app, tokens.refresh_token)).status).toBe(200);
  });

  it('[RATE-04] a refresh does not renew the budget of requests', async () => {
    const tokens = await authorize(world, await world.user(), app);
    await Promise.all(Array.from({ length: 120 }, () => statusOf(world, tokens.access_token)));
    const fresh = await refresh(world, app, tokens.refresh_token);
    expect(await statusOf(world, fresh.json.access_token)).toBe(429);
  });

  it('[AUTH-01] [ERR-04] forged tokens are refused with the challenge', async () => {
    const { access_token: token } = await authorize(world, await world.user(), app);
    const [header = '', payload = '', signature = ''] = token.split('.');
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
    const head = JSON.parse(Buffer.from(header, 'base64url').toString());
    const forged = [
      `${header}.${encode({ ...claims, sub: 'somebody else' })}.${signature}`,
      `${encode({ ...head, alg: 'none' })}.${payload}.`,
      `${encode({ ...head, alg: 'HS256' })}.${payload}.${signature}`,
      `${encode({ ...head, kid: 'unknown' })}.${payload}.${signature}`,
      `${header}.${payload}.${signature.slice(0, -4)}AAAA`,
    ];
    for (const as of forged) {
      const answer = await send(world.baseUrl, '/v1/me', { as });
      expect(typeOf(answer)).toEqual([401, 'unauthorized']);
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer .*resource_metadata="[^"]+\/\.well-known\/oauth-protected-resource"/);
    }
  });
});

describe('cookies', () => {
  const cookieOf = ({ session_token: token }: Person) => ({ cookie: `session=${token}; __Host-session=${token}` });

  it('[AUTH-08] none is read on /v1, and none is set there', async () => {
    const person = await world.user();
    for (const path of ['/v1/me', '/v1/api-keys', '/v1/bubbles', '/v1/webhooks']) {
      const answer = await send(world.baseUrl, path, { headers: cookieOf(person) });
      expect(typeOf(answer)).toEqual([401, 'unauthorized']);
      expect(answer.headers.getSetCookie()).toEqual([]);
    }
    const made = await send(world.baseUrl, '/v1/api-keys', { method: 'POST', body: { name: 'a' }, headers: cookieOf(person) });
    expect(typeOf(made)).toEqual([401, 'unauthorized']);
  });

  it('[AUTH-02] [AUTH-10] what a browser holds as its session is the session token of the interface', async () => {
    const person = await world.user();
    expect((await browserOf(world, person).open(`${world.baseUrl}/app/api-keys`)).status).toBe(200);
    expect(await statusOf(world, person.session_token, '/v1/api-keys')).toBe(200);
  });
});
