import { anyone } from '@bubbles/auth/guards.ts';
import { startTestHttp, type TestHttp } from '@bubbles/testing/http.ts';
import { rawExchange } from '@bubbles/testing/raw-http.ts';
import { caller } from '@bubbles/testing/requests.ts';
import { sampleRoutes } from '@bubbles/testing/sample-routes.ts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { z } from 'zod';
import { everyParameter, form, html, json } from './content.ts';
import { ErrorBody } from './http-errors.ts';
import { markup, pageOf } from './markup.ts';
import { route } from './route.ts';

const RUNS = 300;
const method = fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE');
/** Printable bytes and escapes: what a request line can hold. */
const noise = fc.string({
  unit: fc.constantFrom(...'abz09%/\\.;:?&=+[]{}"<>|^`~@!$*()_-#,', '%00', '%2F', '%FF', '%ZZ', '..', '__proto__'),
  maxLength: 60,
});
const base = fc.constantFrom('/', '/v1/things', '/v1/things/', '/v1/things/search', '/v1/things?limit=', '/internal/', '//');

const separate = (answer: string) => ({ status: Number(answer.split(' ')[1]), body: answer.slice(answer.indexOf('\r\n\r\n') + 4) });

describe('nonsense', () => {
  let http: TestHttp;
  beforeAll(async () => {
    http = await startTestHttp({ routes: sampleRoutes(), caller });
  });
  afterAll(() => http.stop());

  it('[ERR-01] in the request line is answered, with the envelope where it is refused, and is never a fault of ours', async () => {
    await fc.assert(
      fc.asyncProperty(method, base, noise, async (verb, path, rest) => {
        const { status, body } = separate(
          await rawExchange(http.url, `${verb} ${path}${rest} HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n`),
        );
        expect(status).toBeLessThan(500);
        if (status >= 400 && verb !== 'HEAD') ErrorBody.parse(JSON.parse(body));
      }),
      { numRuns: RUNS },
    );
  });

  it('[GEN-07] in a body is answered so too', async () => {
    const bodies = fc.oneof(
      fc.json(),
      fc.jsonValue().map((value) => JSON.stringify({ name: 'a', tags: value, filters: value })),
      fc.string(),
    );
    await fc.assert(
      fc.asyncProperty(bodies, async (body) => {
        const answer = await http.fetch('/v1/things', { method: 'POST', body, headers: { 'content-type': 'application/json' } });
        expect([201, 400]).toContain(answer.status);
        if (answer.status === 400) ErrorBody.parse(await answer.json());
      }),
      { numRuns: RUNS },
    );
  });
});

/** What a form or a query can hold: pairs, parts of escapes, and what is neither. */
const pairs = fc.string({
  unit: fc.constantFrom(
    ...'ab+=&;%"<> []',
    'name=',
    'name=x&',
    'tags=',
    '%00',
    '%2F',
    '%FF',
    '%ED%A0%80',
    '%Zz',
    '\0',
    '\ud800',
    'é',
    '__proto__=',
  ),
  maxLength: 40,
});
const mediaTypes = fc.oneof(
  { weight: 6, arbitrary: fc.constant('application/x-www-form-urlencoded') },
  fc.constantFrom(
    'application/x-www-form-urlencoded; charset=utf-16',
    'application/x-www-form-urlencoded;',
    'multipart/form-data; boundary=x',
    'application/json',
    'text/plain',
    ',',
  ),
);
const OAuthError = z.strictObject({
  error: z.literal('invalid_request'),
  error_description: z.string().regex(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/),
});

describe('nonsense in a form or a query of a page', () => {
  let http: TestHttp;
  const Fields = z.object({ name: z.string().min(1).max(20), tags: z.array(z.string().max(5)).default([]) });
  const common = { summary: 's', tag: 'T', guard: anyone } as const;
  const shown = ({ name, tags }: z.infer<typeof Fields>) =>
    pageOf({ title: name, main: markup`<p title="${name}">${name}</p>${tags.map((tag) => markup`<b>${tag}</b>`)}` });
  beforeAll(async () => {
    const taken = { method: 'POST', body: form(Fields), bodyLimitBytes: 1024, ...common } as const;
    http = await startTestHttp({
      routes: [
        route({ ...taken, path: '/page', operationId: 'takeForm', errorFormat: 'page', answers: { 200: html } }, ({ body }) =>
          Promise.resolve(shown(body)),
        ),
        route({ ...taken, path: '/token', operationId: 'takeToken', errorFormat: 'rfc6749', answers: { 200: json(Fields) } }, ({ body }) =>
          Promise.resolve(body),
        ),
        route(
          {
            ...common,
            method: 'GET',
            path: '/query',
            operationId: 'takeQuery',
            query: everyParameter(z.object({})),
            errorFormat: 'page',
            answers: { 200: html },
          },
          ({ query }) => Promise.resolve(markup`${[...query].map(([name, values]) => markup`<p title="${name}">${values}</p>`)}`),
        ),
      ],
    });
  });
  afterAll(() => http.stop());

  /** Every `<` and `"` of a page is its own: what was sent is text between them. */
  const expectOwnMarkup = (text: string) =>
    expect(
      text.replaceAll(/<style>[^<]*<\/style>|<!doctype html>|<\/?(?:html|head|meta|title|body|main|p|b|h1)(?: [a-z]+="[^"<]*")*>/g, ''),
    ).not.toMatch(/["'<>]/);

  it('[ERR-06] is refused in the form of the endpoint, or taken, and never a fault of ours', async () => {
    const text = fc.string({ unit: fc.constantFrom(...'ab<>"\'&= '), maxLength: 8 }).map(encodeURIComponent);
    const fitting = fc.tuple(text, text).map(([name, tag]) => `name=a${name}&tags=${tag}`);
    const body = fc.oneof(fitting, pairs, fc.string({ unit: 'binary', maxLength: 30 }), fc.constant(`name=${'x'.repeat(2000)}`));
    await fc.assert(
      fc.asyncProperty(fc.constantFrom('/page', '/token'), body, mediaTypes, async (path, sent, type) => {
        const answer = await http.fetch(path, { method: 'POST', body: sent, headers: { 'content-type': type } });
        expect([200, 400, 413]).toContain(answer.status);
        expect(answer.headers.get('cache-control')).toBe('no-store');
        const said = await answer.text();
        if (path === '/page') return expectOwnMarkup(said);
        if (answer.status === 200) Fields.parse(JSON.parse(said));
        else OAuthError.parse(JSON.parse(said));
      }),
      { numRuns: RUNS },
    );
  });

  it('[ERR-06] in a query that a handler judges itself, too', async () => {
    await fc.assert(
      fc.asyncProperty(pairs, async (sent) => {
        const answer = await http.fetch(`/query?${sent.toWellFormed()}`);
        expect([200, 400]).toContain(answer.status);
        expectOwnMarkup(await answer.text());
      }),
      { numRuns: RUNS },
    );
  });
});
