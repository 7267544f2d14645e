import { generateKeyPairSync } from 'node:crypto';
import { createLog } from '@bubbles/kernel/log.ts';
import { openEmbedded } from '@bubbles/store-embedded/open-embedded.ts';
import { Provider } from 'oidc-provider';
import { freePort } from '../harness/free-port.ts';
import { serveParent, settings, tellParent } from '../harness/in-child.ts';

const SCOPES = 'bubbles:read webhooks:manage meetings:join';
const GRANTED = ['AccessToken', 'AuthorizationCode', 'RefreshToken'];

const { clientId, redirectUri } = settings();
const log = createLog({ name: 'oidc-provider', level: 'error', destination: process.stderr });
const database = openEmbedded({ path: ':memory:', log }).database('oidc-provider');

/** Its adapter for MongoDB, on the engine that identity has here. */
const adapter = (model) => {
  const rows = database.collection(model);
  const found = (row) => (row === null ? undefined : { ...row.payload, ...(row.consumed === null ? {} : { consumed: row.consumed }) });
  return {
    upsert: (_id, payload) =>
      rows.replaceOne(
        { _id },
        { _id, payload: JSON.parse(JSON.stringify(payload)), grantId: payload.grantId ?? null, uid: payload.uid ?? null, consumed: null },
        { upsert: true },
      ),
    find: async (_id) => found(await rows.findOne({ _id })),
    findByUid: async (uid) => found(await rows.findOne({ uid })),
    consume: (_id) => rows.updateOne({ _id }, { $set: { consumed: Math.floor(Date.now() / 1000) } }),
    destroy: (_id) => rows.deleteOne({ _id }),
    revokeByGrantId: (grantId) => Promise.all(GRANTED.map((name) => database.collection(name).deleteMany({ grantId }))),
  };
};
for (const name of [...GRANTED, 'Session'])
  await database.collection(name).ensureIndexes([
    { name: 'grant', keys: { grantId: 1 } },
    { name: 'uid', keys: { uid: 1 } },
  ]);

const port = await freePort();
const issuer = `http://127.0.0.1:${port}`;
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const provider = new Provider(issuer, {
  adapter,
  clients: [
    {
      client_id: clientId,
      token_endpoint_auth_method: 'none',
      application_type: 'native',
      redirect_uris: [redirectUri],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      id_token_signed_response_alg: 'ES256',
    },
  ],
  jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'ES256' }] },
  cookies: { keys: ['of the bench'] },
  features: {
    devInteractions: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => issuer,
      useGrantedResource: () => true,
      getResourceServerInfo: () => ({
        scope: SCOPES,
        audience: issuer,
        accessTokenTTL: 3600,
        accessTokenFormat: 'jwt',
        jwt: { sign: { alg: 'ES256' } },
      }),
    },
  },
  issueRefreshToken: () => true,
  rotateRefreshToken: true,
  pkce: { required: () => true },
  scopes: SCOPES.split(' '),
  ttl: { AccessToken: 3600, AuthorizationCode: 60, Grant: 31_536_000, Interaction: 1800, RefreshToken: 2_592_000, Session: 1_209_600 },
});
provider.listen(port, '127.0.0.1', () => {
  serveParent();
  tellParent({ url: issuer });
});
