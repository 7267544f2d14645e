import { INTERNAL_ERROR_MESSAGE } from '@bubbles/http/routes/http-errors.ts';
import { rawExchange } from '@bubbles/testing/raw-http.ts';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { aFragment, type FakeService, operation, startFakeService } from './fake-services.ts';
import { QUICK, startWorld, type World, type WorldOptions } from './start.ts';

const page = (id: string) => operation(id, { auth: 'none', errors: 'page' });
const endpoint = (id: string) => ({ ...operation(id, { auth: 'none', errors: 'rfc6749' }), 'x-gw-body-limit': 32 * 1024 });
const FRAGMENT = aFragment({
  '/v1/me': { get: operation('getMe') },
  '/app/keys': { get: page('showKeys'), post: { ...page('addKey'), 'x-gw-body-limit': 32 * 1024 } },
  '/app/keys/{id}/revocation': { post: page('revokeKey') },
  '/oauth/authorize': { get: page('authorize') },
  '/oauth/interaction/{uid}': { get: page('showConsent'), post: page('answerConsent') },
  '/oauth/token': { post: endpoint('token') },
  '/oauth/revoke': { post: endpoint('revoke') },
  '/oauth/register': { post: endpoint('register') },
  '/oauth/register/{id}': { get: endpoint('readClient'), put: endpoint('changeClient'), delete: endpoint('removeClient') },
  '/oauth/jwks': { get: endpoint('jwks') },
  '/.well-known/oauth-authorization-server': { get: operation('discover', { auth: 'none' }) },
});
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const OPEN_TO_SCRIPTS = [
  '/oauth/token',
  '/oauth/revoke',
  '/oauth/register',
  '/oauth/register/c1',
  '/oauth/jwks',
  '/.well-known/oauth-authorization-server',
];
const FOR_PEOPLE = ['/app/keys', '/app/keys/k1/revocation', '/app/nothing', '/oauth/authorize', '/oauth/interaction/u1'];

const startPages = async (options: WorldOptions = {}): Promise<World> => {
  const world = await startWorld(options);
  world.identity.fragment = FRAGMENT;
  await world.gateway.refresh();
  return world;
};

const expectPage = async (answer: Response, status: number, text: string): Promise<void> => {
  expect([answer.status, answer.headers.get('content-type')]).toEqual([status, 'text/html; charset=utf-8']);
  expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(answer.headers.get('x-frame-options')).toBe('DENY');
  expect([answer.headers.get('cache-control'), answer.headers.get('www-authenticate')]).toEqual(['no-store', null]);
  const written = await answer.text();
  expect(written).toMatch(/^<!doctype html>/);
  expect(written).toContain(text);
};

describe('what the gateway refuses on a page', () => {
  let world: World;
  beforeAll(async () => {
    world = await startPages();
  });
  afterAll(() => world.stop());

  it.each([
    ['a page that there is not', 'GET', '/app/nothing', null],
    ['a page that there is not, below the place of all pages', 'GET', '/app/', null],
    ['a method that a page does not have', 'PUT', '/app/keys', 'GET, HEAD, OPTIONS, POST'],
    ['a form that is opened as a page', 'GET', '/app/keys/k1/revocation', 'OPTIONS, POST'],
  ])('is a page: %s', async (_, method, path, allow) => {
    const answer = await world.fetch(path, { method });
    expect(answer.headers.get('allow')).toBe(allow);
    await expectPage(answer, 404, '<h1>Not found</h1><p>There is no page at this address.</p>');
  });

  it('is a page of 413 when the form is too large, also before it has come', async () => {
    await expectPage(
      await world.fetch('/app/keys', { method: 'POST', headers: FORM, body: 'x'.repeat(40_000) }),
      413,
      'too large. Nothing was changed.',
    );
    const text = await rawExchange(world.url, 'POST /app/keys HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999\r\n\r\nx');
    expect(text).toMatch(/^HTTP\/1\.1 413 [\s\S]*Connection: close[\s\S]*<!doctype html>/);
  });

  it.each(['/app/keys', '/app/nothing', '/oauth/authorize'])('is a page when the request for %s is malformed', async (path) => {
    const text = await rawExchange(world.url, `GET ${path} HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n`);
    expect(text).toMatch(/^HTTP\/1\.1 400 [\s\S]*<h1>Bad request<\/h1>/);
  });

  it('is nothing else elsewhere', async () => {
    for (const path of ['/apps', '/v1/nothing', '/oauth/nothing']) {
      const answer = await world.fetch(path);
      expect([answer.status, await answer.json()]).toEqual([404, { error: { type: 'not_found', message: 'Not found.' } }]);
    }
  });
});

describe('a page whose service cannot answer', () => {
  let world: World;
  beforeEach(async () => {
    world = await startPages();
  });
  afterEach(() => world.stop());

  it('[ERR-05] says so as a page, with Retry-After', async () => {
    const hasty = await startPages({ limits: QUICK });
    hasty.identity.handle = () => undefined;
    const slow = await hasty.fetch('/app/keys');
    expect([slow.headers.get('x-gateway-reason'), slow.headers.get('retry-after')]).toEqual(['upstream-timeout', '2']);
    await expectPage(slow, 500, INTERNAL_ERROR_MESSAGE);
    await hasty.identity.stop();
    for (const path of ['/app/keys', '/oauth/interaction/u1']) {
      const down = await hasty.fetch(path);
      expect(down.headers.get('x-gateway-reason')).toMatch(/^(?:upstream-down|breaker)$/);
      await expectPage(down, 500, '<h1>Something went wrong</h1>');
    }
    await hasty.stop();
  });

  it('[ERR-05] keeps the page that its service has written for it, but no other answer', async () => {
    const own = '<p>Our own words.</p>';
    world.identity.handle = (_, res) => void res.writeHead(500, { 'content-type': 'text/html; charset=utf-8' }).end(own);
    const kept = await world.fetch('/app/keys');
    expect([kept.status, await kept.text(), kept.headers.get('x-gateway-reason')]).toEqual([500, own, null]);
    const overloaded = { 'content-type': 'application/json', 'x-gateway-reason': 'overload' };
    world.identity.handle = (_, res) =>
      void res.writeHead(500, overloaded).end('{"error":{"type":"internal_error","message":"Something went wrong."}}');
    const replaced = await world.fetch('/app/keys');
    expect(replaced.headers.get('x-gateway-reason')).toBe('overload');
    await expectPage(replaced, 500, '<h1>Something went wrong</h1>');
    const token = await world.fetch('/oauth/token', { method: 'POST', headers: FORM, body: 'a=b' });
    expect([token.status, token.headers.get('x-gateway-reason'), await token.json()]).toEqual([
      500,
      'overload',
      { error: 'server_error', error_description: INTERNAL_ERROR_MESSAGE },
    ]);
  });

  it('[ERR-05] is refused as a page when there is no room', async () => {
    const busy = await startPages({ limits: { maxInFlight: 0 } });
    const refused = await busy.fetch('/app/keys');
    expect(refused.headers.get('x-gateway-reason')).toBe('overload');
    await expectPage(refused, 500, INTERNAL_ERROR_MESSAGE);
    const token = await busy.fetch('/oauth/token', { method: 'POST', headers: FORM, body: 'a=b' });
    expect(await token.json()).toMatchObject({ error: 'server_error' });
    await busy.stop();
  });
});

describe('the OAuth endpoints behind the gateway', () => {
  let world: World;
  beforeAll(async () => {
    world = await startPages();
  });
  afterAll(() => world.stop());
  beforeEach(() => {
    world.identity.seen.length = 0;
    world.identity.handle = (_, res) => void res.writeHead(200, { 'set-cookie': ['a=1; Path=/', '__Host-b=2; Path=/; Secure'] }).end('{}');
  });

  it('[ERR-06] [case 52] refuse a body over their limit with 413 in the form of RFC 6749, which a client can read', async () => {
    const refused = { error: 'invalid_request', error_description: 'body: must have at most 32768 bytes' };
    for (const size of [40_000, 2_000_000]) {
      const answer = await world.fetch('/oauth/token', { method: 'POST', headers: FORM, body: 'x'.repeat(size) });
      expect([answer.status, answer.headers.get('cache-control'), await answer.json()]).toEqual([413, 'no-store', refused]);
    }
    expect(world.identity.seen).toEqual([]);
  });

  it('[ERR-06] [case 62] have no other methods, and say so in that form', async () => {
    const answer = await world.fetch('/oauth/token');
    expect([answer.status, answer.headers.get('allow'), await answer.json()]).toEqual([
      404,
      'OPTIONS, POST',
      { error: 'not_found', error_description: 'Not found.' },
    ]);
  });

  it.each(OPEN_TO_SCRIPTS)(
    '[case 91] %s is open to scripts of every origin, errors and preflight too, without credentials',
    async (path) => {
      const origin = { origin: 'https://client.test' };
      const preflight = await world.fetch(path, { method: 'OPTIONS', headers: { ...origin, 'access-control-request-method': 'POST' } });
      expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, '*']);
      expect(preflight.headers.get('access-control-allow-headers')?.toLowerCase()).toMatch(
        /(?=.*authorization)(?=.*content-type)(?=.*mcp-protocol-version)/,
      );
      for (const method of ['GET', 'POST', 'PATCH']) {
        const { headers } = await world.fetch(path, { method, headers: origin });
        expect([headers.get('access-control-allow-origin'), headers.get('access-control-allow-credentials')]).toEqual(['*', null]);
        expect(headers.get('access-control-expose-headers')).toContain('WWW-Authenticate');
      }
    },
  );

  it.each(FOR_PEOPLE)('[case 91] %s is closed to scripts of other origins', async (path) => {
    for (const method of ['OPTIONS', 'GET', 'POST']) {
      const { headers } = await world.fetch(path, { method, headers: { origin: 'https://evil.test' } });
      expect([...headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([]);
    }
  });

  it('show HEAD the head of a page', async () => {
    world.identity.handle = (_, res) => void res.writeHead(200, { 'content-type': 'text/html', 'content-length': '6' }).end();
    const answer = await world.fetch('/app/keys', { method: 'HEAD' });
    expect([answer.status, answer.headers.get('content-length')]).toEqual([200, '6']);
    expect((await world.fetch('/app/nothing', { method: 'HEAD' })).headers.get('content-type')).toBe('text/html; charset=utf-8');
  });

  it('[AUTH-02] get the cookies of the browser and set them, which no path below /v1 does', async () => {
    const headers = { cookie: '__Host-session=svc_abc; other=1', authorization: 'Bearer svc_pat_tested' };
    const shown = await world.fetch('/app/keys', { headers });
    expect(shown.headers.getSetCookie()).toEqual(['a=1; Path=/', '__Host-b=2; Path=/; Secure']);
    await world.fetch('/oauth/interaction/u1', { headers });
    await world.fetch('/v1/me', { headers });
    expect(world.identity.seen.map((seen) => [seen.url, seen.headers.cookie])).toEqual([
      ['/app/keys', headers.cookie],
      ['/oauth/interaction/u1', headers.cookie],
      ['/v1/me', undefined],
    ]);
  });

  it('learn the address of the client from the gateway alone', async () => {
    await world.fetch('/app/keys', { headers: { 'x-forwarded-for': '6.6.6.6', 'x-real-ip': '6.6.6.6', forwarded: 'for=6.6.6.6' } });
    expect(world.identity.seen[0]?.headers['x-forwarded-for']).toBe('127.0.0.1');
    expect(JSON.stringify(world.identity.seen[0])).not.toContain('6.6.6.6');
  });
});

describe('the pages that connect a calendar', () => {
  const CALENDAR = aFragment({
    '/connect/calendar/{provider}': { get: page('openCalendarLink') },
    '/v1/signup/start': { get: operation('start', { auth: 'none' }) },
  });
  let signup: FakeService;
  let world: World;
  beforeAll(async () => {
    signup = await startFakeService(CALENDAR);
    world = await startWorld({ config: { upstreams: { signup: [signup.url] } } });
    await world.gateway.refresh();
  });
  afterAll(async () => {
    await world.stop();
    await signup.stop();
  });

  it('[AUTH-02] [SIGN-08] get the one cookie that ties a consent to the browser, never a session', async () => {
    const sent = '__Host-session=svc_abc; __Secure-calendar=k1.x=y ; session=svc_abc;__Secure-calendar2=1; calendar=k1.z';
    await world.fetch('/connect/calendar/google?link=a', { headers: { cookie: sent, authorization: 'Bearer svc_pat_tested' } });
    await world.fetch('/connect/calendar/google', { headers: { cookie: '__Host-session=svc_abc; =; calendar' } });
    await world.fetch('/v1/signup/start', { headers: { cookie: sent } });
    expect(signup.seen.map(({ headers }) => [headers.cookie, headers.authorization])).toEqual([
      ['__Secure-calendar=k1.x=y; calendar=k1.z', undefined],
      [undefined, undefined],
      [undefined, undefined],
    ]);
  });

  it('[SIGN-08] refuse on a page, also where there is none', async () => {
    await expectPage(await world.fetch('/connect/calendar/'), 404, 'There is no page at this address.');
    await expectPage(await world.fetch('/connect/calendar/google', { method: 'POST' }), 404, 'There is no page at this address.');
    expect((await world.fetch('/connect')).headers.get('content-type')).toContain('application/json');
  });
});
