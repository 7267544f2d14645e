import { indexedCollections } from '@bubbles/store/indexed-collections.ts';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openGrants } from '../src/adapters/store/grants.ts';
import { openOAuthClients } from '../src/adapters/store/oauth-clients.ts';
import { hashToken } from '../src/domain/token.ts';
import { AT, aGrant } from './builders.ts';
import { startIdentity, type TestIdentity } from './identity.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const REDIRECT = 'https://app.test/cb';

describe('the registration of OAuth clients', () => {
  let identity: TestIdentity;
  beforeEach(async () => {
    identity = await startIdentity();
  });
  afterEach(() => identity.stop());

  const register = (fields: object = {}, headers: Readonly<Record<string, string>> = {}) =>
    identity.as(null, headers)('POST', '/oauth/register', { redirect_uris: [REDIRECT], ...fields });
  const manage = (method: string, { client_id, registration_access_token }: Readonly<Record<string, string>>, body?: object) =>
    identity.as(registration_access_token ?? null)(method, `/oauth/register/${client_id}`, body);
  const stored = () => openOAuthClients(indexedCollections(identity.database).open);
  const grants = () => openGrants(indexedCollections(identity.database).open).grants;

  it('[OAUTH-03] [case 58] [case 92] answers with all that the app has to know, its secret once', async () => {
    const { status, headers, body } = await register({ client_name: 'Notes', client_uri: 'https://app.test/' });
    expect([status, headers.get('cache-control'), headers.get('pragma')]).toEqual([201, 'no-store', 'no-cache']);
    expect(body).toEqual({
      client_id: expect.stringMatching(/^[\w-]{32}$/),
      client_id_issued_at: AT.getTime() / 1000,
      client_name: 'Notes',
      redirect_uris: [REDIRECT],
      token_endpoint_auth_method: 'client_secret_basic',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      scope: 'bubbles:read webhooks:manage meetings:join',
      client_uri: 'https://app.test/',
      client_secret: expect.stringMatching(/^svc_secret_[\w-]{43}$/),
      client_secret_expires_at: 0,
      registration_client_uri: `https://api.test/oauth/register/${body.client_id}`,
      registration_access_token: expect.stringMatching(/^svc_registration_[\w-]{43}$/),
    });
    expect(await stored().get(body.client_id)).toMatchObject({
      secretHash: hashToken(body.client_secret),
      registrationTokenHash: hashToken(body.registration_access_token),
    });
    expect(JSON.stringify(await identity.database.collection('oauth_clients').find({}))).not.toMatch(/svc_/);
  });

  it('[OAUTH-03] a public client has no secret', async () => {
    const { body } = await register({ token_endpoint_auth_method: 'none' });
    expect(body).toMatchObject({ token_endpoint_auth_method: 'none', client_name: 'Unnamed app' });
    expect(body).not.toHaveProperty('client_secret');
    expect(body).not.toHaveProperty('client_secret_expires_at');
  });

  it('[case 31] no header of the request reaches the answer', async () => {
    const { body } = await register({}, { 'x-forwarded-host': 'evil.test', 'x-forwarded-proto': 'http', forwarded: 'host=evil.test' });
    expect(body.registration_client_uri).toMatch(/^https:\/\/api\.test\/oauth\/register\//);
  });

  it.each([
    ['a name of 10,000 characters', { client_name: 'a'.repeat(10_000) }, 400, 'invalid_client_metadata'],
    ['500 redirect URIs', { redirect_uris: Array.from({ length: 500 }, (_, n) => `${REDIRECT}${n}`) }, 400, 'invalid_redirect_uri'],
    ['a body of 2 MB', { client_name: 'a'.repeat(2_000_000) }, 413, 'invalid_request'],
    ['a body of more than 32 KiB', { client_name: 'a'.repeat(32 * 1024) }, 413, 'invalid_request'],
    ['no redirect URI', { redirect_uris: undefined }, 400, 'invalid_redirect_uri'],
  ])('[case 52] [ERR-06] %s', async (_what, fields, status, error) => {
    const answer = await register(fields);
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([status, 'no-store']);
    expect(answer.body).toEqual({ error, error_description: expect.any(String) });
  });

  it.each([
    ['a form', 'application/x-www-form-urlencoded', 'redirect_uris=a'],
    ['no media type', '', '{}'],
    ['broken JSON', 'application/json', '{"redirect_uris":'],
    ['a list', 'application/json', '[]'],
    ['text', 'application/json', '"a"'],
    ['null', 'application/json', 'null'],
    ['bytes', 'application/json', '\0\u0001'],
  ])('[case 54] %s is refused in JSON', async (_what, type, body) => {
    const response = await identity.fetch('/oauth/register', { method: 'POST', headers: { 'content-type': type }, body });
    expect([response.status, response.headers.get('content-type')]).toEqual([400, 'application/json; charset=utf-8']);
    expect(await response.json()).toEqual({ error: 'invalid_request', error_description: expect.any(String) });
  });

  it('[case 55] the app chooses neither its id nor its secret', async () => {
    const chosen = { client_id: 'mine', client_secret: 'mine', registration_access_token: 'mine', client_id_issued_at: 1 };
    const { body } = await register(chosen);
    expect(Object.values(body)).not.toContain('mine');
    expect(body.client_id_issued_at).toBe(AT.getTime() / 1000);
    expect(await stored().get('mine')).toBeNull();
  });

  it('[case 51] [case 56] URIs of logos, keys and sectors are neither kept nor fetched', async () => {
    const { body } = await register({
      logo_uri: 'data:text/html,<script>1</script>',
      jwks_uri: 'https://app.test/probe',
      sector_identifier_uri: 'https://app.test/probe',
      contacts: ['a@app.test'],
      __proto__: { a: 1 },
    });
    for (const field of ['logo_uri', 'jwks_uri', 'sector_identifier_uri', 'contacts']) expect(body).not.toHaveProperty(field);
    expect(JSON.stringify(await stored().get(body.client_id))).not.toMatch(/probe|script|contacts/);
  });

  it('[case 53] one address registers 60 at once and 20 a minute; another one goes on', async () => {
    const from = (address: string) => register({}, { 'x-forwarded-for': address });
    const statuses = await Promise.all(Array.from({ length: 61 }, async () => (await from('203.0.113.7')).status));
    expect(statuses.filter((status) => status === 201)).toHaveLength(60);
    const refused = await from('203.0.113.7');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '180']);
    expect(refused.body).toEqual({ error: 'rate_limited', error_description: expect.stringContaining('180 s') });
    expect((await from('203.0.113.8')).status).toBe(201);
    await identity.clock.advance(180_000);
    expect((await from('203.0.113.7')).status).toBe(201);
  });

  it('[case 53] addresses of one IPv6 /64 count as one', async () => {
    const statuses: number[] = [];
    for (let n = 0; n < 61; n += 1) statuses.push((await register({}, { 'x-forwarded-for': `2001:db8::${n}` })).status);
    expect(statuses.filter((status) => status === 429)).toHaveLength(1);
  });

  it('reads a registration with its token, without the secret', async () => {
    const { body } = await register();
    const { client_secret, client_secret_expires_at, ...known } = body;
    const read = await manage('GET', body);
    expect([read.status, read.body, read.headers.get('cache-control')]).toEqual([200, known, 'no-store']);
  });

  it('replaces a registration, and makes or forgets the secret with the way in which the client proves itself', async () => {
    const { body } = await register({ client_name: 'Notes', scope: 'bubbles:read' });
    const fields = { client_id: body.client_id, redirect_uris: ['cursor://app/cb'] };
    const kept = await manage('PUT', body, { ...fields, client_secret: body.client_secret });
    expect(kept.status).toBe(200);
    expect(kept.body).toMatchObject({ client_name: 'Unnamed app', redirect_uris: ['cursor://app/cb'] });
    expect(kept.body).not.toHaveProperty('client_secret');
    expect((await stored().get(body.client_id))?.secretHash).toBe(hashToken(body.client_secret));
    await manage('PUT', body, { ...fields, token_endpoint_auth_method: 'none' });
    expect((await stored().get(body.client_id))?.secretHash).toBeNull();
    const made = await manage('PUT', body, { ...fields, token_endpoint_auth_method: 'client_secret_post' });
    expect(made.body.client_secret).not.toBe(body.client_secret);
    expect((await stored().get(body.client_id))?.secretHash).toBe(hashToken(made.body.client_secret));
    expect((await manage('GET', body)).body).toMatchObject({ client_id_issued_at: body.client_id_issued_at, client_name: 'Unnamed app' });
  });

  it.each([
    ['another id', { client_id: 'other' }, 'invalid_client_metadata'],
    ['no id', { client_id: undefined }, 'invalid_client_metadata'],
    ['another secret', { client_secret: 'other' }, 'invalid_client_metadata'],
    ['a secret that is no text', { client_secret: 1 }, 'invalid_client_metadata'],
    ['a bad redirect URI', { redirect_uris: ['http://app.test'] }, 'invalid_redirect_uri'],
  ])('changes nothing with %s', async (_what, fields, error) => {
    const { body } = await register();
    const before = await stored().get(body.client_id);
    const answer = await manage('PUT', body, { client_id: body.client_id, redirect_uris: [REDIRECT], client_name: 'Other', ...fields });
    expect([answer.status, answer.body.error]).toEqual([400, error]);
    expect(await stored().get(body.client_id)).toEqual(before);
  });

  it("[case 59] deleting a client ends its grants and its registration token at once, and nobody else's", async () => {
    const { body } = await register();
    await grants().insert(aGrant({ clientId: body.client_id }));
    await grants().insert(aGrant({ id: 'other', clientId: 'other' }));
    expect((await manage('DELETE', body)).status).toBe(204);
    expect([await grants().get('grant-1'), (await grants().get('other'))?.id]).toEqual([null, 'other']);
    for (const method of ['GET', 'DELETE']) expect((await manage(method, body)).status).toBe(401);
    expect((await manage('PUT', body, { client_id: body.client_id, redirect_uris: [REDIRECT] })).status).toBe(401);
    expect(await stored().get(body.client_id)).toBeNull();
  });

  it('[case 60] the registration token of another client is refused as of one that is not there', async () => {
    const [{ body: one }, { body: other }] = [await register(), await register()];
    const answers = [
      await manage('GET', { ...one, registration_access_token: other.registration_access_token }),
      await manage('GET', { ...one, client_id: 'nobody' }),
      await manage('DELETE', { ...one, registration_access_token: one.client_secret }),
      await manage(
        'PUT',
        { ...one, registration_access_token: other.registration_access_token },
        { client_id: one.client_id, redirect_uris: [REDIRECT] },
      ),
    ];
    const error_description = 'The registration token is missing or not one of this client.';
    for (const { status, body } of answers) expect([status, body]).toEqual([401, { error: 'invalid_token', error_description }]);
    for (const { headers } of answers) expect(headers.get('www-authenticate')).toBe('Bearer error="invalid_token"');
    const without = await identity.as(null)('GET', `/oauth/register/${one.client_id}?a=/b`);
    expect([without.status, without.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    expect((await manage('GET', one)).status).toBe(200);
  });

  it('[case 53] forgets who was never allowed anything after 7 days', async () => {
    const { body: old } = await register();
    await identity.clock.advance(6 * DAY_MS);
    const { body: recent } = await register();
    await stored().noteAuthorized(recent.client_id, identity.clock.now());
    await identity.runJob('sweep-clients');
    expect((await manage('GET', old)).status).toBe(200);
    await identity.clock.advance(DAY_MS + 1);
    await identity.runJob('sweep-clients');
    expect([(await manage('GET', old)).status, (await manage('GET', recent)).status]).toEqual([401, 200]);
  });

  it('[case 53] forgets who has had no grant for 180 days, and nobody who has one', async () => {
    const [{ body: unused }, { body: used }] = [await register(), await register()];
    for (const { client_id } of [unused, used]) await stored().noteAuthorized(client_id, AT);
    await grants().insert(aGrant({ clientId: used.client_id }));
    await identity.clock.advance(180 * DAY_MS + 1);
    await identity.runJob('sweep-clients');
    expect([(await manage('GET', unused)).status, (await manage('GET', used)).status]).toEqual([401, 200]);
    await grants().end('grant-1');
    await identity.clock.advance(180 * DAY_MS);
    await identity.runJob('sweep-clients');
    expect((await manage('GET', used)).status).toBe(200);
    await identity.clock.advance(1);
    await identity.runJob('sweep-clients');
    expect((await manage('GET', used)).status).toBe(401);
  });
});
