import { type AuthPorts, anyone, session } from '@bubbles/auth/guards.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import { SILENT_LOG, startTestHttp, type TestHttp, type TestHttpOptions } from '@bubbles/testing/http.ts';
import { SAMPLE_ERRORS } from '@bubbles/testing/sample-routes.ts';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { openApiFragment } from '../document/openapi.ts';
import { bytes, empty, eventStream, everyParameter, form, html, json, raw, redirect, withDetails } from './content.ts';
import type { Guard } from './guard.ts';
import { cookie, reply, seeOther } from './reply.ts';
import { checkRoutes, type Route, type RouteSpec, route } from './route.ts';

const open: TestHttp[] = [];
afterEach(async () => {
  for (const http of open.splice(0)) await http.stop();
});
const serve = async (one: Route<AuthPorts>, options: Partial<TestHttpOptions> = {}): Promise<TestHttp> => {
  const http = await startTestHttp({ routes: [one], ...options });
  open.push(http);
  return http;
};

const common = { path: '/things', operationId: 'aThing', summary: 's', tag: 'T' } as const;
const get = { ...common, method: 'GET', guard: anyone, answers: { 200: json(z.unknown()) } } as const;

describe('a guard of a service', () => {
  /** Knows a client by the secret in its form, as OAuth lets it. */
  const client: Guard<{ readonly client: string }> = {
    ...anyone,
    admit: async ({ body, clientAddress, answerWith }) => {
      const { secret } = z.object({ secret: z.string() }).parse(await body());
      answerWith('X-Seen', `${secret} from ${clientAddress()}`);
      if (secret !== 'right') throw new DomainError('unauthorized', 'No such client.');
      return { client: 'app-1' };
    },
  };
  const spec = { ...common, method: 'POST', guard: client, body: form(z.object({ secret: z.string(), code: z.string() })) } as const;

  it('may look for the credential in the body, and hands over what it found', async () => {
    const token = { ...spec, answers: { 200: json(z.object({ client: z.string(), code: z.string() })) } };
    const http = await serve(route(token, ({ client: name, body }) => Promise.resolve({ client: name, code: body.code })));
    const headers = { 'x-forwarded-for': '203.0.113.9' };
    const send = (secret: string) => http.fetch('/things', { method: 'POST', headers, body: new URLSearchParams({ secret, code: 'c' }) });
    const known = await send('right');
    expect([known.status, known.headers.get('x-seen'), await known.json()]).toEqual([
      200,
      'right from 203.0.113.9',
      { client: 'app-1', code: 'c' },
    ]);
    const unknown = await send('wrong');
    expect([unknown.status, unknown.headers.get('x-seen')]).toEqual([401, 'wrong from 203.0.113.9']);
  });
});

describe('a guard of pages', () => {
  const signedIn: Guard<{ readonly session: string }> = {
    ...anyone,
    reads: 'Cookie',
    admit: async ({ cookie: sent, target }) => {
      await Promise.resolve();
      const session = sent('session');
      const cookies = [cookie('flow', 'f1')];
      return session === null ? seeOther(`/app/sign-in?return_to=${encodeURIComponent(target)}`, { cookies }) : { session };
    },
  };
  const worked: string[] = [];
  beforeEach(() => {
    worked.length = 0;
  });
  const page = route({ ...get, guard: signedIn, query: z.object({ q: z.string() }), errorFormat: 'page' }, ({ session }) => {
    worked.push(session);
    return Promise.resolve(session);
  });
  const visit = async (path: string, headers: Record<string, string> = {}) =>
    (await serve(page)).fetch(path, { headers, redirect: 'manual' });

  it('may send the browser elsewhere first, before anything else of the request is judged', async () => {
    const answer = await visit('/things?q=1&q=%ZZ');
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/app/sign-in?return_to=%2Fthings%3Fq%3D1%26q%3D%25ZZ']);
    expect(answer.headers.getSetCookie()).toEqual(['flow=f1; Path=/; HttpOnly; SameSite=Lax; Secure']);
    expect([answer.headers.get('cache-control'), answer.headers.get('vary'), await answer.text()]).toEqual(['no-store', 'Cookie', '']);
    expect(worked).toEqual([]);
  });

  it('reads a cookie by its name', async () => {
    expect(await (await visit('/things?q=1', { cookie: 'other=1; session=abc; session2=x' })).json()).toBe('abc');
  });

  it.each(['session=a; session=b', 'session="a"', 'session=a b', 'session=a,b', 'SESSION=a', 'xsession=a', 'session', '=', '; ;=;session'])(
    'takes none that is damaged or sent twice: "%s"',
    async (sent) => {
      expect((await visit('/things?q=1', { cookie: sent })).status).toBe(303);
    },
  );
});

describe('what a handler may ask for', () => {
  it('is the address of the client, as the gateway saw it', async () => {
    const http = await serve(route(get, ({ clientAddress }) => Promise.resolve(clientAddress())));
    expect(await (await http.fetch('/things', { headers: { 'x-forwarded-for': '203.0.113.9' } })).json()).toBe('203.0.113.9');
    expect(await (await http.fetch('/things')).json()).toBe('127.0.0.1');
  });

  it('is a cookie, on which the answer then depends', async () => {
    const http = await serve(route(get, ({ cookie: sent }) => Promise.resolve(sent('flow'))));
    const answer = await http.fetch('/things', { headers: { cookie: 'flow=f1' } });
    expect([await answer.json(), answer.headers.get('vary')]).toEqual(['f1', 'Cookie']);
    expect(await (await http.fetch('/things')).json()).toBeNull();
  });

  it('is no cookie where everybody may keep the answer', async () => {
    const http = await serve(route({ ...get, publicMaxAgeSeconds: 60 }, ({ cookie: sent }) => Promise.resolve(sent('flow'))));
    const answer = await http.fetch('/things');
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([500, 'no-store']);
  });

  it('is every parameter of the query, however often each is there', async () => {
    const http = await serve(
      route({ ...get, query: everyParameter(z.object({ a: z.literal('x') })) }, ({ query }) => Promise.resolve([...query])),
    );
    const ask = async (query: string) => (await http.fetch(`/things${query}`)).json();
    expect(await ask('?a=1&b=&a=%C3%A9+2&c')).toEqual([
      ['a', ['1', 'é 2']],
      ['b', ['']],
      ['c', ['']],
    ]);
    expect([await ask(''), await ask('?')]).toEqual([[], []]);
    expect((await http.fetch('/things?a=%ZZ')).status).toBe(400);
  });

  it('[SIGN-09] is an unsafe GET, of which HEAD runs nothing and the gateway knows', async () => {
    let runs = 0;
    const act = route({ ...get, unsafe: true, secret: true }, () => {
      runs += 1;
      return Promise.reject(new DomainError('forbidden', 'No.'));
    });
    const http = await serve(act);
    const head = await http.fetch('/things', { method: 'HEAD' });
    expect([head.status, head.headers.get('allow'), runs]).toEqual([405, 'GET, OPTIONS', 0]);
    const refused = await http.fetch('/things');
    expect([refused.status, refused.headers.get('referrer-policy'), refused.headers.get('cache-control'), runs]).toEqual([
      403,
      'no-referrer',
      'no-store',
      1,
    ]);
    expect(Object(openApiFragment({ name: 'x', routes: [act], errors: SAMPLE_ERRORS })['paths'])['/things'].get['x-gw-unsafe']).toBe(true);
    const unsafePost = { ...get, method: 'POST', unsafe: true } as const;
    expect(() => checkRoutes([route(unsafePost, () => Promise.resolve('done'))])).toThrow('only a GET is unsafe');
  });

  it('is a time limit of its own', async () => {
    const forever = route({ ...get, timeLimitMs: 30 }, () => new Promise<never>(() => undefined));
    const answer = await (await serve(forever)).fetch('/things');
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([500, '1']);
    const patient = route({ ...get, timeLimitMs: 5000 }, () => new Promise<string>((resolve) => setTimeout(resolve, 60, 'done')));
    expect((await (await serve(patient, { budgetMs: 20 })).fetch('/things')).status).toBe(200);
  });
});

describe('the document of a route', () => {
  const operationOf = (one: Route<never>, method = 'post') =>
    Object(openApiFragment({ name: 'x', routes: [one], errors: SAMPLE_ERRORS })['paths'])['/things'][method];
  const post = { ...common, method: 'POST', guard: anyone } as const;

  it('names its bodies by their media types, and their limit for the gateway', () => {
    const Order = z.object({ name: z.string() });
    const ordered = operationOf(
      route({ ...post, body: form(Order), bodyLimitBytes: 100, answers: { 200: empty } }, () => Promise.resolve()),
    );
    expect(ordered).toMatchObject({
      'x-gw-body-limit': 100,
      requestBody: { required: true, content: { 'application/x-www-form-urlencoded': { schema: { required: ['name'] } } } },
    });
    const picture = raw({ mediaTypes: ['image/png', 'image/jpeg'], limitBytes: 9 });
    const drawn = operationOf(route({ ...post, body: picture, answers: { 204: empty } }, () => Promise.resolve()));
    expect(drawn).toMatchObject({
      'x-gw-body-limit': 9,
      requestBody: { content: { 'image/png': { schema: {} }, 'image/jpeg': { schema: {} } } },
    });
  });

  it('has every answer with its headers and cookies', () => {
    const answers = {
      200: withDetails(html, { description: 'The page.', headers: { ETag: 'Of the page.' } }),
      201: json(z.object({ id: z.string() })),
      202: eventStream(z.object({ n: z.number() })),
      203: bytes('image/png'),
      303: withDetails(redirect, { cookies: { session: 'Who is signed in.' } }),
    } as const;
    const { responses } = operationOf(
      route({ ...post, answers }, () => Promise.resolve(seeOther('/', { cookies: [cookie('session', 'a')] }))),
    );
    expect(responses).toMatchObject({
      200: {
        description: 'The page.',
        headers: { ETag: { description: 'Of the page.' } },
        content: { 'text/html': { schema: { type: 'string' } } },
      },
      201: { content: { 'application/json': { schema: { required: ['id'] } } } },
      202: { content: { 'text/event-stream': { schema: { required: ['n'] } } } },
      203: { content: { 'image/png': { schema: {} } } },
      303: { headers: { Location: { schema: { type: 'string' } }, 'Set-Cookie': { description: '`session`: Who is signed in.' } } },
    });
    expect(responses['303']).not.toHaveProperty('content');
  });

  it('has the parameters of a query that its handler judges', () => {
    const query = everyParameter(z.object({ a: z.literal('x').meta({ description: 'One.' }), b: z.string().optional() }));
    expect(operationOf(route({ ...post, query, answers: { 204: empty } }, () => Promise.resolve()))).toMatchObject({
      parameters: [
        { name: 'a', in: 'query', required: true, description: 'One.', schema: { const: 'x' } },
        { name: 'b', in: 'query', required: false },
      ],
    });
  });

  it('has its headers, the form of its refusals and its marks for the gateway', () => {
    const spec = {
      ...post,
      headers: z.object({ 'x-mark': z.string() }),
      answers: { 204: empty },
      timeLimitMs: 30_000,
      documented: false,
    } as const;
    expect(operationOf(route({ ...spec, errorFormat: 'rfc6749' }, () => Promise.resolve()))).toMatchObject({
      parameters: [{ name: 'x-mark', in: 'header', required: true }],
      'x-gw-timeout': 31,
      'x-gw-undocumented': true,
      'x-gw-error-format': 'rfc6749',
      responses: { 400: { content: { 'application/json': { schema: { required: ['error', 'error_description'] } } } } },
    });
    const body = form(z.object({ a: z.string() }));
    expect(operationOf(route({ ...spec, body, errorFormat: 'page' }, () => Promise.resolve()))).toMatchObject({
      responses: { 400: { content: { 'text/html': {} } }, 413: { content: { 'text/html': {} } } },
    });
    const plain = operationOf(route({ ...post, body, answers: { 204: empty } }, () => Promise.resolve()));
    expect(plain).not.toHaveProperty('x-gw-undocumented');
    expect(Object.keys(plain.responses)).toEqual(['204', '400', '429', '500']);
  });
});

describe('routes that cannot work', () => {
  const spec: RouteSpec<object, Pick<AuthPorts, 'authenticator'>> = {
    ...get,
    path: '/v1/a/{id}',
    params: z.object({ id: z.string() }),
    answers: { 200: json(z.object({})) },
  };
  const Other = z.object({ other: z.string() });
  const idempotent = { ...spec, method: 'POST', guard: session, idempotent: true } as const;

  it.each<[string, readonly (typeof spec)[]]>([
    ['two of one path and method', [spec, { ...spec, operationId: 'b', path: '/v1/a/{other}', params: Other }]],
    ['two of one operation id', [spec, { ...spec, path: '/v1/b/{id}' }]],
    ['a parameter without a schema', [{ ...spec, params: Other }]],
    ['a query that is no object', [{ ...spec, query: z.string() }]],
    ['a form that is no object', [{ ...spec, method: 'POST', body: form(z.string()) }]],
    ['a header in upper case', [{ ...spec, headers: z.object({ 'X-Mark': z.string() }) }]],
    ['bytes of no media type', [{ ...spec, method: 'POST', body: raw({ mediaTypes: [], limitBytes: 1 }) }]],
    ['bytes without a limit', [{ ...spec, method: 'POST', body: raw({ mediaTypes: ['image/png'], limitBytes: 0 }) }]],
    ['no answer', [{ ...spec, answers: {} }]],
    ['a body with 204', [{ ...spec, answers: { 204: json(z.object({})) } }]],
    ['a refusal among the answers', [{ ...spec, answers: { 404: json(z.object({})) } }]],
    ['a redirect that is none', [{ ...spec, answers: { 200: redirect } }]],
    ['a page in place of a redirect', [{ ...spec, answers: { 303: html } }]],
    ['a header that the registry writes', [{ ...spec, answers: { 200: withDetails(html, { headers: { 'Content-Type': '' } }) } }]],
    ['a public answer to an authenticated caller', [{ ...spec, guard: session, publicMaxAgeSeconds: 1 }]],
    ['no time', [{ ...spec, timeLimitMs: 0 }]],
    ['an idempotent GET', [{ ...idempotent, method: 'GET' }]],
    ['an idempotent page', [{ ...idempotent, answers: { 200: html } }]],
    ['an idempotent form', [{ ...idempotent, body: form(Other) }]],
  ])('%s are found at the start', async (_, specs) => {
    const routes = specs.map((one) => route(one, () => Promise.resolve(reply(200, {}))));
    await expect(startTestHttp({ routes, log: SILENT_LOG })).rejects.toThrow(TypeError);
  });
});
