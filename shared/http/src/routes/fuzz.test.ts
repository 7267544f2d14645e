import { startTestHttp, type TestHttp } from '@bubbles/testing/http.ts';
import { rawExchange } from '@bubbles/testing/raw-http.ts';
import { caller } from '@bubbles/testing/requests.ts';
import { sampleRoutes } from '@bubbles/testing/sample-routes.ts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ErrorBody } from './http-errors.ts';

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
