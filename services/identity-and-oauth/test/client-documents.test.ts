import { afterEach, describe, expect, it } from '@jest/globals';
import { type Person, startIdentity, type TestIdentity, type TestIdentityOptions } from './identity.ts';
import { oauthAt, type TestClient } from './oauth.ts';

/** Nobody can fetch it in a test: a fetch would be refused with 400. */
const app: TestClient = { id: 'https://app.example.com/client.json', secret: null };

let identity: TestIdentity;
afterEach(() => identity.stop());

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
