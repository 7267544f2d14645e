import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { testData } from '@bubbles/testing/test-data.ts';
import { afterEach, describe, expect, it } from '@jest/globals';
import { aBrowser, authorizeUrl, REDIRECT_URI, told } from './consenting.ts';
import { type Person, startIdentity, type TestIdentity, type TestIdentityOptions } from './identity.ts';
import { oauthAt, type TestClient } from './oauth.ts';

/** Nobody can fetch it in a test: a fetch would be refused with 400. */
const app: TestClient = { id: 'https://app.example.com/client.json', secret: null };

let identity: TestIdentity;
let publisher: Server | null = null;
afterEach(async () => {
  publisher?.closeAllConnections();
  publisher?.close();
  publisher = null;
  await identity.stop();
});

const start = async (options: TestIdentityOptions = {}): Promise<{ readonly oauth: ReturnType<typeof oauthAt>; readonly ada: Person }> => {
  identity = await startIdentity(options);
  return { oauth: oauthAt(identity), ada: await identity.person() };
};

describe('a client with a metadata document at the token endpoint', () => {
  it('[case 95] exchanges, refreshes and revokes without a fetch of its document', async () => {
    const { oauth, ada } = await start();
    const me = async (token: string) => (await identity.as(token)('GET', '/v1/me')).status;
    const exchanged = await oauth.exchange(app, await oauth.code(app, ada.id));
    expect([exchanged.status, await me(exchanged.body.access_token)]).toEqual([200, 200]);
    const refreshed = await oauth.refresh(app, exchanged.body.refresh_token);
    expect([refreshed.status, await me(refreshed.body.access_token)]).toEqual([200, 200]);
    expect((await oauth.revoke(app, refreshed.body.refresh_token)).status).toBe(200);
    expect(await me(refreshed.body.access_token)).toBe(401);
  });

  it('[case 93] has no secret', async () => {
    const { oauth, ada } = await start();
    const { status, body } = await oauth.exchange({ ...app, secret: 'svc_secret_x' }, await oauth.code(app, ada.id));
    expect([status, body.error]).toEqual([401, 'invalid_client']);
  });

  it('gets nothing for a code of another client', async () => {
    const { oauth, ada } = await start();
    const code = await oauth.code(app, ada.id);
    const { status, body } = await oauth.exchange({ ...app, id: 'https://evil.example.com/client.json' }, code);
    expect([status, body.error]).toEqual([400, 'invalid_grant']);
    expect((await oauth.exchange(app, code)).status).toBe(200);
  });

  it('is unknown while documents are turned off, which the metadata of the server says', async () => {
    const { oauth, ada } = await start({ environment: { OAUTH_CLIENT_DOCUMENTS: '0' } });
    const metadata = await identity.as(null)('GET', '/.well-known/oauth-authorization-server');
    expect(metadata.body.client_id_metadata_document_supported).toBe(false);
    const { status, body } = await oauth.exchange(app, await oauth.code(app, ada.id));
    expect([status, body.error]).toEqual([401, 'invalid_client']);
  });
});

/** The https server of an app on this machine; `change` is what its document says otherwise. */
const publish = async (change: (id: string) => object = () => ({})) => {
  const [cert, key] = ['pem', 'key'].map((end) => testData(`certificates/localhost.${end}`));
  const fetched: (string | undefined)[] = [];
  const server = createServer({ cert, key }, (request, response) => {
    fetched.push(request.url);
    const document = { client_id: id, client_name: 'Pocket notes', redirect_uris: [REDIRECT_URI], scope: 'bubbles:read', ...change(id) };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  publisher = server;
  // A listening TCP server has an address of this form.
  const id = `https://localhost:${(server.address() as AddressInfo).port}/client.json`;
  return { id, host: new URL(id).host, fetched };
};
const LOCAL = { localDocuments: true, environment: { OAUTH_CLIENT_DOCUMENTS_EXTRA_CA: testData('certificates/localhost.pem') } };

describe('a client with a metadata document', () => {
  it('[OAUTH-05] [case 95] asks for consent, is shown under its host, and gets tokens, with one fetch in all', async () => {
    const { id, host, fetched } = await publish();
    const { oauth, ada } = await start(LOCAL);
    const browser = aBrowser(identity, ada);
    const asked = await browser.ask(id, { scope: 'bubbles:read' });
    expect(asked.page).toContain(`<bdi>Pocket notes</bdi>`);
    expect(asked.page).toContain(`<strong>${host}</strong>`);
    expect(asked.ticked).toEqual(['bubbles:read']);
    const { code = '' } = told(await browser.answer(asked));
    const { status, body } = await oauth.exchange({ id, secret: null }, code);
    expect([status, body.scope]).toEqual([200, 'bubbles:read']);
    expect(fetched).toEqual(['/client.json']);
    const page = await (await identity.fetch('/app/connected-apps', { headers: { cookie: `__Host-session=${ada.session}` } })).text();
    expect(page).toContain('<bdi>Pocket notes</bdi>');
  });

  it.each([
    ['names another id', () => ({ client_id: 'https://app.example.com/client.json' })],
    ['has a secret', () => ({ client_secret: 'x' })],
    ['wants to prove itself', () => ({ token_endpoint_auth_method: 'private_key_jwt' })],
    ['has a redirect URI that runs a script', () => ({ redirect_uris: [REDIRECT_URI, 'javascript:alert(1)'] })],
    ['is too large', () => ({ policy_uri: 'x'.repeat(5 * 1024) })],
  ])('[case 93] is refused on a page, and never redirected, when its document %s', async (_what, change) => {
    const { id, fetched } = await publish(change);
    await start(LOCAL);
    for (let n = 0; n < 3; n += 1) {
      const answer = await identity.fetch(authorizeUrl({ client_id: id }));
      expect([answer.status, answer.headers.get('location'), answer.headers.get('content-type')]).toEqual([
        400,
        null,
        'text/html; charset=utf-8',
      ]);
    }
    expect(fetched).toHaveLength(1);
  });

  it('[case 95] is taken beside a stranger who asks for documents of the same host that there are not', async () => {
    const { id, fetched } = await publish();
    await start(LOCAL);
    const ask = async (client_id: string, from: string) =>
      (await identity.fetch(authorizeUrl({ client_id }), { headers: { 'x-forwarded-for': from } })).status;
    const asked: number[] = [];
    for (let n = 0; n < 20; n += 1) asked.push(await ask(id.replace('client', `${n}`), `2001:db8:0:${n}::1`));
    expect([asked.slice(0, 5), fetched.length]).toEqual([[400, 400, 400, 400, 429], 4]);
    expect(await ask(id, '203.0.113.7')).toBe(303);
  });

  it('[case 94] is not looked for on this machine outside the sandbox', async () => {
    const { id, fetched } = await publish();
    await start({ environment: LOCAL.environment });
    expect((await identity.fetch(authorizeUrl({ client_id: id }))).status).toBe(400);
    expect(fetched).toEqual([]);
  });
});
