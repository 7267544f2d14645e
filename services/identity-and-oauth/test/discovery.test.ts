import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startIdentity, type TestIdentity } from './identity.ts';

const ISSUER = 'https://api.test';
const SCOPES = ['bubbles:read', 'webhooks:manage', 'meetings:join'];

let identity: TestIdentity;
beforeAll(async () => {
  identity = await startIdentity();
});
afterAll(() => identity.stop());

const read = async (path: string, headers: Readonly<Record<string, string>> = {}) => {
  const answer = await identity.as(null, headers)('GET', path);
  expect([path, answer.status, answer.headers.get('cache-control')]).toEqual([path, 200, 'public, max-age=300']);
  return answer.body;
};

describe('discovery', () => {
  it('[OAUTH-01] the authorization server tells its endpoints and what they take', async () => {
    expect(await read('/.well-known/oauth-authorization-server')).toEqual({
      issuer: ISSUER,
      authorization_endpoint: `${ISSUER}/oauth/authorize`,
      token_endpoint: `${ISSUER}/oauth/token`,
      registration_endpoint: `${ISSUER}/oauth/register`,
      revocation_endpoint: `${ISSUER}/oauth/revoke`,
      jwks_uri: `${ISSUER}/oauth/jwks`,
      scopes_supported: SCOPES,
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
      revocation_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
      protected_resources: [ISSUER],
    });
  });

  it('[OAUTH-01] the alias that clients of OpenID try has the same body', async () => {
    expect(await read('/.well-known/openid-configuration')).toEqual(await read('/.well-known/oauth-authorization-server'));
  });

  it.each(['', '/v1', '/mcp'])('[OAUTH-02] the protected-resource document of %j names its resource and our server', async (path) => {
    expect(await read(`/.well-known/oauth-protected-resource${path}`)).toEqual({
      resource: `${ISSUER}${path}`,
      authorization_servers: [ISSUER],
      scopes_supported: SCOPES,
      bearer_methods_supported: ['header'],
    });
  });

  it('[case 30] the issuer is the same bytes in every document, without a trailing slash', async () => {
    const documents = await Promise.all(['', '/v1', '/mcp'].map((path) => read(`/.well-known/oauth-protected-resource${path}`)));
    const { issuer } = await read('/.well-known/oauth-authorization-server');
    expect([issuer, ...documents.map(({ authorization_servers: [server] }) => server)]).toEqual([ISSUER, ISSUER, ISSUER, ISSUER]);
  });

  it.each([
    { host: 'evil.test' },
    { 'x-forwarded-host': 'evil.test', 'x-forwarded-proto': 'http' },
    { forwarded: 'host=evil.test;proto=http' },
  ])('[case 31] what a request says of the host reaches no document: %j', async (headers) => {
    for (const path of ['oauth-authorization-server', 'oauth-protected-resource'])
      expect(JSON.stringify(await read(`/.well-known/${path}`, headers))).not.toMatch(/evil|http:/);
  });
});
