import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { hook, PAT_CALLS, SESSION_CALLS } from './support/authenticated-calls.ts';
import { type Answer, type Call, send } from './support/client.ts';
import { openWorld } from './support/open-world.ts';
import type { OAuthScene, Person, World } from './support/world.ts';

const READ = 'bubbles:read';
const MANAGE = 'webhooks:manage';
const JOIN = 'meetings:join';
const SCOPES = [READ, MANAGE, JOIN];

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const call = (path: string, options: Call = {}) => send(world.baseUrl, path, options);
const refusal = ({ status, json }: Answer) => [status, json.error.type];
const proUser = async (): Promise<Person> => {
  const person = await world.user();
  await world.team({ name: 'Pro', plan: 'pro', members: [{ user_id: person.id, role: 'admin' }] });
  return person;
};
const form = (path: string, fields: Readonly<Record<string, string>>) =>
  call(path, {
    method: 'POST',
    body: String(new URLSearchParams(fields)),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
const revoke = ({ client_id }: OAuthScene, token: string) => form('/oauth/revoke', { client_id, token });
const refresh = ({ client_id, refresh_token }: OAuthScene) =>
  form('/oauth/token', { client_id, grant_type: 'refresh_token', refresh_token });

/** Null where no particular scope is needed. */
const scopeOf = (path: string): string | null => {
  if (path.startsWith('/v1/bubbles')) return READ;
  if (path.startsWith('/v1/meetings')) return JOIN;
  return path.startsWith('/v1/webhooks') ? MANAGE : null;
};

describe('section 5, access tokens', () => {
  it('[AUTH-02] [AUTH-09] pass on every data endpoint with its scope alone, and are refused where the app manages keys', async () => {
    const person = await proUser();
    for (const scope of SCOPES) {
      const { access_token: as } = await world.oauthToken(person.id, { scopes: [scope] });
      for (const [path, options] of PAT_CALLS) {
        const needed = scopeOf(path);
        const { status } = await call(path, { ...options, as });
        const passes = needed === null || needed === scope;
        expect([scope, path, options.method, passes ? [200, 201, 202, 204, 404].includes(status) : status]).toEqual([
          scope,
          path,
          options.method,
          passes || 403,
        ]);
      }
      for (const [path, options] of SESSION_CALLS) expect(refusal(await call(path, { ...options, as }))).toEqual([401, 'unauthorized']);
    }
  });

  it.each([
    ['meetings:join', [READ, MANAGE]],
    ['bubbles:read', [MANAGE, JOIN]],
  ])('[AUTH-06] [case 89] without the scope are refused with the one that is needed, beside %s', async (scope, absent) => {
    const person = await proUser();
    const { access_token: as } = await world.oauthToken(person.id, { scopes: [scope] });
    for (const [path, options] of PAT_CALLS) {
      const needed = scopeOf(path);
      if (needed === null || !absent.includes(needed)) continue;
      const answer = await call(path, { ...options, as });
      expect(refusal(answer)).toEqual([403, 'forbidden']);
      const challenge = answer.headers.get('www-authenticate');
      expect(challenge).toMatch(/^Bearer /);
      expect(challenge).toContain('error="insufficient_scope"');
      expect(challenge).toContain(`scope="${needed}"`);
    }
  });

  it('[case 90] that are none are refused with the way to get one, which pages of other origins can read', async () => {
    const person = await world.user();
    const { access_token } = await world.oauthToken(person.id);
    for (const path of ['/v1/me', '/v1/bubbles', '/v1/webhooks']) {
      const { status, headers } = await call(path, { as: `${access_token}x`, headers: { origin: 'https://app.example' } });
      expect([status, headers.get('access-control-allow-origin')]).toEqual([401, '*']);
      expect(headers.get('access-control-expose-headers')).toContain('WWW-Authenticate');
      const [, url = ''] = /resource_metadata="([^"]+)"/.exec(headers.get('www-authenticate') ?? '') ?? [];
      expect((await call(new URL(url).pathname)).json.scopes_supported).toEqual(SCOPES);
    }
  });

  it.each(['disabled', 'deleted'] as const)(
    '[AUTH-05] [case 96] of a %s account are refused on every endpoint as account_deleted, revoked ones too',
    async (state) => {
      const person = await proUser();
      const [live, revoked] = [await world.oauthToken(person.id), await world.oauthToken(person.id)];
      await revoke(revoked, revoked.access_token);
      expect(refusal(await call('/v1/me', { as: revoked.access_token }))).toEqual([401, 'unauthorized']);
      await world.setState(person.id, state);
      for (const { access_token: as } of [live, revoked])
        for (const [path, options] of [...PAT_CALLS, ...SESSION_CALLS])
          expect(refusal(await call(path, { ...options, as }))).toEqual([401, 'account_deleted']);
      const { status, json } = await refresh(live);
      expect([status, json.error]).toEqual([400, 'invalid_grant']);
    },
  );

  it('[AUTH-05] [case 96] of a disabled account work again when it does, refresh tokens too; those of a deleted one never', async () => {
    const person = await world.user();
    const scene = await world.oauthToken(person.id);
    await world.setState(person.id, 'disabled');
    await refresh(scene);
    await world.setState(person.id, 'active');
    expect((await call('/v1/me', { as: scene.access_token })).status).toBe(200);
    const { status, json } = await refresh(scene);
    expect([status, (await call('/v1/me', { as: json.access_token })).status]).toEqual([200, 200]);
    await world.setState(person.id, 'deleted');
    await world.setState(person.id, 'active');
    expect(refusal(await call('/v1/me', { as: json.access_token }))).toEqual([401, 'unauthorized']);
  });

  it.each(['access_token', 'refresh_token'] as const)(
    '[OAUTH-08] revoked by their %s are refused at the next request, on every endpoint',
    async (kind) => {
      const person = await proUser();
      const scene = await world.oauthToken(person.id);
      const { access_token: as } = scene;
      for (const path of ['/v1/me', '/v1/bubbles', '/v1/webhooks']) expect((await call(path, { as })).status).toBe(200);
      const answer = await revoke(scene, scene[kind]);
      expect([answer.status, answer.text]).toEqual([200, '']);
      for (const [path, options] of PAT_CALLS) expect(refusal(await call(path, { ...options, as }))).toEqual([401, 'unauthorized']);
      expect((await refresh(scene)).json.error).toBe('invalid_grant');
    },
  );

  it('[case 97] of another authorization of the same app stay when one is revoked', async () => {
    const person = await world.user();
    const one = await world.oauthToken(person.id);
    const other = await world.oauthToken(person.id, { client_id: one.client_id });
    await revoke(one, one.refresh_token);
    expect((await call('/v1/me', { as: one.access_token })).status).toBe(401);
    expect((await call('/v1/me', { as: other.access_token })).status).toBe(200);
  });

  it('[AUTH-02] make subscriptions as a key does, whose owner is the person', async () => {
    const person = await proUser();
    const { access_token } = await world.oauthToken(person.id, { scopes: [MANAGE] });
    const created = await call('/v1/webhooks', { ...hook, as: access_token });
    expect(created.status).toBe(201);
    expect((await call(`/v1/webhooks/${created.json.id}`, { as: person.pat })).status).toBe(200);
  });
});
