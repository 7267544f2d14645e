import { rawExchange } from '@bubbles/testing/raw-http.ts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Answer, type Call, send } from './support/client.ts';
import { openWorld } from './support/open-world.ts';
import type { Person, World } from './support/world.ts';

let world: World;
let person: Person;
let bubbleId: string;
/** Somebody whose budget is whole. */
const enter = async () => {
  person = await world.user();
  await world.team({ name: 'Pro', plan: 'pro', members: [{ user_id: person.id, role: 'admin' }] });
  bubbleId = (await world.bubble({ type: 'screen_recording', participant_ids: [person.id] })).id;
};
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const call = (path: string, options: Call = {}) => send(world.baseUrl, path, { as: person.pat, ...options });
const refusal = ({ status, json }: Answer) => [status, json.error.type];
const REFUSED = [400, 'invalid_request'];
const ABSENT = [404, 'not_found'];
/** A request of very bytes; `Host` and an end are added. */
const raw = async (line: string, more: readonly string[] = []) => {
  const text = await rawExchange(
    world.baseUrl,
    [line, `Host: ${new URL(world.baseUrl).host}`, 'Connection: close', ...more, '', ''].join('\r\n'),
  );
  const [head = '', body = ''] = text.split('\r\n\r\n');
  return { status: Number(head.split(' ')[1]), head: head.toLowerCase(), body };
};

describe('section 1 and 2, conventions', () => {
  beforeAll(enter);

  it.each(['/v1/me', '/v1/teams', '/v1/bubbles', '/v1/webhooks', '/v1/nothing', '/nothing', '/v1/bubbles?limit=0', '/v1/openapi.json'])(
    '[GEN-02] %s answers JSON',
    async (path) => {
      const answer = await call(path);
      expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(JSON.parse(answer.text)).toEqual(answer.json);
    },
  );

  it.each([
    '/me',
    '/teams',
    '/bubbles',
    '/webhooks',
    '/api-keys',
    '/V1/me',
    '/v2/me',
    '/internal/v1/checks',
    '/internal/openapi.json',
    '/metrics',
    '/livez',
  ])('[GEN-01] there is nothing at %s', async (path) => {
    expect(refusal(await call(path))).toEqual(ABSENT);
  });

  it('[GEN-03] every timestamp is ISO-8601 in UTC with milliseconds', async () => {
    const { json } = await call(`/v1/bubbles/${bubbleId}`);
    for (const time of [json.created_at]) expect(new Date(time).toISOString()).toBe(time);
    const { json: keys } = await call('/v1/api-keys', { as: person.session_token });
    for (const { created_at, last_used_at } of keys.data)
      for (const time of [created_at, last_used_at]) if (time !== null) expect(new Date(time).toISOString()).toBe(time);
  });

  it('[GEN-06] unknown parameters are ignored, also many of them', async () => {
    expect((await call('/v1/bubbles?colour=red&colour=blue&=&x[]=1&__proto__=1&constructor[prototype]=x')).status).toBe(200);
    expect((await call('/v1/me?limit=abc')).status).toBe(200);
  });

  it.each(['limit', 'cursor', 'team_id', 'space_id', 'type', 'created_after', 'created_before'])(
    '[GEN-06] an empty or a repeated %s is refused',
    async (name) => {
      for (const query of [`${name}=`, `${name}=1&${name}=1`]) {
        const answer = await call(`/v1/bubbles?${query}`);
        expect(refusal(answer)).toEqual(REFUSED);
        expect(answer.json.error.message).toContain(name);
      }
    },
  );
});

describe('section 4, bodies', () => {
  beforeAll(enter);

  const create = (body: unknown, headers = {}) => call('/v1/api-keys', { method: 'POST', as: person.session_token, body, headers });

  it.each(['', '{', '{}x', '[]', '"a"', '1', 'null', 'true', 'NaN', '{a:1}', '{"name":"a",}', '{"name":"a"}//', '{}'])(
    '[GEN-07] the body %s is refused',
    async (body) => {
      expect(refusal(await create(body))).toEqual(REFUSED);
    },
  );

  it('[GEN-07] unknown fields are ignored; a BOM, twice the same field and deep nesting are settled without a fault', async () => {
    expect((await create({ name: 'k', extra: { deep: [1] }, id: 'mine' })).status).toBe(201);
    for (const body of ['\ufeff{"name":"a"}', '{"name":"a","name":"b"}', `{"name":${'['.repeat(20_000)}`])
      expect([201, 400]).toContain((await create(body)).status);
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', ''])(
    '[GEN-07] the content type %j is refused',
    async (type) => {
      expect(refusal(await create('{"name":"a"}', { 'content-type': type }))).toEqual(REFUSED);
    },
  );

  it('[GEN-07] a body over 64 KiB or an encoded one is refused', async () => {
    for (const kibibytes of [64, 300]) {
      const large = await create({ name: 'a', padding: 'x'.repeat(kibibytes * 1024) });
      expect(refusal(large)).toEqual(REFUSED);
      expect(large.json.error.message).toContain('65536');
    }
    expect(refusal(await create('{"name":"a"}', { 'content-encoding': 'gzip' }))).toEqual(REFUSED);
    expect((await create('{"name":"a"}', { 'content-encoding': 'Identity' })).status).toBe(201);
  });
});

describe('section 4, paths and methods', () => {
  beforeAll(enter);

  it.each([
    '/v1/bubbles/',
    '/v1/me/',
    '/v1/ME',
    '/v1/bubbles.json',
    '/v1/bubbles;x=1',
    '/v1/bubbles%20',
    '/v1/bubbles/a/b',
    '/v1/bubbles/a%2Fcomments',
  ])('[GEN-08] %s is unknown', async (path) => {
    expect(await raw(`GET ${path} HTTP/1.1`, [`Authorization: Bearer ${person.pat}`])).toMatchObject({ status: 404 });
  });

  it.each([
    '//v1/me',
    '/v1//me',
    '/v1/./me',
    '/v1/bubbles/../me',
    '/v1/bubbles/%2e%2E/me',
    '/v1/bubbles/%2e%2e%2fme',
    '/v1/bubbles/a\\b',
    '/v1/bubbles/a%5cb',
    '/v1/bubbles/%00',
    '/v1/bubbles/%ZZ',
    '/v1/bubbles/é',
    'http://evil.test/v1/me',
    'v1/me',
    '*',
  ])('[GEN-08] the target %s is refused', async (target) => {
    const answer = await raw(`GET ${target} HTTP/1.1`, [`Authorization: Bearer ${person.pat}`]);
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.body)).toMatchObject({ error: { type: 'invalid_request' } });
  });

  it.each([
    ['PUT', '/v1/bubbles', 'GET, HEAD, OPTIONS'],
    ['POST', '/v1/me', 'GET, HEAD, OPTIONS'],
    ['DELETE', '/v1/webhooks', 'GET, HEAD, OPTIONS, POST'],
    ['GET', '/v1/webhooks/wh_x/test', 'OPTIONS, POST'],
    ['PATCH', '/v1/api-keys/x', 'DELETE, OPTIONS'],
    ['TRACE', '/v1/me', 'GET, HEAD, OPTIONS'],
  ])('[GEN-08] %s %s is 404 with Allow, whatever the credential', async (method, path, allowed) => {
    for (const credential of [[], [`Authorization: Bearer ${person.pat}`], ['Authorization: Bearer svc_pat_unknown']]) {
      const answer = await raw(`${method} ${path} HTTP/1.1`, credential);
      expect(answer.status).toBe(404);
      const allow = /^allow: (.*)$/m.exec(answer.head)?.[1]?.trim().toUpperCase().split(/, ?/).toSorted().join(', ');
      expect(allow).toBe(allowed);
    }
  });

  it.each(['/v1/me', '/v1/bubbles', '/v1/openapi.json', '/v1/nothing', '/v1/bubbles?limit=0'])(
    '[GEN-08] HEAD %s answers as GET without a body',
    async (path) => {
      const [get, head] = [await call(path), await call(path, { method: 'HEAD' })];
      expect([head.status, head.text]).toEqual([get.status, '']);
      for (const name of ['content-type', 'content-length', 'cache-control', 'etag'])
        expect(head.headers.get(name)).toBe(get.headers.get(name));
    },
  );

  it('[GEN-08] [GEN-11] OPTIONS needs no credential', async () => {
    const answer = await send(world.baseUrl, '/v1/bubbles', { method: 'OPTIONS' });
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect(answer.headers.get('allow')).toContain('GET');
  });

  it.each([
    ['no Host', 'GET /v1/openapi.json HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ['two Hosts', 'GET /v1/openapi.json HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n'],
    ['a malformed Host', 'GET /v1/openapi.json HTTP/1.1\r\nHost: good.test:80@evil.test\r\nConnection: close\r\n\r\n'],
    ['a head over the limit', `GET /v1/openapi.json HTTP/1.1\r\nHost: a\r\nX-Long: ${'x'.repeat(20_000)}\r\nConnection: close\r\n\r\n`],
    ['200 header lines', `GET /v1/openapi.json HTTP/1.1\r\nHost: a\r\n${'X-A: b\r\n'.repeat(200)}Connection: close\r\n\r\n`],
    ['a target over the limit', `GET /v1/${'x'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`],
    ['no HTTP', 'hello\r\n\r\n'],
  ])('[GEN-08] %s is refused with the envelope', async (_name, bytes) => {
    const text = await rawExchange(world.baseUrl, bytes);
    expect(text).toMatch(/^HTTP\/1\.1 400 /);
    expect(JSON.parse(text.slice(text.indexOf('\r\n\r\n')))).toMatchObject({ error: { type: 'invalid_request' } });
    expect((await call('/v1/me')).status).toBe(200);
  });

  it('[GEN-08] an upgrade is ignored', async () => {
    const answer = await raw('GET /v1/nothing HTTP/1.1', ['Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__']);
    expect(answer.status).toBe(404);
  });
});

describe('headers of every answer', () => {
  beforeAll(enter);

  const PATHS = ['/v1/me', '/v1/nothing', '/v1/bubbles/x', '/v1/bubbles?limit=0', '/v1/openapi.json'];

  it.each(PATHS)('[GEN-09] %s carries one new request id', async (path) => {
    const answers = [await call(path), await call(path, { headers: { 'x-request-id': 'mine-1234567' } })];
    const ids = answers.map(({ headers }) => headers.get('x-request-id'));
    for (const id of ids) expect(id).toMatch(/^[A-Za-z0-9._-]{8,64}$/);
    expect(new Set([...ids, 'mine-1234567']).size).toBe(3);
  });

  it.each(PATHS)('[GEN-11] %s may be read by scripts of any origin, without credentials', async (path) => {
    const { headers } = await call(path, { headers: { origin: 'https://evil.test' } });
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('access-control-allow-credentials')).toBeNull();
    const exposed = headers.get('access-control-expose-headers')?.split(/, ?/) ?? [];
    expect(exposed).toEqual(expect.arrayContaining(['X-Request-Id', 'Retry-After', 'RateLimit', 'RateLimit-Policy', 'WWW-Authenticate']));
  });

  it('[GEN-11] a preflight is answered with the methods that there are', async () => {
    const headers = {
      origin: 'https://a.test',
      'access-control-request-method': 'PATCH',
      'access-control-request-headers': 'authorization',
    };
    const { status, headers: answered } = await send(world.baseUrl, '/v1/webhooks/wh_x', { method: 'OPTIONS', headers });
    expect(status).toBe(204);
    expect(answered.get('access-control-allow-methods')?.split(', ').toSorted()).toEqual(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH']);
    expect(answered.get('access-control-allow-headers')?.toLowerCase()).toContain('authorization');
  });

  it('[GEN-12] links lead into the app', async () => {
    const { json } = await call(`/v1/bubbles/${bubbleId}`);
    expect(json.url).toMatch(/^https?:\/\/[^/]+\/b\/[0-9A-Za-z]{22}$/);
    const made = await world.comment(bubbleId, { author_id: person.id, body: 'x' });
    const { json: comments } = await call(`/v1/bubbles/${bubbleId}/comments`);
    expect(comments.data.at(-1).url).toBe(`${json.url}?comment=${made.id}`);
  });
});
