import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { authorizeUrl, REDIRECT_URI, register } from './consenting.ts';
import { startIdentity, type TestIdentity } from './identity.ts';

const RUNS = 400;
const LOOPBACK = 'http://127.0.0.1/cb?a=b';
const NAMES = [
  ...['response_type', 'redirect_uri', 'state', 'scope', 'code_challenge', 'code_challenge_method'],
  ...['client_id', 'resource', 'prompt', 'response_mode', 'request', 'request_uri', '__proto__', 'a', ''],
];

/** A value that some parameter may have, a spoilt one, or any text; percent-encoded or as it is. */
const values = (clientId: string) =>
  fc.oneof(
    fc.constantFrom(
      'code',
      'S256',
      'a'.repeat(43),
      clientId,
      REDIRECT_URI,
      'http://127.0.0.1:7000/cb?a=b',
      'bubbles:read',
      'openid',
      'none',
    ),
    fc
      .tuple(fc.constantFrom(REDIRECT_URI, LOOPBACK, clientId), fc.string({ maxLength: 6, unit: 'binary' }))
      .map(([text, more]) => encodeURIComponent(`${text}${more.toWellFormed()}`)),
    fc.string({ maxLength: 20, unit: 'binary' }).map((text) => encodeURIComponent(text.toWellFormed())),
    fc.string({ maxLength: 12, unit: fc.constantFrom('%', '+', '=', 'F', '0', '/', '\\', '@', '"', '<', ';', '%0d%0a', '%00', '%C3%A4') }),
  );

describe('questions of any form', () => {
  let identity: TestIdentity;
  let clientId: string;
  beforeAll(async () => {
    identity = await startIdentity();
    clientId = await register(identity, { redirect_uris: [REDIRECT_URI, LOOPBACK] });
  });
  afterAll(() => identity.stop());

  /** The way to which an answer may go. */
  const isOwnWay = (location: string): boolean =>
    /^\/oauth\/interaction\/[\w-]{43}$/.test(location) ||
    location.startsWith(`${REDIRECT_URI}?`) ||
    /^http:\/\/127\.0\.0\.1(?::\d+)?\/cb\?a=b&/.test(location);

  it(`[case 6] [case 19] ${RUNS} of them: a page, our own page, or an answer to a registered URI, and never a fault`, async () => {
    let asked = 0;
    const spoilt = fc.array(fc.record({ name: fc.constantFrom(...NAMES), value: values(clientId) }), { maxLength: 4 });
    const ask = async (more: readonly { readonly name: string; readonly value: string }[], replaces: boolean) => {
      asked += 1;
      const left = replaces ? Object.fromEntries(more.map(({ name }) => [name, undefined])) : {};
      const url = [authorizeUrl({ client_id: clientId, ...left }), ...more.map(({ name, value }) => `${name}=${value}`)].join('&');
      const response = await identity.fetch(url, { headers: { 'x-forwarded-for': `10.0.${asked >> 8}.${asked & 255}` } });
      const [location, text] = [response.headers.get('location'), await response.text()];
      expect([303, 400]).toContain(response.status);
      expect(location !== null).toBe(response.status === 303);
      if (location === null) expect(text).toMatch(/^<!doctype html>/);
      else {
        expect(isOwnWay(location)).toBe(true);
        if (!location.startsWith('/')) expect(new URL(location).searchParams.get('iss')).toBe('https://api.test');
      }
    };
    await fc.assert(fc.asyncProperty(spoilt, fc.boolean(), ask), { numRuns: RUNS });
    expect(asked).toBeGreaterThanOrEqual(RUNS);
  }, 120_000);
});
