import { rawExchange } from '@bubbles/testing/raw-http.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { allowed } from './fake-services.ts';
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

describe('an answer', () => {
  it.each([
    ['whole at once', (body: Buffer) => [body]],
    ['in two parts', (body: Buffer) => [body.subarray(0, 100), body.subarray(100)]],
  ])('that comes %s keeps every byte', async (_, partsOf) => {
    const body = Buffer.from(Array.from({ length: 256 }, (__, byte) => byte));
    world.bubbles.handle = (__, res) => {
      const [first = Buffer.alloc(0), ...rest] = partsOf(body);
      res.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': body.length });
      res.write(first, () => setImmediate(() => res.end(Buffer.concat(rest))));
    };
    const response = await world.fetch('/v1/bubbles/open');
    expect(response.headers.get('content-length')).toBe('256');
    expect(Buffer.from(await response.arrayBuffer())).toEqual(body);
  });
});

describe('admission', () => {
  it('[AUTH-01] [AUTH-08] asks identity by hash and gives the service an assertion instead of the token', async () => {
    const response = await world.fetch('/v1/bubbles/42?x=%2F', { headers: AUTHORIZATION });
    expect(response.status).toBe(200);
    const seen = world.bubbles.seen.at(-1);
    expect(seen).toMatchObject({ url: '/v1/bubbles/42?x=%2F', method: 'GET' });
    expect(seen?.headers['authorization']).toBeUndefined();
    expect(seen?.headers['x-internal-assertion']).toMatch(/^assertion-of\..*for-bubbles-query$/);
    expect(world.identity.checkCalls).toEqual([
      [{ h: expect.stringMatching(/^[0-9a-f]{64}$/), jwt: null, aud: 'bubbles-query', accepts: ['pat', 'oauth'] }],
    ]);
    expect(JSON.stringify([world.identity.checkCalls, world.bubbles.seen])).not.toContain(TOKEN);
  });

  it('[AUTH-01] a token in the form of a JWT goes whole, for only its signature proves it', async () => {
    const jwt = `eyJhbGciOiJFUzI1NiJ9.${Buffer.from('{"gid":"g1"}').toString('base64url')}.c2ln`;
    await world.fetch('/v1/bubbles/42', { headers: { authorization: `bEaReR ${jwt}` } });
    expect(world.identity.checkCalls[0]?.[0]).toMatchObject({ jwt });
  });

  it.each([
    ['none', []],
    ['another scheme', ['Authorization: Basic dXNlcjpwYXNz']],
    ['no blank', [`Authorization: Bearer${TOKEN}`]],
    ['no token', ['Authorization: Bearer ']],
    ['a list', ['Authorization: Bearer a, Bearer b']],
    ['two headers', [`Authorization: Bearer ${TOKEN}`, `Authorization: Bearer ${TOKEN}`]],
    ['a character that no token has', ['Authorization: Bearer svc_pat_\xe9']],
    ['a cookie', [`Cookie: session=${TOKEN}`]],
    ['a header of another habit', [`X-Api-Key: ${TOKEN}`]],
    ['a proxy credential', [`Proxy-Authorization: Bearer ${TOKEN}`]],
    ['a longer token than there is', [`Authorization: Bearer ${'a'.repeat(9000)}`]],
  ])('[AUTH-01] [ERR-04] no credential that could be one (%s): 401 with a challenge, and nobody is asked', async (_, lines) => {
    const text = await get(`/v1/bubbles/42?access_token=${TOKEN}`, lines);
    expect(statusOf(text)).toBe(401);
    expect(text).toContain('WWW-Authenticate: Bearer resource_metadata="http://api.test/.well-known/oauth-protected-resource"');
    expect(text).toContain('"type":"unauthorized"');
    expect([world.identity.checkCalls, world.bubbles.seen]).toEqual([[], []]);
  });

  it.each(['unauthorized', 'account_deleted', 'token_revoked'] as const)(
    '[AUTH-04] [AUTH-05] what identity refuses as %s is 401 of that type',
    async (type) => {
      world.identity.decide = ({ h }) => ({ h, outcome: 'refused', type });
      const response = await world.fetch('/v1/bubbles/42', { headers: AUTHORIZATION });
      expect(response.status).toBe(401);
      expect(await response.json()).toMatchObject({ error: { type } });
      expect(response.headers.get('cache-control')).toBe('no-store');
      expect(world.bubbles.seen).toEqual([]);
    },
  );

  it('[RATE-01] [RATE-03] a spent budget is 429 with Retry-After and the budget, before anything of the request is judged', async () => {
    world.identity.decide = ({ h }) => ({ h, outcome: 'limited', retry_after_seconds: 17, limit: 120, remaining: 0, reset_seconds: 17 });
    const response = await world.fetch('/v1/bubbles/42', { method: 'POST', headers: AUTHORIZATION, body: 'x'.repeat(300_000) });
    expect(response.status).toBe(429);
    expect(await response.json()).toMatchObject({ error: { type: 'rate_limited' } });
    expect(response.headers.get('retry-after')).toBe('17');
    expect(response.headers.get('ratelimit')).toBe('"default";r=0;t=17');
  });

  it('[RATE-03] an admitted answer carries the budget', async () => {
    const response = await world.fetch('/v1/bubbles/42', { headers: AUTHORIZATION });
    expect(response.headers.get('ratelimit-policy')).toBe('"default";q=120;w=60');
    expect(response.headers.get('ratelimit')).toBe('"default";r=119;t=60');
  });

  it('[AUTH-01] many credentials at once travel in few calls, and each gets its own identity', async () => {
    const tokens = Array.from({ length: 200 }, (_, index) => `svc_pat_${index}`);
    const replies = await Promise.all(
      tokens.map((token) =>
        world.fetch('/v1/bubbles/42', { headers: { authorization: `Bearer ${token}` } }).then((response) => response.json()),
      ),
    );
    const assertions = replies.map((seen) => JSON.stringify(seen)).map((text) => /assertion-of[^"]*/.exec(text)?.[0]);
    const { hash } = await import('node:crypto');
    expect(assertions).toEqual(tokens.map((token) => `assertion-of.${hash('sha256', token, 'hex').slice(0, 12)}.for-bubbles-query`));
    expect(world.identity.checkCalls.length).toBeLessThan(tokens.length);
  });

  it('[AUTH-02] identity gets its own routes with the credential, in one hop', async () => {
    world.identity.handle = (_, res) => void res.end('{}');
    // A credential that identity has judged before.
    await world.fetch('/v1/bubbles/42', { headers: AUTHORIZATION });
    world.identity.checkCalls.length = 0;
    await world.fetch('/v1/me', { headers: AUTHORIZATION });
    expect(world.identity.seen[0]?.headers['authorization']).toBe(`Bearer ${TOKEN}`);
    expect(world.identity.checkCalls).toEqual([]);
  });

  it('[AUTH-07] a route without credentials is relayed without them', async () => {
    await world.fetch('/v1/bubbles/open', { headers: AUTHORIZATION });
    expect(world.bubbles.seen[0]?.headers).not.toHaveProperty('authorization');
    expect(world.bubbles.seen[0]?.headers).not.toHaveProperty('x-internal-assertion');
    expect(world.identity.checkCalls).toEqual([]);
  });
});

describe('headers', () => {
  const SPOOFED = [
    'X-Internal-Assertion: forged',
    'x-internal-anything: forged',
    'X-Forwarded-For: 6.6.6.6',
    'X-Forwarded-Prefix: /evil',
    'Forwarded: for=6.6.6.6',
    'X-Real-IP: 6.6.6.6',
    'X_Internal_Assertion: forged',
    'X-Request-Id: chosen-by-client',
    'Traceparent: 00-11111111111111111111111111111111-2222222222222222-01',
    'Baggage: a=b',
  ];

  it('[GEN-08] nothing that only we may say comes from a client', async () => {
    await get('/v1/bubbles/open', [...SPOOFED, 'X-Own: kept']);
    const [seen] = world.bubbles.seen;
    expect(JSON.stringify(seen)).not.toMatch(/forged|6\.6\.6\.6|evil|chosen-by-client|1111111111|baggage/i);
    expect(seen?.headers).toMatchObject({
      'x-own': 'kept',
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': 'api.test',
    });
    expect(seen?.headers['traceparent']).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
  });

  it('[GEN-08] hop-by-hop headers and those that Connection names stay here, but it cannot take away ours', async () => {
    await get('/v1/bubbles/42', [
      `Authorization: Bearer ${TOKEN}`,
      'Connection: X-Secret, X-Internal-Assertion, X-Request-Id',
      'X-Secret: 1',
      'TE: trailers',
      'Trailer: x-late',
      'Keep-Alive: 5',
      'Proxy-Connection: keep-alive',
    ]);
    const headers = world.bubbles.seen[0]?.headers;
    for (const name of ['x-secret', 'te', 'trailer', 'proxy-connection', 'keep-alive']) expect(headers).not.toHaveProperty(name);
    expect(headers).toMatchObject({ 'x-internal-assertion': expect.stringContaining('assertion-of'), 'x-request-id': expect.any(String) });
  });

  it('[GEN-08] what is meant for the service goes on, although Connection names it', async () => {
    world.identity.handle = (_, res) => void res.end('{}');
    for (const path of ['/v1/me', '/v1/bubbles/42'])
      await get(path, [`Authorization: Bearer ${TOKEN}`, 'Connection: Authorization, Idempotency-Key', 'Idempotency-Key: once']);
    expect(world.identity.seen[0]?.headers).toMatchObject({ authorization: `Bearer ${TOKEN}`, 'idempotency-key': 'once' });
    expect(world.bubbles.seen[0]?.headers['idempotency-key']).toBe('once');
  });

  it('[GEN-09] one X-Request-Id, the same in answer, service and log, and never the one that a stranger sends', async () => {
    world.bubbles.handle = (_, res) => void res.writeHead(200, { 'x-request-id': 'of-the-service' }).end();
    const text = await get('/v1/bubbles/open', ['X-Request-Id: chosen-by-client']);
    const ids = [...text.matchAll(/^x-request-id: (.*)\r$/gim)].map(([, id]) => id);
    expect(ids).toEqual([world.bubbles.seen[0]?.headers['x-request-id']]);
    expect(ids[0]).toMatch(/^[0-9a-f-]{36}$/);
    await until(() => world.log.lines.some(({ fields }) => fields['request_id'] === ids[0]));
  });

  it('[GEN-08] what a service says about itself and its connection stays here', async () => {
    world.bubbles.handle = (_, res) => {
      res
        .setHeader('Server', 'secret/1.0')
        .setHeader('X-Powered-By', 'secret')
        .setHeader('Connection', 'close, X-Hop')
        .setHeader('X-Hop', '1');
      res.setHeader('X-Internal-Debug', 'secret').setHeader('X-Own', 'kept').setHeader('Keep-Alive', 'timeout=1').end('{}');
    };
    const text = await get('/v1/bubbles/open');
    expect(text).not.toMatch(/secret|x-hop|timeout=1/i);
    expect(text).toContain('x-own: kept');
  });

  it('[GEN-11] every origin may read, without credentials, whatever the service says', async () => {
    world.bubbles.handle = (_, res) =>
      void res.writeHead(200, { 'access-control-allow-origin': 'https://evil.test', 'access-control-allow-credentials': 'true' }).end('{}');
    const response = await world.fetch('/v1/bubbles/open', { headers: { origin: 'https://evil.test' } });
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(response.headers.get('access-control-allow-credentials')).toBeNull();
    expect(response.headers.get('access-control-expose-headers')).toBe(
      'X-Request-Id, Retry-After, RateLimit, RateLimit-Policy, WWW-Authenticate, Idempotency-Replayed, Deprecation, Sunset, Content-Disposition',
    );
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    const refused = await world.fetch('/v1/bubbles/42', { headers: { origin: 'https://evil.test' } });
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([401, '*']);
  });
});
