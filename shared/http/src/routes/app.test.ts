import { anyone } from '@bubbles/auth/guards.ts';
import { aCaller, startTestHttp, type TestHttp } from '@bubbles/testing/http.ts';
import { caller, jsonBody, rawTarget } from '@bubbles/testing/requests.ts';
import { sampleRoutes } from '@bubbles/testing/sample-routes.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { empty } from './content.ts';
import { NOT_FOUND_MESSAGE } from './http-errors.ts';
import { route } from './route.ts';

const NOT_FOUND_BODY = JSON.stringify({ error: { type: 'not_found', message: NOT_FOUND_MESSAGE } });

describe('the routes of a service on the wire', () => {
  let http: TestHttp;

  beforeAll(async () => {
    http = await startTestHttp({ routes: sampleRoutes(), caller });
  });
  afterAll(() => http.stop());
  beforeEach(() => http.actAs(caller));

  it('[GEN-02] answers JSON with its charset and takes only what the schema names', async () => {
    const answer = await http.fetch('/v1/things/abc');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await answer.json()).toEqual({ id: 'abc', name: null, owner: 'user-1' });
  });

  it('[GEN-10] an authenticated answer is not kept by anybody, one with a secret not even by old caches', async () => {
    const read = await http.fetch('/v1/things/abc');
    const created = await http.fetch('/v1/things', jsonBody({ name: 'a' }));
    expect(read.headers.get('cache-control')).toBe('no-store');
    expect(read.headers.get('vary')).toBe('Authorization');
    expect(read.headers.get('pragma')).toBeNull();
    expect(created.headers.get('cache-control')).toBe('no-store');
    expect(created.headers.get('pragma')).toBe('no-cache');
    expect(read.headers.get('x-content-type-options')).toBe('nosniff');
  });

  it('a public answer says how long it may be kept, its refusals may not', async () => {
    expect((await http.fetch('/v1/things/search?q=a')).headers.get('cache-control')).toBe('public, max-age=60');
    expect((await http.fetch('/v1/things/search')).headers.get('cache-control')).toBe('no-store');
  });

  describe('paths and methods', () => {
    it.each([
      '/v1/nothing',
      '/V1/things',
      '/v1/things/',
      '/v1/Things',
      '//v1/things',
      '/v1//things',
      '/v1/./things',
      '/v1/things;x=1',
      '/v1/things%20',
      '/',
    ])('[GEN-08] %s is unknown, whoever asks', async (path) => {
      http.actAs(null);
      const answer = await rawTarget(http, path);
      expect(answer).toMatch(/^HTTP\/1\.1 404 /);
      expect(answer).toContain(NOT_FOUND_BODY);
      expect(answer).not.toMatch(/^allow:/im);
    });

    it('[GEN-08] another method of a known path is 404 and says which there are', async () => {
      http.actAs(null);
      const answer = await http.fetch('/v1/things', { method: 'PUT' });
      expect(answer.status).toBe(404);
      expect(answer.headers.get('allow')).toBe('GET, HEAD, OPTIONS, POST');
      expect(await answer.text()).toBe(NOT_FOUND_BODY);
    });

    it('[GEN-08] HEAD is GET without the body', async () => {
      const [get, head] = [await http.fetch('/v1/things/abc'), await http.fetch('/v1/things/abc', { method: 'HEAD' })];
      expect(head.status).toBe(200);
      expect(head.headers.get('content-length')).toBe(String((await get.text()).length));
      expect(await head.text()).toBe('');
      http.actAs(null);
      expect((await http.fetch('/v1/things/abc', { method: 'HEAD' })).status).toBe(401);
    });

    it('[GEN-08] OPTIONS says what there is without a credential', async () => {
      http.actAs(null);
      const answer = await http.fetch('/v1/things', { method: 'OPTIONS' });
      expect(answer.status).toBe(204);
      expect(answer.headers.get('allow')).toBe('GET, HEAD, OPTIONS, POST');
      expect((await http.fetch('/v1/nothing', { method: 'OPTIONS' })).status).toBe(404);
    });

    it('a literal segment wins over a parameter', async () => {
      expect(await (await http.fetch('/v1/things/search?q=x')).json()).toEqual({ q: 'x' });
    });

    it.each(['%2F', '..%2f..%2fetc', '%00', '%ZZ', '%ff', '__proto__', 'constructor', 'toString', 'ABC', 'abc%20', 'zzz'])(
      '[BUB-03] the id %s is as unknown as any other',
      async (id) => {
        const answer = await rawTarget(http, `/v1/things/${id}`);
        expect(answer).toMatch(/^HTTP\/1\.1 404 /);
        expect(answer.endsWith(NOT_FOUND_BODY)).toBe(true);
      },
    );

    it('[BUB-03] absent and malformed ids answer the same headers too', async () => {
      const [absent, malformed] = [await http.fetch('/v1/things/zzz'), await http.fetch('/v1/things/42')];
      const comparable = ({ headers }: Response) => [...headers].filter(([name]) => !['x-request-id', 'date'].includes(name));
      expect(comparable(absent)).toEqual(comparable(malformed));
    });
  });

  describe('the order of refusals', () => {
    it('[ERR-08] 401 before 400 and 404', async () => {
      http.actAs(null);
      const answer = await http.fetch('/v1/things/42?format=xml');
      expect(answer.status).toBe(401);
      expect(await answer.json()).toMatchObject({ error: { type: 'unauthorized' } });
    });

    it('[ERR-08] 403 for the scope before 400', async () => {
      http.actAs(aCaller({ scopes: [] }));
      expect((await http.fetch('/v1/things?limit=x')).status).toBe(403);
    });

    it('[ERR-08] 400 before 404 of the resource', async () => {
      expect((await http.fetch('/v1/things/42?format=xml')).status).toBe(400);
      expect((await http.fetch('/v1/things/42?format=json')).status).toBe(404);
    });
  });
});

describe('an answer without a body', () => {
  it.each([200, 202, 204] as const)('keeps its status: %i', async (status) => {
    const spec = { method: 'POST', path: '/v1/a', operationId: 'a', summary: 's', tag: 'T', guard: anyone } as const;
    const http = await startTestHttp({ routes: [route({ ...spec, answers: { [status]: empty } }, () => Promise.resolve(undefined))] });
    const answer = await http.fetch('/v1/a', { method: 'POST' });
    expect(answer.status).toBe(status);
    expect(await answer.text()).toBe('');
    expect(answer.headers.get('content-type')).toBeNull();
    await http.stop();
  });
});
