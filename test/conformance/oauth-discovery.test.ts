import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Answer, send } from './support/client.ts';
import { CALLBACK, post, register, SCOPES } from './support/oauth-scene.ts';
import { openWorld } from './support/open-world.ts';
import type { World } from './support/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const read = async (path: string): Promise<Answer> => {
  const answer = await send(world.baseUrl, path);
  expect([path, answer.status]).toEqual([path, 200]);
  return answer;
};

describe('section 5, discovery', () => {
  it('[OAUTH-01] the authorization server says where everything is', async () => {
    const { json } = await read('/.well-known/oauth-authorization-server');
    const { issuer } = json;
    expect(issuer).not.toMatch(/\/$/);
    expect(json).toMatchObject({
      authorization_endpoint: `${issuer}/oauth/authorize`,
      token_endpoint: `${issuer}/oauth/token`,
      registration_endpoint: `${issuer}/oauth/register`,
      revocation_endpoint: `${issuer}/oauth/revoke`,
      jwks_uri: `${issuer}/oauth/jwks`,
      response_types_supported: ['code'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      code_challenge_methods_supported: ['S256'],
      scopes_supported: [...SCOPES],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
    });
    expect((await read('/.well-known/openid-configuration')).json).toEqual(json);
  });

  it.each(['', '/v1', '/mcp'])('[OAUTH-02] the protected-resource document of the API%s leads there (RFC 9728)', async (variant) => {
    const { json, headers } = await read(`/.well-known/oauth-protected-resource${variant}`);
    const { issuer } = (await read('/.well-known/oauth-authorization-server')).json;
    expect(json).toMatchObject({ authorization_servers: [issuer], scopes_supported: [...SCOPES], bearer_methods_supported: ['header'] });
    expect([issuer, `${issuer}${variant}`]).toContain(json.resource);
    expect(headers.get('cache-control')).toMatch(/max-age=\d+/);
  });

  it('[OAUTH-01] [API-02] a forged host reaches no address in it', async () => {
    const { json } = await read('/.well-known/oauth-authorization-server');
    for (const headers of [{ 'x-forwarded-host': 'evil.example' }, { forwarded: 'host=evil.example' }, { 'x-forwarded-proto': 'gopher' }])
      expect((await send(world.baseUrl, '/.well-known/oauth-authorization-server', { headers })).json).toEqual(json);
  });

  it('[OAUTH-09] the key set has the public halves alone', async () => {
    const { json, headers } = await read('/oauth/jwks');
    expect(json.keys.length).toBeGreaterThan(0);
    for (const key of json.keys) {
      expect(key).toMatchObject({ kty: 'EC', crv: 'P-256', alg: 'ES256', use: 'sig', kid: expect.any(String) });
      for (const secret of ['d', 'k', 'p', 'q', 'dp', 'dq', 'qi']) expect(key).not.toHaveProperty(secret);
    }
    expect(headers.get('cache-control')).toBe('public, max-age=300');
    expect(headers.get('content-type')).toMatch(/^application\/jwk-set\+json/);
  });
});

describe('section 5, registration', () => {
  it('[OAUTH-03] a public client gets an id and no secret', async () => {
    const body = {
      client_name: 'Notes on the side',
      redirect_uris: [CALLBACK, 'cursor://anysphere.cursor/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    };
    const { status, json, headers } = await send(world.baseUrl, '/oauth/register', { method: 'POST', body });
    expect(status).toBe(201);
    expect(json).toMatchObject({ ...body, client_id: expect.any(String), scope: SCOPES.join(' ') });
    expect(Math.abs(json.client_id_issued_at - Date.now() / 1000)).toBeLessThan(3600);
    expect(json).not.toHaveProperty('client_secret');
    expect(headers.get('cache-control')).toBe('no-store');
  });

  it('[OAUTH-03] a confidential client gets a secret too, once', async () => {
    const app = await register(world, { token_endpoint_auth_method: 'client_secret_basic' });
    expect(app).toMatchObject({ client_secret: expect.stringMatching(/^[\w-]{32,}$/), client_secret_expires_at: 0 });
    const { registration_client_uri: uri, registration_access_token: token } = { ...app } as unknown as Record<string, string>;
    const shown = await send('', uri ?? '', { as: token });
    expect(shown.status).toBe(200);
    expect(shown.json).toMatchObject({ client_id: app.client_id, redirect_uris: [CALLBACK] });
  });

  it('[OAUTH-03] a client that deletes its registration is unknown at once', async () => {
    const app = await register(world);
    const { registration_client_uri: uri, registration_access_token: token } = { ...app } as unknown as Record<string, string>;
    expect((await send('', uri ?? '', { method: 'DELETE', as: token })).status).toBe(204);
    expect((await send('', uri ?? '', { as: token })).status).toBe(401);
    const answer = await post(world, '/oauth/token', { grant_type: 'refresh_token', refresh_token: 'x', client_id: app.client_id });
    expect([answer.status, answer.json.error]).toEqual([401, 'invalid_client']);
  });
});

describe('section 7, errors of the OAuth endpoints', () => {
  let clientId: string;
  beforeAll(async () => {
    clientId = (await register(world)).client_id;
  });
  const token = (fields: Readonly<Record<string, string>>) => post(world, '/oauth/token', { client_id: clientId, ...fields });
  const registration = (body: unknown) => send(world.baseUrl, '/oauth/register', { method: 'POST', body });

  it.each<readonly [string, number, string, () => Promise<Answer>]>([
    ['a grant type that there is not', 400, 'unsupported_grant_type', () => token({ grant_type: 'password' })],
    ['no grant type', 400, 'invalid_request', () => token({})],
    ['an unknown refresh token', 400, 'invalid_grant', () => token({ grant_type: 'refresh_token', refresh_token: 'unknown' })],
    ['an unknown client', 401, 'invalid_client', () => token({ grant_type: 'refresh_token', refresh_token: 'x', client_id: 'unknown' })],
    ['JSON where a form is asked for', 400, 'invalid_request', () => send(world.baseUrl, '/oauth/token', { method: 'POST', body: {} })],
    ['a body over 32 KiB', 413, 'invalid_request', () => token({ grant_type: 'x'.repeat(33 * 1024) })],
    ['a revocation of nothing', 400, 'invalid_request', () => post(world, '/oauth/revoke', { client_id: clientId })],
    ['broken JSON', 400, 'invalid_request', () => registration('{')],
    ['plain http to a public host', 400, 'invalid_redirect_uri', () => registration({ redirect_uris: ['http://public.example/'] })],
    [
      'a name that is too long',
      400,
      'invalid_client_metadata',
      () => registration({ redirect_uris: [CALLBACK], client_name: 'x'.repeat(81) }),
    ],
  ])('[ERR-06] %s: %d %s, in the form of RFC 6749', async (_what, status, error, ask) => {
    const answer = await ask();
    expect([answer.status, answer.json?.error]).toEqual([status, error]);
    expect(Object.keys(answer.json).toSorted()).toEqual(['error', 'error_description']);
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });
});

describe('other origins', () => {
  const ORIGIN = { origin: 'https://a-browser-app.example' };
  const OPEN = [
    ['GET', '/.well-known/oauth-authorization-server'],
    ['GET', '/.well-known/oauth-protected-resource'],
    ['GET', '/.well-known/oauth-protected-resource/mcp'],
    ['GET', '/oauth/jwks'],
    ['POST', '/oauth/register'],
    ['POST', '/oauth/token'],
    ['POST', '/oauth/revoke'],
  ] as const;

  it.each(OPEN)(
    '[OAUTH-05] [GEN-11] %s %s may be asked by a page from elsewhere, refusals too, without credentials',
    async (method, path) => {
      const answer = await send(world.baseUrl, path, { method, headers: ORIGIN, ...(method === 'POST' && { body: '{' }) });
      expect(answer.headers.get('access-control-allow-origin')).toBe('*');
      expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
      const asked = { 'access-control-request-method': method, 'access-control-request-headers': 'authorization,mcp-protocol-version' };
      const preflight = await send(world.baseUrl, path, { method: 'OPTIONS', headers: { ...ORIGIN, ...asked } });
      expect(preflight.status).toBe(204);
      expect(preflight.headers.get('access-control-allow-origin')).toBe('*');
      expect(preflight.headers.get('access-control-allow-methods')).toContain(method);
      expect(preflight.headers.get('access-control-allow-headers')?.toLowerCase()).toMatch(/authorization.*mcp-protocol-version|\*/);
    },
  );

  it.each(['/oauth/authorize', '/app/sign-in', '/app/api-keys', '/app/sessions'])('%s may not', async (path) => {
    const answer = await send(world.baseUrl, path, { headers: ORIGIN });
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
    const asked = { ...ORIGIN, 'access-control-request-method': 'POST' };
    const preflight = await send(world.baseUrl, path, { method: 'OPTIONS', headers: asked });
    expect(preflight.headers.get('access-control-allow-origin')).toBeNull();
  });
});
