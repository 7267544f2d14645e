import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { auth as authOf2026, IssuerMismatchError } from '@modelcontextprotocol/client';
import { auth as authOf2025 } from '@modelcontextprotocol/sdk/client/auth.js';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { assistantClient } from './support/assistant-client.ts';
import { send } from './support/client.ts';
import { browserOf, CALLBACK, consent, post, statusOf } from './support/oauth-scene.ts';
import { openWorld } from './support/open-world.ts';
import type { Person, World } from './support/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

/** The user's part: they are signed in, read the consent page and press Allow. */
const userOf = (person: Person) => (url: URL) => consent(browserOf(world, person), url);

describe('openid-client', () => {
  const insecure = { execute: [openid.allowInsecureRequests] };

  /** What the last access token is worth after its revocation. */
  const wholeWay = async (config: openid.Configuration): Promise<number> => {
    const person = await world.user();
    const verifier = openid.randomPKCECodeVerifier();
    const state = openid.randomState();
    const url = openid.buildAuthorizationUrl(config, {
      redirect_uri: CALLBACK,
      scope: 'bubbles:read meetings:join',
      code_challenge: await openid.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
    });
    const back = await userOf(person)(url);
    const tokens = await openid.authorizationCodeGrant(config, back, { pkceCodeVerifier: verifier, expectedState: state });
    expect(tokens).toMatchObject({ scope: 'bubbles:read meetings:join', expires_in: 3600, refresh_token: expect.any(String) });
    const me = await openid.fetchProtectedResource(config, tokens.access_token, new URL('/v1/me', world.baseUrl), 'GET');
    expect(await me.json()).toMatchObject({ id: person.id });
    const fresh = await openid.refreshTokenGrant(config, tokens.refresh_token ?? '');
    expect(fresh.refresh_token).not.toBe(tokens.refresh_token);
    expect(await statusOf(world, fresh.access_token)).toBe(200);
    await openid.tokenRevocation(config, fresh.access_token);
    return statusOf(world, fresh.access_token);
  };

  it.each([
    ['a public client', { token_endpoint_auth_method: 'none' }, openid.None()],
    ['a client that sends its secret in the header', { token_endpoint_auth_method: 'client_secret_basic' }, openid.ClientSecretBasic()],
    ['a client that names no method, and then sends its secret in the body', {}, undefined],
  ])(
    '[OAUTH-01] [OAUTH-03] [OAUTH-06] [OAUTH-07] [OAUTH-08] %s registers and goes the whole way',
    async (_what, metadata, authentication) => {
      const given = { client_name: 'openid-client', redirect_uris: [CALLBACK], ...metadata };
      const server = new URL(world.baseUrl);
      const config = await openid.dynamicClientRegistration(server, given, authentication, { ...insecure, algorithm: 'oauth2' });
      expect(await wholeWay(config)).toBe(401);
    },
  );

  it('[OAUTH-01] finds the server by the address of OpenID discovery too', async () => {
    const given = { client_name: 'openid-client', redirect_uris: [CALLBACK], token_endpoint_auth_method: 'none' };
    const config = await openid.dynamicClientRegistration(new URL(world.baseUrl), given, openid.None(), insecure);
    expect(await wholeWay(config)).toBe(401);
  });

  it('[OAUTH-05] takes no code from another issuer, and none for another state', async () => {
    const given = { client_name: 'openid-client', redirect_uris: [CALLBACK], token_endpoint_auth_method: 'none' };
    const config = await openid.dynamicClientRegistration(new URL(world.baseUrl), given, openid.None(), {
      ...insecure,
      algorithm: 'oauth2',
    });
    const verifier = openid.randomPKCECodeVerifier();
    const challenge = await openid.calculatePKCECodeChallenge(verifier);
    const parameters = { redirect_uri: CALLBACK, code_challenge: challenge, code_challenge_method: 'S256', state: 'mine' };
    const back = await userOf(await world.user())(openid.buildAuthorizationUrl(config, parameters));
    const mixedUp = new URL(back);
    mixedUp.searchParams.set('iss', 'https://evil.example');
    const checks = { pkceCodeVerifier: verifier, expectedState: 'mine' };
    await expect(openid.authorizationCodeGrant(config, mixedUp, checks)).rejects.toMatchObject({ code: 'OAUTH_INVALID_RESPONSE' });
    await expect(openid.authorizationCodeGrant(config, back, { ...checks, expectedState: 'another' })).rejects.toThrow();
    expect((await openid.authorizationCodeGrant(config, back, checks)).token_type).toBe('bearer');
  });
});

describe('oauth4webapi', () => {
  it('[OAUTH-01] [OAUTH-02] [OAUTH-03] [OAUTH-06] [OAUTH-08] [OAUTH-09] goes from the resource to a token, which it verifies, and revokes it', async () => {
    const insecure = { [oauth.allowInsecureRequests]: true };
    const person = await world.user();
    const resource = new URL(world.baseUrl);
    const metadata = await oauth.processResourceDiscoveryResponse(resource, await oauth.resourceDiscoveryRequest(resource, insecure));
    const issuer = new URL(metadata.authorization_servers?.[0] ?? '');
    const server = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure }));
    const given = { client_name: 'oauth4webapi', redirect_uris: [CALLBACK], token_endpoint_auth_method: 'none' };
    const client = await oauth.processDynamicClientRegistrationResponse(
      await oauth.dynamicClientRegistrationRequest(server, given, insecure),
    );
    const verifier = oauth.generateRandomCodeVerifier();
    const url = new URL(server.authorization_endpoint ?? '');
    url.search = new URLSearchParams({
      response_type: 'code',
      client_id: client.client_id,
      redirect_uri: CALLBACK,
      scope: 'bubbles:read',
      resource: metadata.resource,
      state: 'mine',
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    }).toString();
    const back = oauth.validateAuthResponse(server, client, await userOf(person)(url), 'mine');
    const tokens = await oauth.processAuthorizationCodeResponse(
      server,
      client,
      await oauth.authorizationCodeGrantRequest(server, client, oauth.None(), back, CALLBACK, verifier, insecure),
    );
    const request = new Request(new URL('/v1/me', world.baseUrl), { headers: { authorization: `Bearer ${tokens.access_token}` } });
    expect(await oauth.validateJwtAccessToken(server, request, metadata.resource, insecure)).toMatchObject({ sub: person.id });
    const fresh = await oauth.processRefreshTokenResponse(
      server,
      client,
      await oauth.refreshTokenGrantRequest(server, client, oauth.None(), tokens.refresh_token ?? '', insecure),
    );
    const revoked = await oauth.revocationRequest(server, client, oauth.None(), fresh.refresh_token ?? '', insecure);
    expect(await oauth.processRevocationResponse(revoked)).toBeUndefined();
    expect(await statusOf(world, fresh.access_token)).toBe(401);
    expect(await statusOf(world, tokens.access_token)).toBe(401);
  });
});

describe('MCP clients of 2025 (@modelcontextprotocol/sdk)', () => {
  it.each([
    ['public, at /mcp, back to this machine', '/mcp', { token_endpoint_auth_method: 'none' }, 'http://localhost:33418/callback'],
    ['confidential without a word, at the root, back to an editor', '', {}, 'cursor://anysphere.cursor-retrieval/oauth/callback'],
    ['with the secret in the body', '/mcp', { token_endpoint_auth_method: 'client_secret_post' }, 'https://assistant.example/callback'],
  ])('[OAUTH-02] [OAUTH-03] [OAUTH-07] %s', async (_what, path, metadata, redirectUri) => {
    const person = await world.user();
    const client = assistantClient({ ...metadata, client_name: 'An assistant', redirect_uris: [redirectUri] });
    const serverUrl = `${world.baseUrl}${path}`;
    expect(await authOf2025(client, { serverUrl })).toBe('REDIRECT');
    const back = await userOf(person)(client.sentTo());
    expect(back.href.startsWith(redirectUri)).toBe(true);
    const authorizationCode = back.searchParams.get('code') ?? '';
    expect(await authOf2025(client, { serverUrl, authorizationCode })).toBe('AUTHORIZED');
    const first = client.held();
    expect(first.scope).toBe('bubbles:read webhooks:manage meetings:join');
    expect((await send(world.baseUrl, '/v1/me', { as: first.access_token })).json.id).toBe(person.id);
    expect(await authOf2025(client, { serverUrl })).toBe('AUTHORIZED');
    expect(client.held().refresh_token).not.toBe(first.refresh_token);
    expect(await statusOf(world, client.held().access_token)).toBe(200);
  });
});

describe('MCP clients of 2026 (@modelcontextprotocol/client)', () => {
  it('[OAUTH-02] [OAUTH-03] [OAUTH-05] [OAUTH-07] [OAUTH-08] registers, checks the issuer, refreshes; what is revoked sends it to sign in again', async () => {
    const person = await world.user();
    const client = assistantClient({ client_name: 'An assistant', redirect_uris: [CALLBACK], token_endpoint_auth_method: 'none' });
    const serverUrl = `${world.baseUrl}/mcp`;
    expect(await authOf2026(client, { serverUrl })).toBe('REDIRECT');
    const { searchParams: back } = await userOf(person)(client.sentTo());
    const [authorizationCode, iss] = [back.get('code') ?? '', back.get('iss') ?? ''];
    const mixedUp = authOf2026(client, { serverUrl, authorizationCode, iss: 'https://evil.example' });
    await expect(mixedUp).rejects.toBeInstanceOf(IssuerMismatchError);
    expect(await authOf2026(client, { serverUrl, authorizationCode, iss })).toBe('AUTHORIZED');
    const first = client.held();
    expect(await authOf2026(client, { serverUrl })).toBe('AUTHORIZED');
    const { access_token: token, refresh_token: refreshToken = '' } = client.held();
    expect(refreshToken).not.toBe(first.refresh_token);
    await post(world, '/oauth/revoke', { token: refreshToken, client_id: client.registered().client_id });
    expect(await statusOf(world, token)).toBe(401);
    expect(await authOf2026(client, { serverUrl })).toBe('REDIRECT');
  });
});
