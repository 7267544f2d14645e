import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Person, startIdentity, type TestIdentity } from './identity.ts';
import { oauthAt } from './oauth.ts';

const ALL = ['bubbles:read', 'webhooks:manage', 'meetings:join'];
const REDIRECT = 'https://notes.test/callback';
const DOCUMENT_URL = 'https://notes.test/client.json?v=1';

let identity: TestIdentity;
let ada: Person;
beforeEach(async () => {
  identity = await startIdentity();
  ada = await identity.person();
});
afterEach(() => identity.stop());

const addClient = async (name = 'Notes') =>
  (await identity.admin('POST', 'clients', { client_name: name, redirect_uris: [REDIRECT] })).body.client_id;
const issue = (clientId: string, fields: object = {}) =>
  identity.admin('POST', `accounts/${ada.id}/grants`, { client_id: clientId, ...fields });
const me = async (token: string) => {
  const { status, body } = await identity.as(token)('GET', '/v1/me');
  return status === 200 ? 200 : body.error.type;
};
const grantsOf = async (id = ada.id) => (await identity.admin('GET', `accounts/${id}/grants`)).body.grants;

describe('an operator', () => {
  it('[OAUTH-06] grants a client access as if the user had consented', async () => {
    const client = await addClient();
    const { status, headers, body } = await issue(client, { scopes: ['bubbles:read'] });
    expect([status, headers.get('cache-control'), body.expires_in, body.scope]).toEqual([201, 'no-store', 3600, 'bubbles:read']);
    expect(body.grant).toEqual({
      id: expect.any(String),
      user_id: ada.id,
      client_id: client,
      client_name: 'Notes',
      scopes: ['bubbles:read'],
      created_at: '2026-03-01T10:00:00.000Z',
      expires_at: '2027-03-01T10:00:00.000Z',
      last_used_at: null,
    });
    expect(await me(body.access_token)).toBe(200);
    const refreshed = await oauthAt(identity).refresh({ id: client, secret: null }, body.refresh_token);
    expect([refreshed.status, refreshed.body.scope]).toEqual([200, 'bubbles:read']);
    expect((await issue(client)).body.scope).toBe(ALL.join(' '));
  });

  it('lists the grants of an account, newest first, with the last use of each within a minute', async () => {
    const client = await addClient();
    const first = (await issue(client)).body;
    await identity.clock.advance(60_000);
    const second = (await issue(client)).body;
    await me(first.access_token);
    await identity.settle();
    expect((await grantsOf()).map(({ id, last_used_at }: { id: string; last_used_at: string | null }) => [id, last_used_at])).toEqual([
      [second.grant.id, null],
      [first.grant.id, '2026-03-01T10:01:00.000Z'],
    ]);
    expect((await identity.admin('GET', 'accounts/nobody/grants')).status).toBe(404);
  });

  it('[case 97] ends one grant at the next request, and leaves another one of the same app', async () => {
    const client = await addClient();
    const [one, other] = [(await issue(client)).body, (await issue(client)).body];
    expect((await identity.admin('DELETE', `grants/${one.grant.id}`)).status).toBe(204);
    expect([await me(one.access_token), await me(other.access_token)]).toEqual(['unauthorized', 200]);
    expect((await oauthAt(identity).refresh({ id: client, secret: null }, one.refresh_token)).status).toBe(400);
    expect((await identity.admin('DELETE', `grants/${one.grant.id}`)).status).toBe(404);
  });

  it('[case 59] ends a client with all that was granted to it, and no other', async () => {
    const [client, other] = [await addClient(), await addClient('Other')];
    const [granted, kept] = [(await issue(client)).body, (await issue(other)).body];
    expect((await identity.admin('DELETE', `clients/${client}`)).status).toBe(204);
    expect([await me(granted.access_token), await me(kept.access_token)]).toEqual(['unauthorized', 200]);
    expect((await identity.admin('DELETE', `clients/${client}`)).status).toBe(404);
    expect((await issue(client)).status).toBe(404);
  });

  it('ends what was granted to a client that is described by the document at its URL', async () => {
    const oauth = oauthAt(identity);
    await oauth.code({ id: DOCUMENT_URL, secret: null }, ada.id);
    expect(await grantsOf()).toHaveLength(1);
    expect((await identity.admin('DELETE', `clients/${encodeURIComponent(DOCUMENT_URL)}`)).status).toBe(204);
    expect(await grantsOf()).toEqual([]);
    for (const id of [encodeURIComponent(DOCUMENT_URL), '%zz']) expect((await identity.admin('DELETE', `clients/${id}`)).status).toBe(404);
  });

  it('lists clients page by page, without their secrets', async () => {
    const ids = await Promise.all(['One', 'Two', 'Three'].map(addClient));
    const first = (await identity.admin('GET', 'clients?limit=2')).body;
    const rest = (await identity.admin('GET', `clients?limit=2&after=${first.next_after}`)).body;
    expect(rest.next_after).toBeNull();
    const listed: { client_id: string }[] = [...first.clients, ...rest.clients];
    expect(listed.map(({ client_id }) => client_id)).toEqual(ids.toSorted());
    const [shown] = listed;
    expect(Object.keys(shown ?? {}).toSorted()).toEqual([
      'client_id',
      'client_name',
      'created_at',
      'redirect_uris',
      'scopes',
      'token_endpoint_auth_method',
    ]);
  });

  it.each([
    ['no such account', 'nobody', {}, 404],
    ['no such client', '', { client_id: 'nobody' }, 404],
    ['no client', '', { client_id: undefined }, 400],
    ['no scope', '', { scopes: [] }, 400],
    ['an unknown scope', '', { scopes: ['all'] }, 400],
  ])('is refused with %s, and nothing is granted', async (_what, account, fields, status) => {
    const body = { client_id: await addClient(), ...fields };
    expect((await identity.admin('POST', `accounts/${account || ada.id}/grants`, body)).status).toBe(status);
    expect(await grantsOf()).toEqual([]);
  });

  it.each([
    ['no name', { client_name: undefined }],
    ['a name of blanks', { client_name: ' ' }],
    ['a wildcard', { redirect_uris: ['https://*.test/cb'] }],
    ['no redirect URI', { redirect_uris: [] }],
  ])('[case 8] registers no client with %s', async (_what, fields) => {
    const { status, body } = await identity.admin('POST', 'clients', { client_name: 'Notes', redirect_uris: [REDIRECT], ...fields });
    expect([status, typeof body.error.message]).toEqual([400, 'string']);
    expect((await identity.admin('GET', 'clients')).body.clients).toEqual([]);
  });

  it.each(['gateway', 'bubbles-query', 'identity-and-oauth'])('is nobody else: %s is refused', async (name) => {
    const call = identity.service(name);
    expect((await call('GET', '/internal/v1/admin/clients')).status).toBe(401);
    expect((await call('POST', `/internal/v1/admin/accounts/${ada.id}/grants`, { client_id: 'x' })).status).toBe(401);
  });
});
