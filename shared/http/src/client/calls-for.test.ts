import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { envelope } from '../routes/http-errors.ts';
import { callsFor } from './calls-for.ts';
import { createInternalClient } from './internal-client.ts';

const tokens = { authorizationFor: () => Promise.resolve('Bearer of-the-service') };
const schema = z.object({ answer: z.number() });

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

const calling = async (listener: RequestListener) => {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // It listens on a port.
  const { port } = server.address() as AddressInfo;
  const client = createInternalClient({ callee: 'dispatcher', baseUrls: [`http://127.0.0.1:${port}`], tokens });
  open.push(client.close, () => server.close());
  return callsFor(client, 'what-identity-says');
};

describe('calls for a user', () => {
  it('carry what identity says of the user, beside the token of the calling service', async () => {
    const seen: unknown[] = [];
    const call = await calling((req, res) => {
      const { authorization, 'x-internal-assertion': assertion, 'idempotency-key': key } = req.headers;
      seen.push([req.method, req.url, assertion, authorization, key]);
      res.end('{"answer":42}');
    });
    expect(await call('GET', '/v1/things?limit=1', { schema })).toEqual({ answer: 42 });
    await call('POST', '/v1/things', { schema, idempotencyKey: 'once' });
    expect(seen).toEqual([
      ['GET', '/v1/things?limit=1', 'what-identity-says', 'Bearer of-the-service', undefined],
      ['POST', '/v1/things', 'what-identity-says', 'Bearer of-the-service', 'once'],
    ]);
  });

  it.each([
    [400, 'invalid_request', 'invalid'],
    [403, 'pro_plan_required', 'forbidden'],
    [404, 'not_found', 'not_found'],
    [409, 'invalid_request', 'limit_reached'],
  ])('a refusal with %i %s is passed on in the words of the service', async (status, type, kind) => {
    const call = await calling((_, res) => res.writeHead(status).end(envelope(type, 'Its own words.')));
    await expect(call('POST', '/v1/things', { schema, body: {} })).rejects.toMatchObject({ kind, type, message: 'Its own words.' });
  });

  it('a refusal for a while says for how long', async () => {
    const call = await calling((_, res) => res.writeHead(429, { 'retry-after': '17' }).end(envelope('rate_limited', 'Too many.')));
    await expect(call('POST', '/v1/things', { schema })).rejects.toMatchObject({ kind: 'rate_limited', retryAfterSeconds: 17 });
  });

  it.each([401, 500, 502])('[ERR-05] an answer with %i is no refusal of the user: the service is unavailable', async (status) => {
    const call = await calling((_, res) => res.writeHead(status).end(envelope('x', 'A secret of ours.')));
    await expect(call('GET', '/v1/things', { schema })).rejects.toMatchObject({
      kind: 'unavailable',
      message: 'dispatcher could not be asked.',
    });
  });
});
