import { peerList } from '@bubbles/kernel/config-values.ts';
import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { rawConnection, rawExchange } from '@bubbles/testing/raw-http.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { aFragment, allowed, operation } from './fake-services.ts';
import { AUTHORIZATION, startWorld, TOKEN, type World } from './start.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());
beforeEach(() => {
  world.bubbles.seen.length = 0;
  world.identity.seen.length = 0;
  world.identity.checkCalls.length = 0;
  world.identity.decide = allowed;
  world.bubbles.handle = (_, res, seen) => void res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(seen));
});

const get = (path: string, lines: readonly string[] = []) =>
  rawExchange(
    world.url,
    ['GET', path]
      .join(' ')
      .concat(' HTTP/1.1\r\nHost: api.test\r\nConnection: close\r\n', lines.map((line) => `${line}\r\n`).join(''), '\r\n'),
  );
const statusOf = (text: string): number => Number(text.slice(9, 12));
const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise(setImmediate);
};

describe('routing', () => {
  it.each([
    '/v1/bubbles/42/',
    '/v1/Bubbles',
    '/v1/bubbles;x=1',
    '/v1/bubbles.json',
    '/v1/bubbles%20',
    '/v1/%62ubbles',
    '/v1/nothing',
    '/v1',
    '/v1/bubblesx',
    '/internal/v1/readable',
    '/internal/openapi.json',
    '/v1/meetings/join',
    '/nothing',
    '/metrics',
  ])('[GEN-08] %s does not exist, whatever the credential', async (path) => {
    for (const headers of [{}, AUTHORIZATION]) {
      const response = await world.fetch(path, { headers });
      expect(response.status).toBe(404);
      expect(await response.json()).toEqual({ error: { type: 'not_found', message: 'Not found.' } });
    }
    expect([world.identity.checkCalls, world.bubbles.seen]).toEqual([[], []]);
  });

  it.each([
    ['//v1/bubbles', 400],
    ['/v1//bubbles', 400],
    ['/v1/./bubbles', 400],
    ['/v1/bubbles/../api-keys', 400],
    ['/v1/bubbles/%2e%2e%2fetc', 400],
    ['/v1/bubbles/%2E.', 400],
    ['/v1/bubbles/a%5cb', 400],
    ['/v1/bubbles/a\\b', 400],
    ['/v1/bubbles/%00', 400],
    ['/v1/bubbles/%ZZ', 400],
    ['/v1/bubbles/%', 400],
    ['/v1/bubbles/a#b', 400],
  ])('[GEN-08] %s is refused as it stands', async (path, status) => {
    const text = await get(path, [`Authorization: Bearer ${TOKEN}`]);
    expect(statusOf(text)).toBe(status);
    expect(world.bubbles.seen).toEqual([]);
  });

  it.each(['/v1/bubbles/a%2Fb', '/v1/bubbles/%ff', '/v1/bubbles/a..b', '/v1/bubbles/42?u=http://x//y&q=%ZZ&?=/../', '/v1/bubbles/42?'])(
    '[GEN-08] %s goes on byte for byte',
    async (path) => {
      expect(statusOf(await get(path, [`Authorization: Bearer ${TOKEN}`]))).toBe(200);
      expect(world.bubbles.seen[0]?.url).toBe(path);
    },
  );

  it('[GEN-08] another method of a known path is 404 with Allow, without asking for a credential', async () => {
    const response = await world.fetch('/v1/bubbles', { method: 'PUT' });
    expect([response.status, response.headers.get('allow')]).toEqual([404, 'GET, HEAD, OPTIONS']);
    expect(await response.json()).toMatchObject({ error: { type: 'not_found' } });
    const traced = await rawExchange(world.url, 'TRACE /v1/bubbles HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    expect(statusOf(traced)).toBe(404);
  });

  it('[SIGN-09] HEAD of a GET that acts is 405 with Allow, and never reaches the service', async () => {
    const response = await world.fetch('/v1/bubbles/act?code=123456', { method: 'HEAD' });
    expect([response.status, response.headers.get('allow'), response.headers.get('cache-control')]).toEqual([
      405,
      'GET, OPTIONS',
      'no-store',
    ]);
    expect(world.bubbles.seen).toEqual([]);
    expect((await world.fetch('/v1/bubbles/act')).status).toBe(200);
  });

  it('[GEN-08] [GEN-11] OPTIONS answers 204 from the table, without a credential', async () => {
    const response = await world.fetch('/v1/bubbles/42', { method: 'OPTIONS' });
    expect([response.status, response.headers.get('allow'), await response.text()]).toEqual([204, 'DELETE, GET, HEAD, OPTIONS, POST', '']);
    expect(response.headers.get('access-control-allow-methods')).toBe('DELETE, GET, HEAD, OPTIONS, POST');
    expect(response.headers.get('access-control-allow-headers')).toContain('Authorization');
    expect(response.headers.get('content-length')).toBeNull();
    const page = await world.fetch('/oauth/authorize', { method: 'OPTIONS' });
    expect([page.status, page.headers.get('access-control-allow-origin')]).toEqual([204, null]);
    expect([world.identity.checkCalls, world.bubbles.seen]).toEqual([[], []]);
  });

  it('[API-01] an operation that a service has begun to offer is served at once', async () => {
    const before = world.bubbles.fragment;
    expect((await world.fetch('/v1/bubbles/42/likes')).status).toBe(404);
    world.bubbles.fragment = aFragment({
      '/v1/bubbles/{id}/likes': { get: operation('likes', { auth: 'none' }) },
      '/v1/bubbles/{id}': { get: operation('getBubble') },
    });
    await world.gateway.refresh();
    expect((await world.fetch('/v1/bubbles/42/likes')).status).toBe(200);
    // The version from before counts for a while: other replicas may still be it.
    expect((await world.fetch('/v1/bubbles/open')).status).toBe(200);
    world.bubbles.fragment = before;
  });

  it('[GEN-08] a flood of unknown paths asks a service at most once a second', async () => {
    const clock = fakeClock();
    const still = await startWorld({ infra: { clock } });
    // It asks before it opens, and once more when its poll begins; then the poll sleeps.
    await until(() => still.bubbles.fragmentCalls === 2);
    const flood = () => Promise.all(Array.from({ length: 50 }, (_, index) => still.fetch(`/v1/bubbles/${index}/unknown`)));
    await flood();
    await clock.advance(999);
    await flood();
    const { fragmentCalls } = still.bubbles;
    await still.stop();
    expect(fragmentCalls).toBe(3);
  });
});

describe('who calls', () => {
  const TRACE = `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`;
  let proxied: World;
  beforeAll(async () => {
    proxied = await startWorld({ config: { trustedProxies: peerList().parse('127.0.0.0/8, 10.0.0.0/8') } });
  });
  afterAll(() => proxied.stop());

  it('[GEN-09] behind a trusted proxy its id, trace and addresses count, the nearest address that is not ours first', async () => {
    const response = await proxied.fetch('/v1/bubbles/open', {
      headers: {
        'x-request-id': 'edge-12345678',
        traceparent: TRACE,
        'x-forwarded-for': '6.6.6.6, 203.0.113.9, 10.0.0.7',
        'x-forwarded-proto': 'https',
        'x-forwarded-host': 'api.example',
      },
    });
    expect(response.headers.get('x-request-id')).toBe('edge-12345678');
    expect(proxied.bubbles.seen[0]?.headers).toMatchObject({
      traceparent: expect.stringMatching(/^00-1{32}-[0-9a-f]{16}-01$/),
      'x-forwarded-for': '203.0.113.9',
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'api.example',
      'x-request-id': 'edge-12345678',
    });
  });

  it('[GEN-09] the call to identity and the log are of the request too', async () => {
    const ids = { 'x-request-id': 'edge-of-check', traceparent: TRACE };
    expect((await proxied.fetch('/v1/bubbles/42', { headers: { ...AUTHORIZATION, ...ids } })).status).toBe(200);
    const check = proxied.identity.asked.find(({ url }) => url === '/internal/v1/checks');
    const { traceparent } = proxied.bubbles.seen.at(-1)?.headers ?? {};
    expect(check?.headers).toMatchObject({ 'x-request-id': 'edge-of-check', traceparent });
    await until(() => proxied.log.lines.some(({ fields }) => fields['request_id'] === 'edge-of-check'));
    const line = proxied.log.lines.find(({ fields }) => fields['request_id'] === 'edge-of-check');
    expect(line?.fields).toMatchObject({
      trace_id: '1'.repeat(32),
      parent_span_id: '2'.repeat(16),
      span_id: String(traceparent).slice(36, 52),
    });
  });

  it('polls of fragments have a trace of their own, those that a request caused its trace', async () => {
    const polls = () => proxied.bubbles.asked.filter(({ url }) => url === '/internal/openapi.json').map(({ headers }) => headers);
    const first = polls()[0]?.['traceparent'];
    expect(first).toMatch(/^00-(?!1{32})[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    const ids = { 'x-request-id': 'edge-unknown-1', traceparent: TRACE };
    await proxied.fetch('/v1/bubbles/a/b/c', { headers: ids });
    expect(polls().at(-1)).toMatchObject({ 'x-request-id': 'edge-unknown-1', traceparent: expect.stringMatching(/^00-1{32}-/) });
  });

  it.each(['short', 'x'.repeat(65), 'with blank 1234', 'tab\t12345678', 'ünïcödé-1234'])(
    '[GEN-09] an id that is none (%s) is replaced',
    async (id) => {
      const response = await proxied.fetch('/v1/bubbles/open', { headers: { 'x-request-id': encodeURI(id).slice(0, 70) } });
      expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    },
  );
});

describe('clients that leave', () => {
  it('[ERR-05] end the request at the service too, also before it has answered', async () => {
    const left = Promise.withResolvers<void>();
    world.bubbles.handle = (_, res) => void res.on('close', left.resolve);
    const connection = rawConnection(world.url);
    connection.write('GET /v1/bubbles/open HTTP/1.1\r\nHost: a\r\n\r\n');
    await until(() => world.bubbles.seen.length > 0);
    connection.socket.resetAndDestroy();
    await left.promise;
    await world.gateway.idle();
    expect(world.gateway.inFlight()).toBe(0);
  });

  it('[ERR-05] a thousand of them leave nothing behind', async () => {
    world.bubbles.handle = (_, res) => void res.write('half');
    for (let round = 0; round < 20; round += 1) {
      const connections = Array.from({ length: 50 }, () => rawConnection(world.url));
      await Promise.all(
        connections.map(async (connection, index) => {
          connection.write('GET /v1/bubbles/open HTTP/1.1\r\nHost: a\r\n\r\n');
          if (index % 2 === 0) await connection.receivedMatching(/half/);
          connection.socket.resetAndDestroy();
        }),
      );
    }
    await world.gateway.idle();
    await until(() => world.bubbles.sockets.size <= 2);
    world.bubbles.handle = (_, res) => void res.end('alive');
    expect(await (await world.fetch('/v1/bubbles/open')).text()).toBe('alive');
  });

  it('[ERR-05] connections to a service are kept and used again', async () => {
    for (let index = 0; index < 20; index += 1) await (await world.fetch('/v1/bubbles/open')).text();
    expect(world.bubbles.sockets.size).toBeLessThanOrEqual(3);
  });
});
