import { userGuards } from '@bubbles/auth/guards.ts';
import type { Caller } from '@bubbles/contracts/access.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import { aCaller, asService, startTestHttp, type TestHttp } from '@bubbles/testing/http.ts';
import { memoryLog } from '@bubbles/testing/memory-log.ts';
import { caller, jsonBody } from '@bubbles/testing/requests.ts';
import { sampleRoutes } from '@bubbles/testing/sample-routes.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { unshownMetrics } from '../ops/metrics.ts';

describe('who is admitted', () => {
  let http: TestHttp;
  beforeAll(async () => {
    http = await startTestHttp({ routes: sampleRoutes(), caller });
  });
  afterAll(() => http.stop());
  beforeEach(() => http.actAs(caller));

  it('[ERR-04] 401 points at the protected-resource document', async () => {
    http.actAs(null);
    const answer = await http.fetch('/v1/things/abc');
    expect(answer.headers.get('www-authenticate')).toBe('Bearer resource_metadata="https://api.test/.well-known/oauth-protected-resource"');
  });

  it('[AUTH-06] a credential without the scope is refused and told which', async () => {
    http.actAs(aCaller({ kind: 'oauth', scopes: ['things:write'] }));
    const answer = await http.fetch('/v1/things/abc');
    expect(answer.status).toBe(403);
    expect(await answer.json()).toMatchObject({ error: { type: 'forbidden' } });
    expect(answer.headers.get('www-authenticate')).toContain('error="insufficient_scope", scope="things:read"');
  });

  it.each([
    ['pat', '/v1/things/abc', 'GET', 200],
    ['oauth', '/v1/things/abc', 'GET', 200],
    ['session', '/v1/things/abc', 'GET', 401],
    ['pat', '/v1/things/abc', 'PATCH', 401],
    ['oauth', '/v1/things/abc', 'PATCH', 401],
    ['session', '/v1/things/abc', 'PATCH', 200],
    ['session', '/v1/things', 'POST', 201],
  ] as const)('[AUTH-02] %s on %s %s: %i, as the route says', async (...[kind, path, method, status]) => {
    http.actAs({ ...caller, kind, scopes: kind === 'session' ? [] : caller.scopes });
    const init = method === 'GET' ? {} : { ...jsonBody({ name: 'a' }), method };
    expect((await http.fetch(path, init)).status).toBe(status);
  });

  it('an internal route takes the token of a named service only', async () => {
    const remove = (headers: Record<string, string>) => http.fetch('/internal/v1/things/abc', { method: 'DELETE', headers });
    expect((await remove({})).status).toBe(401);
    expect((await remove(asService('gateway'))).status).toBe(401);
    const done = await remove(asService('operator'));
    expect(done.status).toBe(204);
    expect(await done.text()).toBe('');
  });

  it.each(
    sampleRoutes()
      .filter(({ spec }) => spec.guard.reads !== null)
      .map(({ spec }) => [spec.method, spec.path] as const),
  )('[AUTH-01] %s %s is closed to nobody in particular', async (method, path) => {
    http.actAs(null);
    expect((await http.fetch(path.replace('{id}', 'abc'), { method })).status).toBe(401);
  });
});

describe('what a guard says', () => {
  const guardsThat = (find: () => Caller) =>
    userGuards(async (request) => {
      for (const [name, value] of Object.entries(budget)) request.answerWith(name, value);
      await Promise.resolve();
      return { caller: find() };
    });
  const budget = { RateLimit: '"default";r=0;t=7', 'RateLimit-Policy': '"default";q=120;w=60' };

  it('[RATE-03] its headers are on answers and on refusals', async () => {
    const http = await startTestHttp({ routes: sampleRoutes({ guards: guardsThat(() => caller) }) });
    const [ok, bad, missing] = [await http.fetch('/v1/things'), await http.fetch('/v1/things?limit=x'), await http.fetch('/v1/things/zzz')];
    expect([ok, bad, missing].map(({ status, headers }) => [status, headers.get('ratelimit')])).toEqual(
      [200, 400, 404].map((status) => [status, budget.RateLimit]),
    );
    await http.stop();
  });

  it('[RATE-01] its 429 comes before the scope and the parameters', async () => {
    const refusal = new DomainError('rate_limited', 'Too many requests.', { retryAfterSeconds: 7 });
    const http = await startTestHttp({
      routes: sampleRoutes({
        guards: guardsThat(() => {
          throw refusal;
        }),
      }),
    });
    const answer = await http.fetch('/v1/things?limit=x');
    expect(answer.status).toBe(429);
    expect(answer.headers.get('retry-after')).toBe('7');
    expect(answer.headers.get('ratelimit-policy')).toBe(budget['RateLimit-Policy']);
    await http.stop();
  });

  it('[ERR-05] when it cannot tell, nobody is admitted and nobody is told to log in again', async () => {
    const http = await startTestHttp({
      routes: sampleRoutes(),
      authenticator: { callerOf: () => Promise.reject(new DomainError('unavailable', 'No keys.')) },
    });
    const answer = await http.fetch('/v1/things');
    expect(answer.status).toBe(500);
    expect(answer.headers.get('retry-after')).toBe('1');
    expect(answer.headers.get('www-authenticate')).toBeNull();
    await http.stop();
  });
});

describe('overload', () => {
  it('[ERR-05] a request for which there is no room is refused before anything is done for it, in one short line of the log', async () => {
    const log = memoryLog();
    const metrics = unshownMetrics();
    const http = await startTestHttp({
      log,
      metrics: metrics.http,
      routes: sampleRoutes(),
      authenticator: { callerOf: () => Promise.reject(new Error('asked although there is no room')) },
      shedder: { admit: () => false, refusingSince: () => 0, stop: () => undefined },
    });
    const answer = await http.fetch('/v1/things');
    expect(answer.status).toBe(500);
    expect(answer.headers.get('x-gateway-reason')).toBe('overload');
    expect(answer.headers.get('retry-after')).toMatch(/^[123]$/);
    expect(await answer.json()).toMatchObject({ error: { type: 'internal_error' } });
    expect(log.lines.filter(({ level }) => level === 'warn').map(({ fields }) => fields)).toEqual([
      { method: 'GET', route: 'unmatched', status: 500, ms: expect.any(Number), reason: 'overload' },
    ]);
    expect(log.lines.filter(({ message }) => message === 'request')).toEqual([]);
    expect(await metrics.registry.metrics()).toContain('\nhttp_requests_shed_total 1\n');
    await http.stop();
  });
});
