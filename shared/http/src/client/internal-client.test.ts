import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { runInSpan, startSpan, traceparentOf } from '@bubbles/kernel/trace.ts';
import { afterEach, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { envelope } from '../routes/http-errors.ts';
import { createInternalClient, type InternalClient } from './internal-client.ts';

const tokens = { authorizationFor: (audience: string) => Promise.resolve(`Bearer for-${audience}`) };
const schema = z.object({ answer: z.number() });
/** A port on which nobody listens: it was free a moment ago. */
const NOBODY = 'http://127.0.0.1:1';

describe('calls between services', () => {
  const open: { close(): unknown }[] = [];
  afterEach(async () => {
    for (const one of open.splice(0)) await one.close();
  });

  const callee = async (listener: RequestListener): Promise<string> => {
    const server: Server = createServer(listener);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    open.push({
      close: () => {
        server.closeAllConnections();
        server.close();
      },
    });
    const address = server.address();
    return typeof address === 'object' && address !== null ? `http://127.0.0.1:${address.port}` : NOBODY;
  };
  const clientWithin = (deadlineMs: number, ...baseUrls: readonly string[]): InternalClient => {
    const made = createInternalClient({ callee: 'identity', baseUrls, tokens, deadlineMs });
    open.push(made);
    return made;
  };
  const client = (...baseUrls: readonly string[]) => clientWithin(10_000, ...baseUrls);
  const answering = (status: number, body: string): Promise<string> => callee((_, res) => res.writeHead(status).end(body));

  it('[GEN-09] carry the token for the callee, the request id, the trace and the body', async () => {
    const seen = Promise.withResolvers<{ readonly req: IncomingMessage; readonly body: string }>();
    const url = await callee(async (req, res) => {
      let body = '';
      for await (const chunk of req) body += chunk;
      seen.resolve({ req, body });
      res.end('{"answer":42,"more":true}');
    });
    const span = startSpan();
    const ask = () => client(url).post('/internal/v1/x', { body: { a: [1] }, schema });
    const answer = await runInSpan(span, ask, { requestId: 'req-12345678' });
    expect(answer).toEqual({ answer: 42 });
    const { req, body } = await seen.promise;
    expect(req.headers).toMatchObject({
      authorization: 'Bearer for-identity',
      'x-request-id': 'req-12345678',
      traceparent: traceparentOf(span),
      'content-type': 'application/json',
    });
    expect([req.method, req.url, body]).toEqual(['POST', '/internal/v1/x', '{"a":[1]}']);
  });

  it.each([
    ['an answer that is not what was agreed', 200, '{"answer":"42"}'],
    ['an answer that is no JSON', 200, '<html>'],
    ['an empty answer', 200, ''],
    ['a fault of the callee', 500, envelope('internal_error', 'x')],
    ['a refused token', 401, envelope('unauthorized', 'x')],
    ['an endpoint that the callee does not have yet', 404, envelope('not_found', 'x')],
    ['a page of something in between', 502, '<html>bad gateway</html>'],
  ])('[ERR-05] %s is unavailable', async (_, status, body) => {
    await expect(client(await answering(status, body)).get('/x', { schema })).rejects.toMatchObject({
      name: 'DomainError',
      kind: 'unavailable',
    });
  });

  it.each([400, 403, 409])('a call that would be refused again (%i) is a fault of ours, and its cause says why', async (status) => {
    const url = await answering(status, envelope('invalid_request', 'user_ids: too many'));
    await expect(client(url).get('/x', { schema })).rejects.toMatchObject({
      kind: 'internal',
      cause: { name: 'CallRefused', status, type: 'invalid_request', message: 'user_ids: too many' },
    });
  });

  it('[ERR-05] a callee that is down is unavailable at once', async () => {
    await expect(client(NOBODY).get('/x', { schema })).rejects.toMatchObject({ kind: 'unavailable' });
  });

  it('another address is asked when one refuses the connection, whatever the method', async () => {
    const url = await answering(200, '{"answer":1}');
    const both = client(NOBODY, url);
    for (let round = 0; round < 4; round += 1) expect(await both.post('/x', { body: {}, schema })).toEqual({ answer: 1 });
  });

  it('each of many calls at once asks every address before it gives up', async () => {
    const url = await answering(200, '{"answer":1}');
    const asking = client(NOBODY, url);
    const answers = await Promise.allSettled(Array.from({ length: 9 }, () => asking.post('/x', { body: {}, schema })));
    expect(answers.filter(({ status }) => status === 'rejected')).toEqual([]);
  });

  it('[ERR-05] a callee that says nothing costs no more than the deadline, and the call is not made twice', async () => {
    let calls = 0;
    const url = await callee(() => {
      calls += 1;
    });
    await expect(clientWithin(1000, url, url).post('/x', { body: {}, schema })).rejects.toMatchObject({ kind: 'unavailable' });
    expect(calls).toBe(1);
  });

  it('[ERR-05] nor does one that never finishes', async () => {
    const url = await callee((_, res) => res.write('{"answer":'));
    await expect(clientWithin(300, url).get('/x', { schema })).rejects.toMatchObject({ kind: 'unavailable' });
  });

  it('ends when the caller no longer wants the answer', async () => {
    const asked = Promise.withResolvers<void>();
    const gone = Promise.withResolvers<void>();
    const url = await callee((_, res) => {
      res.on('close', () => gone.resolve());
      asked.resolve();
    });
    const leaving = new AbortController();
    const call = client(url).get('/x', { schema, signal: leaving.signal });
    await asked.promise;
    leaving.abort();
    await expect(call).rejects.toMatchObject({ kind: 'unavailable' });
    await gone.promise;
  });

  it('connections are reused', async () => {
    const sockets = new Set<unknown>();
    const url = await callee((req, res) => {
      sockets.add(req.socket);
      res.end('{"answer":1}');
    });
    const one = client(url);
    for (let call = 0; call < 10; call += 1) await one.get('/x', { schema });
    expect(sockets.size).toBeLessThanOrEqual(2);
  });
});
