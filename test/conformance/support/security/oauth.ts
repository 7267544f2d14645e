import { expect } from '@jest/globals';
import type { Answer } from '../client.ts';
import type { Checks } from './lab.ts';

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

/** Refused in the form of RFC 6749, which nobody may keep. */
function expectOAuthRefusal({ status, headers, json }: Answer, [wanted, error]: readonly [number, string]): void {
  expect([status, headers.get('cache-control')]).toEqual([wanted, 'no-store']);
  expect(json).toEqual({ error, error_description: expect.stringMatching(/./) });
}

export const OAUTH_CHECKS: Checks = {
  'JSONBODY-13': async ({ call }) => {
    const refused = [400, 'invalid_request'] as const;
    const asked = { grant_type: 'refresh_token', refresh_token: 'x', client_id: 'x' };
    expectOAuthRefusal(await call('/oauth/token', { method: 'POST', body: asked }), refused);
    const metadata = String(new URLSearchParams({ redirect_uris: 'https://client.test/callback' }));
    expectOAuthRefusal(await call('/oauth/register', { method: 'POST', body: metadata, headers: FORM }), refused);
  },
};
