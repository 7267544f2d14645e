import { hash } from 'node:crypto';
import { expect } from '@jest/globals';
import { createFormBrowser } from '../../../support/form-browser.ts';
import type { Answer } from '../client.ts';
import { type Checks, expectRefusal, type Lab, UNAUTHORIZED } from './lab.ts';

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const REDIRECT_URI = 'https://client.test/callback';
const VERIFIER = 'dBjftJeZ4CVP-mBofGmX-T9s2xU5s7oQ6wYh3Zk1aPL';
const CHALLENGE = hash('sha256', VERIFIER, 'base64url');

/** Refused in the form of RFC 6749, which nobody may keep. */
function expectOAuthRefusal({ status, headers, json }: Answer, [wanted, error]: readonly [number, string]): void {
  expect([status, headers.get('cache-control')]).toEqual([wanted, 'no-store']);
  expect(json).toEqual({ error, error_description: expect.stringMatching(/./) });
}
const INVALID_REQUEST = [400, 'invalid_request'] as const;
const INVALID_GRANT = [400, 'invalid_grant'] as const;

type Fields = Readonly<Record<string, string>>;
const posted = ({ call }: Lab, path: string, fields: Fields) =>
  call(path, { method: 'POST', body: String(new URLSearchParams(fields)), headers: FORM });

const registered = async ({ call }: Lab, more: object = { token_endpoint_auth_method: 'none' }) =>
  (await call('/oauth/register', { method: 'POST', body: { redirect_uris: [REDIRECT_URI], client_name: 'Tried', ...more } })).json;

const requestOf = (client_id: string, more: Fields = {}): string =>
  `/oauth/authorize?${new URLSearchParams({
    ...{ response_type: 'code', client_id, redirect_uri: REDIRECT_URI, state: 'a b+c' },
    ...{ code_challenge: CHALLENGE, code_challenge_method: 'S256', ...more },
  })}`;

/** A code for the client, which somebody who is signed in allows all that it asks for. */
async function allowed(lab: Lab, clientId: string): Promise<string> {
  const { session_token: session } = await lab.world.user();
  const browser = createFormBrowser({ cookies: { session } });
  const { url } = await browser.submit(await browser.open(lab.sandbox.url + requestOf(clientId)), { press: 'allow' });
  const { searchParams } = url;
  expect(searchParams.get('state')).toBe('a b+c');
  return searchParams.get('code') ?? '';
}

const exchange = (lab: Lab, client_id: string, code: string, code_verifier = VERIFIER) =>
  posted(lab, '/oauth/token', { grant_type: 'authorization_code', client_id, code, code_verifier, redirect_uri: REDIRECT_URI });

export const OAUTH_CHECKS: Checks = {
  'AUTHNHEADER-21': async (lab) => {
    const { client_id, registration_access_token } = await registered(lab);
    const { client_secret } = await registered(lab, {});
    const code = await allowed(lab, client_id);
    const { access_token, refresh_token } = (await exchange(lab, client_id, await allowed(lab, client_id))).json;
    expect((await lab.call('/v1/me', { as: access_token })).status).toBe(200);
    for (const as of [refresh_token, code, registration_access_token, client_secret, client_id])
      for (const path of ['/v1/me', '/v1/bubbles']) expectRefusal(await lab.call(path, { as }), UNAUTHORIZED);
  },
  'JSONBODY-13': async (lab) => {
    const asked = { grant_type: 'refresh_token', refresh_token: 'x', client_id: 'x' };
    expectOAuthRefusal(await lab.call('/oauth/token', { method: 'POST', body: asked }), INVALID_REQUEST);
    expectOAuthRefusal(await posted(lab, '/oauth/register', { redirect_uris: REDIRECT_URI }), INVALID_REQUEST);
  },
  'OAUTHBRIEF-01': async (lab) => {
    const { client_id } = await registered(lab);
    const others = [
      ...[`${REDIRECT_URI}/more`, `${REDIRECT_URI}?a=b`, `${REDIRECT_URI}#a`, `${REDIRECT_URI}/..`, `${REDIRECT_URI}/`, ''],
      ...[
        'https://client.test:8443/callback',
        'http://client.test/callback',
        'https://a@client.test/callback',
        'https://client.test@evil.test/callback',
      ],
      ...[
        'https://evil.test/callback',
        '//client.test/callback',
        'HTTPS://client.test/callback',
        'https://client.test/Callback',
        'javascript:alert(1)',
      ],
    ];
    for (const redirect_uri of others) {
      const { status, headers, text } = await lab.call(requestOf(client_id, { redirect_uri }));
      expect([redirect_uri, status, headers.get('location')]).toEqual([redirect_uri, 400, null]);
      expect([headers.get('content-type'), text.slice(0, 15)]).toEqual(['text/html; charset=utf-8', '<!doctype html>']);
    }
    expect((await lab.call(requestOf(client_id))).status).toBe(303);
  },
  'OAUTHBRIEF-02': async (lab) => {
    const [{ client_id }, other] = [await registered(lab), await registered(lab)];
    const code = await allowed(lab, client_id);
    expectOAuthRefusal(await exchange(lab, other.client_id, code), INVALID_GRANT);
    expectOAuthRefusal(await exchange(lab, client_id, code, VERIFIER.toLowerCase()), INVALID_GRANT);
    const { access_token: as, refresh_token } = (await exchange(lab, client_id, code)).json;
    expect((await lab.call('/v1/me', { as })).status).toBe(200);
    expectOAuthRefusal(await exchange(lab, client_id, code), INVALID_GRANT);
    expectRefusal(await lab.call('/v1/me', { as }), UNAUTHORIZED);
    expectOAuthRefusal(await posted(lab, '/oauth/token', { grant_type: 'refresh_token', client_id, refresh_token }), INVALID_GRANT);
    const plain = await lab.call(requestOf(client_id, { code_challenge_method: 'plain', code_challenge: VERIFIER }));
    const { origin, searchParams } = new URL(plain.headers.get('location') ?? '');
    expect([plain.status, origin, searchParams.get('error'), searchParams.get('code')]).toEqual([
      303,
      'https://client.test',
      'invalid_request',
      null,
    ]);
  },
  'SESSIONTOKENCONFUSION-08': async (lab) => {
    const { client_id } = await registered(lab);
    const { access_token } = (await exchange(lab, client_id, await allowed(lab, client_id))).json;
    const [head = '', payload = '', signature = ''] = access_token.split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
    expect(claims).toMatchObject({ aud: lab.sandbox.url, iss: lab.sandbox.url });
    for (const aud of [`${lab.sandbox.url}/`, 'https://other.test', [lab.sandbox.url, 'https://other.test']]) {
      const moved = Buffer.from(JSON.stringify({ ...claims, aud })).toString('base64url');
      expectRefusal(await lab.call('/v1/me', { as: `${head}.${moved}.${signature}` }), UNAUTHORIZED);
    }
  },
};
