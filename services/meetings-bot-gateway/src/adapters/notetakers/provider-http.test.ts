import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { memoryLog } from '@bubbles/testing/memory-log.ts';
import { afterEach, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { NOON } from '../../../test/builders.ts';
import { type ProviderReply, startProviderServer } from '../../../test/provider-server.ts';
import type { NotetakerError } from '../../ports.ts';
import { createProviderHttp, type ProviderCall } from './provider-http.ts';

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop();
});

const KEY = 'k3y-that-nobody-may-see';
const Thing = z.object({ id: z.string() });

const provider = async (reply: ProviderReply = { status: 200, body: { id: 'one' } }) => {
  const server = await startProviderServer(() => reply);
  const log = memoryLog();
  const outcomes: string[] = [];
  const http = createProviderHttp({
    provider: 'recall',
    baseUrl: `${server.url}/base`,
    headers: { authorization: `Token ${KEY}` },
    clock: fakeClock(NOON),
    log,
    called: (name, outcome) => outcomes.push(`${name} ${outcome}`),
  });
  stops.push(server.stop, http.close);
  const call = (fields: Partial<ProviderCall<z.infer<typeof Thing>>> = {}) =>
    http.call({ name: 'get thing', method: 'GET', path: '/things/1', schema: Thing, ...fields });
  const refusal = async (fields: Parameters<typeof call>[0] = {}): Promise<NotetakerError> =>
    call(fields).then(
      () => Promise.reject(new Error('it answered')),
      (error: NotetakerError) => error,
    );
  return { server, log, outcomes, call, refusal };
};

describe('a call of a provider', () => {
  it('sends key, headers and body, and answers with what the schema lets through', async () => {
    const { server, call, outcomes } = await provider({ status: 201, body: { id: 'one', more: 'dropped' } });
    const answer = await call({ method: 'POST', path: '/things?a=b', body: { name: 'é' }, headers: { 'idempotency-key': 'k' } });
    expect(answer).toEqual({ refused: false, value: { id: 'one' } });
    expect(server.requests).toEqual([expect.objectContaining({ method: 'POST', path: '/base/things', body: { name: 'é' } })]);
    expect(server.requests[0]?.headers).toMatchObject({
      authorization: `Token ${KEY}`,
      'idempotency-key': 'k',
      accept: 'application/json',
    });
    expect(outcomes).toEqual(['recall ok']);
  });

  it('takes an empty answer for null', async () => {
    const { call } = await provider({ status: 204 });
    expect(await call({ schema: z.null().transform(() => ({ id: 'none' })) })).toEqual({ refused: false, value: { id: 'none' } });
  });

  it('hands over a refusal that the caller reads', async () => {
    const { call, outcomes } = await provider({ status: 404, body: { detail: 'gone' }, headers: { 'retry-after': '3' } });
    expect(await call({ reads: [404] })).toEqual({ refused: true, status: 404, body: { detail: 'gone' }, retryAfterSeconds: 3 });
    expect(outcomes).toEqual(['recall refused']);
  });

  it('takes a page for no refusal, whatever its status', async () => {
    const { refusal, outcomes } = await provider({ status: 404, body: Buffer.from('<html>') });
    expect(await refusal({ reads: [404] })).toMatchObject({ kind: 'transient', reason: 'notetaker_unavailable' });
    expect(outcomes).toEqual(['recall nonsense']);
  });

  it.each([400, 404, 409, 422])('takes an empty %i for no refusal', async (status) => {
    const { refusal, outcomes } = await provider({ status });
    expect(await refusal({ reads: [400, 404, 409] })).toMatchObject({ kind: 'transient', reason: 'notetaker_unavailable' });
    expect(outcomes).toEqual(['recall nonsense']);
  });

  it.each([
    [400, 'permanent', 'notetaker_error', 'refused'],
    [404, 'permanent', 'notetaker_error', 'refused'],
    [422, 'permanent', 'notetaker_error', 'refused'],
    [401, 'transient', 'notetaker_unavailable', 'unauthorized'],
    [402, 'transient', 'notetaker_unavailable', 'unauthorized'],
    [403, 'transient', 'notetaker_unavailable', 'unauthorized'],
    [408, 'transient', 'notetaker_unavailable', 'refused'],
    [409, 'transient', 'notetaker_unavailable', 'refused'],
    [429, 'transient', 'notetaker_unavailable', 'rate_limited'],
    [500, 'transient', 'notetaker_unavailable', 'failed'],
    [503, 'transient', 'notetaker_unavailable', 'failed'],
    [307, 'transient', 'notetaker_unavailable', 'nonsense'],
  ])('that is answered with %i is %s, with %s, and counts as %s', async (status, kind, reason, outcome) => {
    const { refusal, outcomes, log } = await provider({ status, body: { detail: 'text of the provider' } });
    expect(await refusal()).toMatchObject({ name: 'NotetakerError', kind, reason, cause: undefined });
    expect(outcomes).toEqual([`recall ${outcome}`]);
    expect(log.lines).toEqual([
      { level: 'warn', message: 'provider call failed', fields: { provider: 'recall', call: 'get thing', outcome, tookMs: 0, status } },
    ]);
  });

  it.each([
    ['120', 120],
    ['0', 0],
    ['Mon, 02 Mar 2026 12:00:30 GMT', 30],
    ['Mon, 02 Mar 2026 11:00:00 GMT', 0],
    ['86400', 600],
    ['Mon, 02 Mar 2099 12:00:00 GMT', 600],
    ['soon', null],
    ['-5', null],
    ['1e9', null],
  ])('waits as long as Retry-After %j says, within reason: %s', async (value, seconds) => {
    const { refusal } = await provider({ status: 503, body: {}, headers: { 'retry-after': value } });
    expect((await refusal()).retryAfterSeconds).toBe(seconds);
  });

  it('that a proxy answers with a page, since the provider is away, counts as failed', async () => {
    const { refusal, outcomes } = await provider({ status: 502, body: Buffer.from('<html>Bad gateway</html>') });
    expect(await refusal()).toMatchObject({ kind: 'transient' });
    expect(outcomes).toEqual(['recall failed']);
  });

  it('that is answered with something else than HTTP may pass later', async () => {
    const { server, refusal, outcomes, log } = await provider();
    server.fail('no HTTP');
    expect(await refusal()).toMatchObject({ kind: 'transient', cause: undefined });
    expect(outcomes).toEqual(['recall nonsense']);
    expect(JSON.stringify(log.lines)).not.toContain('SSH');
  });

  it('that cannot connect may pass later, and says neither key nor address', async () => {
    const { server, refusal, outcomes, log } = await provider();
    await server.stop();
    const error = await refusal({ path: '/things/secret-link' });
    expect(error).toMatchObject({ kind: 'transient', reason: 'notetaker_unavailable', retryAfterSeconds: null });
    expect(outcomes).toEqual(['recall unreachable']);
    expect(JSON.stringify([log.lines, error.stack, error.cause])).not.toMatch(new RegExp(`${KEY}|secret-link|127.0.0.1`));
    expect(log.lines[0]?.fields).toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('reads no more than its limit', async () => {
    const { refusal, outcomes } = await provider({ status: 200, body: { id: 'x'.repeat(1000) } });
    expect(await refusal({ maxBytes: 1000 })).toMatchObject({ kind: 'transient' });
    expect(outcomes).toEqual(['recall nonsense']);
  });

  it('sees no prototype in JSON', async () => {
    const { call } = await provider({ status: 200, body: Buffer.from('{"__proto__":{"polluted":true},"id":"one"}') });
    const answer = await call();
    expect(answer).toEqual({ refused: false, value: { id: 'one' } });
    expect(Object.getPrototypeOf(answer)).toBe(Object.prototype);
    expect('polluted' in {}).toBe(false);
  });
});
