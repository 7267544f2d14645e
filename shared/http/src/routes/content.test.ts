import { setImmediate } from 'node:timers/promises';
import { anyone } from '@bubbles/auth/guards.ts';
import { startTestHttp, type TestHttp, type TestHttpOptions } from '@bubbles/testing/http.ts';
import { memoryLog } from '@bubbles/testing/memory-log.ts';
import { rawExchange } from '@bubbles/testing/raw-http.ts';
import { jsonBody } from '@bubbles/testing/requests.ts';
import { afterEach, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { bytes, empty, file, form, html, json, raw, redirect, text, withDetails } from './content.ts';
import { markup } from './markup.ts';
import { cookie, reply, seeOther } from './reply.ts';
import { type Route, route } from './route.ts';

const open: TestHttp[] = [];
afterEach(async () => {
  for (const http of open.splice(0)) await http.stop();
});
const serve = async (one: TestHttpOptions['routes'][number], options: Partial<TestHttpOptions> = {}): Promise<TestHttp> => {
  const http = await startTestHttp({ routes: [one], ...options });
  open.push(http);
  return http;
};

const post = { method: 'POST', path: '/things', operationId: 'postThing', summary: 's', tag: 'T', guard: anyone } as const;
const get = { ...post, method: 'GET' } as const;
const Thing = z.object({ id: z.string() });

describe('a form', () => {
  const Order = z.object({ name: z.string(), note: z.string().optional(), colours: z.array(z.string()).default([]) });
  const ordered = () => route({ ...post, body: form(Order), answers: { 200: json(Order) } }, ({ body }) => Promise.resolve(body));
  const send = (http: TestHttp, body: string, contentType = 'application/x-www-form-urlencoded') =>
    http.fetch('/things', { method: 'POST', body, headers: { 'content-type': contentType } });

  it('is read as browsers send it: blanks, empty fields, a list, names that nobody knows', async () => {
    const answer = await send(await serve(ordered()), 'name=%C3%A9+b&note=&colours=red&colours=blue&csrf=1');
    expect(await answer.json()).toEqual({ name: 'é b', note: '', colours: ['red', 'blue'] });
  });

  it.each([
    ['name=a&name=b', 'name: may be given once'],
    ['note=a', 'name: is required'],
    ['name=%ZZ', 'body: malformed percent-encoding'],
    ['name=%00', 'body: must be well-formed text without NUL'],
  ])('%s is refused and named', async (body, message) => {
    const answer = await send(await serve(ordered()), body);
    expect([answer.status, await answer.json()]).toEqual([400, { error: { type: 'invalid_request', message } }]);
  });

  it('of another media type, of another charset or too long is refused', async () => {
    const http = await serve(ordered());
    expect((await send(http, 'name=a', 'application/json')).status).toBe(400);
    expect((await send(http, 'name=a', 'application/x-www-form-urlencoded; charset=latin1')).status).toBe(400);
    expect((await send(http, 'name=a', 'Application/X-WWW-Form-Urlencoded; charset=UTF-8')).status).toBe(200);
    expect((await send(http, `name=${'a'.repeat(70_000)}`)).status).toBe(400);
  });
});

describe('raw bytes', () => {
  const echoing = () =>
    route(
      { ...post, body: raw({ mediaTypes: ['image/*', 'text/plain'], limitBytes: 8 }), answers: { 200: bytes('image/png') } },
      ({ body }) => Promise.resolve(body),
    );
  const send = (http: TestHttp, body: Uint8Array<ArrayBuffer>, contentType: string) =>
    http.fetch('/things', { method: 'POST', body, headers: { 'content-type': contentType } });

  it('arrive and leave as they are', async () => {
    const sent = Uint8Array.of(0, 255, 10, 13, 0);
    const answer = await send(await serve(echoing()), sent, 'image/png');
    expect(answer.headers.get('content-type')).toBe('image/png');
    expect(new Uint8Array(await answer.arrayBuffer())).toEqual(sent);
  });

  it('are refused above their limit, and of a media type that the route does not read', async () => {
    const http = await serve(echoing());
    expect((await send(http, new Uint8Array(8), 'text/plain; charset=latin1')).status).toBe(200);
    const tooMany = await send(http, new Uint8Array(9), 'image/png');
    expect([tooMany.status, await tooMany.json()]).toMatchObject([400, { error: { message: 'body: must have at most 8 bytes' } }]);
    const other = await send(http, new Uint8Array(8), 'application/pdf');
    expect([other.status, await other.json()]).toMatchObject([
      400,
      { error: { message: 'body: Content-Type must be image/* or text/plain' } },
    ]);
  });
});

describe('headers of a request', () => {
  const reading = () =>
    route({ ...get, headers: z.object({ 'x-mark': z.string().max(3).optional() }), answers: { 200: json(z.unknown()) } }, ({ headers }) =>
      Promise.resolve(headers),
    );

  it('are read by their schema, others are ignored', async () => {
    const http = await serve(reading());
    expect(await (await http.fetch('/things', { headers: { 'X-Mark': 'abc', 'x-other': '1' } })).json()).toEqual({ 'x-mark': 'abc' });
    expect(await (await http.fetch('/things')).json()).toEqual({});
    expect((await http.fetch('/things', { headers: { 'x-mark': 'abcd' } })).status).toBe(400);
  });
});

describe('several answers', () => {
  const Created = withDetails(json(Thing), { headers: { ETag: 'Of the thing.' } });
  const answers = { 201: Created, 200: json(Thing), 202: empty, 303: redirect } as const;
  const answering = () =>
    route({ ...post, body: z.object({ as: z.enum(['new', 'known', 'later', 'elsewhere']) }), answers }, ({ body }) => {
      switch (body.as) {
        case 'new':
          return Promise.resolve(reply(201, { id: 'a' }, { headers: { ETag: '"1"' } }));
        case 'known':
          return Promise.resolve(reply(200, { id: 'a', secret: 'b' }));
        case 'later':
          return Promise.resolve(reply(202));
        case 'elsewhere':
          return Promise.resolve(seeOther('/things/a?b=c'));
      }
    });

  it('have each their status, their headers and their schema', async () => {
    const http = await serve(answering());
    const created = await http.fetch('/things', jsonBody({ as: 'new' }));
    expect([created.status, created.headers.get('etag'), await created.json()]).toEqual([201, '"1"', { id: 'a' }]);
    const known = await http.fetch('/things', jsonBody({ as: 'known' }));
    expect([known.status, known.headers.get('etag'), await known.json()]).toEqual([200, null, { id: 'a' }]);
    const later = await http.fetch('/things', jsonBody({ as: 'later' }));
    expect([later.status, later.headers.get('content-type'), await later.text()]).toEqual([202, null, '']);
    const elsewhere = await http.fetch('/things', { ...jsonBody({ as: 'elsewhere' }), redirect: 'manual' });
    expect([elsewhere.status, elsewhere.headers.get('location'), await elsewhere.text()]).toEqual([303, '/things/a?b=c', '']);
  });

  it('are the only ones: others neither compile nor leave', async () => {
    const log = memoryLog();
    const wrong: Route[] = [
      // @ts-expect-error: 204 is no answer of this route.
      route({ ...post, answers }, () => Promise.resolve(reply(204))),
      // @ts-expect-error: which of them it is has to be said.
      route({ ...post, answers }, () => Promise.resolve({ id: 'a' })),
      // @ts-expect-error: this answer has another body.
      route({ ...post, answers }, () => Promise.resolve(reply(201, { name: 'a' }))),
      // @ts-expect-error: this answer has no such header.
      route({ ...post, answers }, () => Promise.resolve(reply(200, { id: 'a' }, { headers: { ETag: '"1"' } }))),
      // @ts-expect-error: this answer sets no cookie.
      route({ ...post, answers }, () => Promise.resolve(reply(200, { id: 'a' }, { cookies: [cookie('session', 'a')] }))),
    ];
    for (const one of wrong) {
      const http = await serve(one, { log });
      const answer = await http.fetch('/things', { method: 'POST' });
      expect([answer.status, answer.headers.get('etag'), answer.headers.get('set-cookie')]).toEqual([500, null, null]);
    }
    expect(log.lines.filter(({ level }) => level === 'error')).toHaveLength(wrong.length);
  });
});

describe('a page', () => {
  it('loads nothing, and is told apart from text', async () => {
    const page = await (await serve(route({ ...get, answers: { 200: html } }, () => Promise.resolve(markup`<p>a</p>`)))).fetch('/things');
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(page.headers.get('x-frame-options')).toBe('DENY');
    expect(await page.text()).toBe('<p>a</p>');
    const plain = await (await serve(route({ ...get, answers: { 200: text } }, () => Promise.resolve('<p>a</p>')))).fetch('/things');
    expect(plain.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(plain.headers.get('content-security-policy')).toBeNull();
  });

  it('may show a form again under the status of what is wrong in it', async () => {
    const again = route({ ...post, answers: { 303: redirect, 400: html } }, () =>
      Promise.resolve(reply(400, markup`<p>Choose a name.</p>`)),
    );
    const answer = await (await serve(again)).fetch('/things', { method: 'POST' });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([400, 'text/html; charset=utf-8']);
    expect(await answer.text()).toBe('<p>Choose a name.</p>');
  });

  it.each([400, 500])('is the only answer that a refusal of %i may have', async (status) => {
    const kind = status === 400 ? text : html;
    await expect(serve(route({ ...get, answers: { [status]: kind } }, () => Promise.reject()))).rejects.toThrow('a refusal is thrown');
  });
});

describe('a cookie', () => {
  const signIn = withDetails(redirect, { cookies: { session: 'Who is signed in.', seen: 'For a year.' } });

  it('is closed to scripts, to other sites and to plain http, unless the route opens it', async () => {
    const cookies = [cookie('session', 'abc'), cookie('seen', '1', { maxAgeSeconds: 60, path: '/app', secure: false })];
    const http = await serve(route({ ...post, answers: { 303: signIn } }, () => Promise.resolve(seeOther('/', { cookies }))));
    const answer = await http.fetch('/things', { method: 'POST', redirect: 'manual' });
    expect(answer.headers.getSetCookie()).toEqual([
      'session=abc; Path=/; HttpOnly; SameSite=Lax; Secure',
      'seen=1; Path=/app; Max-Age=60; HttpOnly; SameSite=Lax',
    ]);
  });

  it.each([
    ['session', 'a;b'],
    ['session', 'a b'],
    ['session', 'é'],
    ['ses sion', 'a'],
    ['', 'a'],
  ])('of a character that ends it is not made: "%s" "%s"', (name, value) => {
    expect(() => cookie(name, value)).toThrow(TypeError);
  });
});

describe('a file', () => {
  const chunks = async function* (texts: readonly string[], fault?: Error) {
    for (const one of texts) yield Buffer.from(one);
    // What was sent is on its way.
    await setImmediate();
    if (fault) throw fault;
  };
  const serveFile = (source: () => AsyncIterable<Uint8Array>, length: number) =>
    route({ ...get, answers: { 200: file } }, () => Promise.resolve({ contentType: 'video/mp4', length, bytes: source() }));

  it('is sent as it is read, with its own type and length', async () => {
    const http = await serve(serveFile(() => chunks(['some', 'bytes']), 9));
    const answer = await http.fetch('/things');
    expect([answer.headers.get('content-type'), answer.headers.get('content-length'), await answer.text()]).toEqual([
      'video/mp4',
      '9',
      'somebytes',
    ]);
  });

  it('[GEN-08] of HEAD is its headers alone, and is not begun', async () => {
    let begun = false;
    const source = async function* () {
      begun = true;
      yield await Promise.resolve(Buffer.from('x'));
    };
    const http = await serve(serveFile(source, 9));
    const answer = await http.fetch('/things', { method: 'HEAD' });
    expect([answer.status, answer.headers.get('content-length'), begun]).toEqual([200, '9', false]);
  });

  it('that fails is broken off, not ended', async () => {
    const log = memoryLog();
    const http = await serve(
      serveFile(() => chunks(['some'], new TypeError('a bug')), 9),
      { log },
    );
    expect(await rawExchange(http.url, 'GET /things HTTP/1.1\r\nHost: a\r\n\r\n')).toMatch(/\r\n\r\nsome$/);
    expect(log.lines.map(({ level, message }) => [level, message])).toEqual([['error', 'request failed']]);
  });

  it('is left when its reader leaves', async () => {
    const ended = Promise.withResolvers<void>();
    const source = async function* () {
      try {
        for (;;) yield await setImmediate(Buffer.alloc(65_536));
      } finally {
        ended.resolve();
      }
    };
    const http = await serve(serveFile(source, 1e12));
    const answer = await http.fetch('/things');
    await answer.body?.cancel();
    await expect(ended.promise).resolves.toBeUndefined();
  });
});
