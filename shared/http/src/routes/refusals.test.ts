import { type AuthPorts, anyone, session } from '@bubbles/auth/guards.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import { startTestHttp, type TestHttp } from '@bubbles/testing/http.ts';
import { rawExchange } from '@bubbles/testing/raw-http.ts';
import { afterEach, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { form, json } from './content.ts';
import type { Guard } from './guard.ts';
import { type ErrorFormat, type Route, route } from './route.ts';

const open: TestHttp[] = [];
afterEach(async () => {
  for (const http of open.splice(0)) await http.stop();
});
const serve = async (one: Route<AuthPorts>): Promise<TestHttp> => {
  const http = await startTestHttp({ routes: [one] });
  open.push(http);
  return http;
};

const common = { path: '/things', operationId: 'aThing', summary: 's', tag: 'T' } as const;
const get = { ...common, method: 'GET', guard: anyone, answers: { 200: json(z.unknown()) } } as const;

describe('the refusals of a route', () => {
  const refusing = (errorFormat: ErrorFormat, refusal: Error) => route({ ...get, errorFormat }, () => Promise.reject(refusal));

  it('are written as RFC 6749 has it, where the route says so', async () => {
    const refusal = new DomainError('invalid', 'code: was used before.', { type: 'invalid_grant' });
    const answer = await (await serve(refusing('rfc6749', refusal))).fetch('/things');
    expect(answer.status).toBe(400);
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(await answer.json()).toEqual({ error: 'invalid_grant', error_description: 'code: was used before.' });
    const broken = await (await serve(refusing('rfc6749', new TypeError('hunter2')))).fetch('/things');
    expect([broken.status, await broken.json()]).toEqual([
      500,
      { error: 'server_error', error_description: expect.not.stringContaining('hunter2') },
    ]);
  });

  it('have a code of their own in that form, and no challenge but that of their guard', async () => {
    const refusal = new DomainError('unauthorized', 'Say "who" — \\you are.', { type: 'invalid_client' });
    const silent = await (await serve(refusing('rfc6749', refusal))).fetch('/things');
    expect([silent.status, silent.headers.get('www-authenticate'), await silent.json()]).toEqual([
      401,
      null,
      { error: 'invalid_client', error_description: "Say 'who' ? ?you are." },
    ]);
    const basic: Guard<object> = {
      ...anyone,
      admit: ({ answerWith }) => {
        answerWith('WWW-Authenticate', 'Basic realm="oauth"');
        return Promise.reject(refusal);
      },
    };
    const spec = { ...get, guard: basic, errorFormat: 'rfc6749' } as const;
    const asked = await (await serve(route(spec, () => Promise.resolve(null)))).fetch('/things');
    expect([asked.status, asked.headers.get('www-authenticate')]).toEqual([401, 'Basic realm="oauth"']);
    const limited = new DomainError('rate_limited', 'Too many requests.', { retryAfterSeconds: 7 });
    const busy = await (await serve(refusing('rfc6749', limited))).fetch('/things');
    expect([busy.status, busy.headers.get('retry-after'), await busy.json()]).toMatchObject([429, '7', { error: 'rate_limited' }]);
  });

  it.each([
    ['envelope', 400, 'application/json; charset=utf-8'],
    ['rfc6749', 413, 'application/json; charset=utf-8'],
    ['page', 413, 'text/html; charset=utf-8'],
  ] as const)(
    'of a body that is too large arrive as %s with %i, whether it has said its length or not',
    async (errorFormat, status, type) => {
      const spec = { ...get, method: 'POST', body: form(z.object({ a: z.string() })), bodyLimitBytes: 1024, errorFormat } as const;
      const http = await serve(route(spec, () => Promise.resolve(null)));
      const large = `a=${'x'.repeat(300_000)}`;
      const head = 'POST /things HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded\r\n';
      const framed = [
        `${head}Content-Length: ${large.length}\r\n\r\n${large}`,
        `${head}Transfer-Encoding: chunked\r\n\r\n${large.length.toString(16)}\r\n${large}\r\n0\r\n\r\n`,
      ];
      for (const request of framed) {
        const answer = await rawExchange(http.url, request);
        expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
        expect(answer).toContain(`Content-Type: ${type}`);
        expect(answer).toContain('Cache-Control: no-store');
        expect(answer).toContain('Connection: close');
        expect(answer).toContain(errorFormat === 'page' ? 'What you sent is too large.' : 'body: must have at most 1024 bytes');
      }
    },
  );

  it('are a page for a person, where the route says so', async () => {
    const answer = await (await serve(refusing('page', new DomainError('forbidden', 'Only <b>admins</b> & "owners".')))).fetch('/things');
    expect(answer.status).toBe(403);
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(await answer.text()).toContain(
      '<main><h1>Not allowed</h1><p>Only &lt;b&gt;admins&lt;/b&gt; &amp; &quot;owners&quot;.</p></main>',
    );
  });

  it('have the form of the route also before its handler is asked', async () => {
    const spec = { ...get, guard: session, errorFormat: 'page', query: z.object({ q: z.string() }) } as const;
    const http = await serve(route(spec, () => Promise.resolve(null)));
    expect((await http.fetch('/things')).headers.get('content-type')).toBe('text/html; charset=utf-8');
    http.actAs(null);
    const closed = await http.fetch('/things');
    expect([closed.status, closed.headers.get('content-type')]).toEqual([401, 'text/html; charset=utf-8']);
    expect(closed.headers.get('www-authenticate')).toBeNull();
  });
});
