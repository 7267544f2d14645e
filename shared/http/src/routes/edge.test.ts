import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { ServerResponse } from 'node:http';
import { pat } from '@bubbles/auth/guards.ts';
import { DomainError, type ErrorKind } from '@bubbles/kernel/errors.ts';
import { capturedLog } from '@bubbles/testing/captured-log.ts';
import { asService, startTestHttp, type TestHttp } from '@bubbles/testing/http.ts';
import { rawConnection } from '@bubbles/testing/raw-http.ts';
import { caller, jsonBody, rawTarget } from '@bubbles/testing/requests.ts';
import { sampleRoutes } from '@bubbles/testing/sample-routes.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { empty } from './content.ts';
import { HTTP_ERRORS } from './http-errors.ts';
import { route } from './route.ts';

describe('the edge of a service', () => {
  let http: TestHttp;
  let failing: (kind: string) => unknown = () => ({ ok: true });
  const captured = capturedLog();
  beforeAll(async () => {
    http = await startTestHttp({ routes: sampleRoutes({ onFail: (kind) => failing(kind) }), caller, log: captured.log });
  });
  afterAll(() => http.stop());
  beforeEach(() => http.actAs(caller));

  describe('errors', () => {
    const throwing = (kind: ErrorKind, retryAfterSeconds?: number) => () => {
      throw new DomainError(kind, `about ${kind}`, retryAfterSeconds === undefined ? {} : { retryAfterSeconds });
    };

    it.each(Object.entries(HTTP_ERRORS))(
      '[ERR-01] [ERR-02] [ERR-03] %s answers its status and type, and nothing else',
      async (kind, expected) => {
        failing = throwing(kind as ErrorKind);
        const answer = await http.fetch('/v1/failures/x');
        expect(answer.status).toBe(expected.status);
        expect(await answer.json()).toEqual({ error: { type: expected.type, message: expect.any(String) } });
      },
    );

    it('[ERR-03] 429 says after how many whole seconds', async () => {
      failing = throwing('rate_limited', 12.2);
      expect((await http.fetch('/v1/failures/x')).headers.get('retry-after')).toBe('13');
    });

    it('[ERR-05] what is unavailable may be tried again', async () => {
      failing = throwing('unavailable');
      expect((await http.fetch('/v1/failures/x')).headers.get('retry-after')).toBe('1');
    });

    it('[ERR-07] a fault of ours shows nothing of itself, but the log has it without credentials', async () => {
      failing = () => {
        throw new TypeError('connect ECONNREFUSED mongodb://root:hunter2@db-7.internal:27017/bubbles');
      };
      const answer = await http.fetch('/v1/failures/x', { headers: { 'x-request-id': 'fault-0001' } });
      expect(answer.status).toBe(500);
      expect(await answer.text()).not.toMatch(/mongodb|ECONNREFUSED|TypeError|at /);
      const line = captured.lines().find((entry) => entry['message'] === 'request failed' && entry['request_id'] === 'fault-0001');
      expect(JSON.stringify(line)).toContain('db-7.internal');
      expect(captured.text()).not.toContain('hunter2');
    });

    it('an answer that is not what the schema says does not leave, and the log names the field without its value', async () => {
      failing = () => ({ ok: 'svc_pat_leaked' });
      const answer = await http.fetch('/v1/failures/x');
      expect(answer.status).toBe(500);
      expect(await answer.text()).not.toContain('leaked');
      expect(captured.text()).toContain('response does not match its schema: ok');
      expect(captured.text()).not.toContain('leaked');
    });
  });

  describe('request ids and the access log', () => {
    it('[GEN-09] an id from the gateway is kept on the answer and on every line', async () => {
      const answer = await http.fetch('/v1/things/abc?limit=5&token=hush', { headers: { 'x-request-id': 'gw-12345678' } });
      expect(answer.headers.get('x-request-id')).toBe('gw-12345678');
      const lines = captured.lines().filter((line) => line['request_id'] === 'gw-12345678');
      expect(lines).toEqual([
        expect.objectContaining({ message: 'request', method: 'GET', route: '/v1/things/{id}', status: 200, ms: expect.any(Number) }),
      ]);
      expect(captured.text()).not.toContain('hush');
    });

    it.each(['short', 'x'.repeat(65), 'with blank 123', 'a,b-12345678'])('[GEN-09] the id "%s" is replaced', async (id) => {
      const answer = await http.fetch('/v1/things/abc', { headers: { 'x-request-id': id } });
      expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    });

    const TRACE = '1234567890abcdef1234567890abcdef';
    const linesOf = (id: string) => captured.lines().filter((line) => line['request_id'] === id);

    it('[GEN-09] a trace goes on in a span of its own, on every line', async () => {
      failing = () => Promise.reject(new TypeError('broken'));
      const headers = { 'x-request-id': 'gw-traced-1', traceparent: `00-${TRACE}-00f067aa0ba902b7-01` };
      await http.fetch('/v1/failures/x', { headers });
      const span = { trace_id: TRACE, parent_span_id: '00f067aa0ba902b7', span_id: expect.stringMatching(/^[0-9a-f]{16}$/) };
      expect(linesOf('gw-traced-1')).toEqual([expect.objectContaining({ ...span, message: 'request failed' })]);
    });

    it.each([
      '',
      'x',
      `00-${TRACE}-00f067aa0ba902b7-01, 00-${TRACE}-00f067aa0ba902b7-01`,
      `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
      '-'.repeat(9000),
    ])('[GEN-09] the trace "%.40s" is none, and changes nothing else', async (traceparent) => {
      const id = `gw-untraced-${traceparent.length}`;
      expect((await http.fetch('/v1/things/abc', { headers: { 'x-request-id': id, traceparent } })).status).toBe(200);
      const [line] = linesOf(id);
      expect(line).toMatchObject({ trace_id: expect.stringMatching(/^[0-9a-f]{32}$/) });
      expect(line).not.toMatchObject({ trace_id: TRACE });
      expect(line).not.toHaveProperty('parent_span_id');
    });

    it('the log at info has the requests of callers, polls of ours only when they are refused', async () => {
      const poll = (id: string, headers: Record<string, string>) =>
        http.fetch('/internal/openapi.json', { headers: { ...headers, 'x-request-id': id } });
      await poll('gw-poll-1', asService('gateway'));
      await poll('gw-poll-2', {});
      expect([...linesOf('gw-poll-1'), ...linesOf('gw-poll-2')].map((line) => line['level'])).toEqual(['debug', 'info']);
    });

    it('[GEN-09] refusals carry one too', async () => {
      expect((await http.fetch('/v1/nothing')).headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    });
  });

  it('[GEN-10] no secret that a caller sends in any place is in the log', async () => {
    const secret = 'svc_pat_0123456789';
    await rawTarget(http, `/v1/things/${secret}?q=${secret}&code=${secret}`);
    await http.fetch('/v1/things', {
      ...jsonBody({ name: 1, signup_session: secret }),
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    });
    expect(captured.text()).not.toContain('0123456789');
  });
});

describe('a caller who goes away', () => {
  it('aborts the work that was done for it', async () => {
    const began = Promise.withResolvers<void>();
    const aborted = Promise.withResolvers<void>();
    const onWait = async (signal: AbortSignal) => {
      signal.addEventListener('abort', () => aborted.resolve());
      began.resolve();
      await aborted.promise;
    };
    const captured = capturedLog();
    const http = await startTestHttp({ routes: sampleRoutes({ onWait }), log: captured.log });
    const leaving = new AbortController();
    const answer = http.fetch('/v1/waits', { signal: leaving.signal });
    await began.promise;
    leaving.abort();
    await expect(answer).rejects.toMatchObject({ name: 'AbortError' });
    await aborted.promise;
    await http.stop();
    expect(captured.text()).not.toContain('"level":"error"');
  });
});

it('a caller who went away while its credential was looked at is not worked for', async () => {
  const [asked, decide, gone] = [Promise.withResolvers<void>(), Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const served = Promise.withResolvers<{ readonly status: number }>();
  const watch = (message: unknown) => closedOf(message).then(gone.resolve, gone.reject);
  subscribe('http.server.request.start', watch);
  const worked: string[] = [];
  const remove = route(
    {
      method: 'DELETE',
      path: '/v1/things',
      operationId: 'deleteThings',
      summary: 'Delete all things',
      tag: 'Things',
      guard: pat(null),
      answers: { 204: empty },
    },
    () => {
      worked.push('removed');
      return Promise.resolve(undefined);
    },
  );
  const callerOf = async () => {
    asked.resolve();
    await decide.promise;
    return caller;
  };
  const http = await startTestHttp({
    routes: [remove],
    authenticator: { callerOf },
    metrics: { observe: served.resolve, shed: () => undefined },
  });
  const client = rawConnection(http.url);
  client.write('DELETE /v1/things HTTP/1.1\r\nHost: a\r\n\r\n');
  await asked.promise;
  client.socket.resetAndDestroy();
  await gone.promise;
  decide.resolve();
  await served.promise;
  expect(worked).toEqual([]);
  unsubscribe('http.server.request.start', watch);
  await http.stop();
});

/** Of what Node tells about a request that has begun. */
const closedOf = async (message: unknown): Promise<void> => {
  const { response } = z.object({ response: z.instanceof(ServerResponse) }).parse(message);
  await once(response, 'close');
};

describe('a handler that takes too long', () => {
  it('[ERR-05] is given up, told so, and the caller may try again', async () => {
    const aborted = Promise.withResolvers<unknown>();
    const onWait = (signal: AbortSignal) => new Promise<void>(() => signal.addEventListener('abort', () => aborted.resolve(signal.reason)));
    const http = await startTestHttp({ routes: sampleRoutes({ onWait }), budgetMs: 50 });
    const answer = await http.fetch('/v1/waits');
    expect(answer.status).toBe(500);
    expect(answer.headers.get('retry-after')).toBe('1');
    expect(await aborted.promise).toMatchObject({ kind: 'unavailable' });
    await http.stop();
  });
});
