import { randomBytes } from 'node:crypto';
import { type AuthPorts, anyone, pat } from '@bubbles/auth/guards.ts';
import { idempotencyStore } from '@bubbles/host/idempotency-store.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import { systemIds } from '@bubbles/kernel/ids.ts';
import { createSeal } from '@bubbles/kernel/seal.ts';
import { openEmbedded } from '@bubbles/store-embedded/open-embedded.ts';
import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { startTestHttp, type TestHttp } from '@bubbles/testing/http.ts';
import { memoryLog } from '@bubbles/testing/memory-log.ts';
import { rawExchange } from '@bubbles/testing/raw-http.ts';
import { caller } from '@bubbles/testing/requests.ts';
import { SAMPLE_ERRORS } from '@bubbles/testing/sample-routes.ts';
import { afterEach, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { openApiFragment } from '../document/openapi.ts';
import { json } from './content.ts';
import { type Route, route } from './route.ts';

const DRAWERS = '/v1/things/abc/drawers';
const LEASE_MS = 10_000;

const common = { method: 'POST', tag: 'Things', guard: pat('things:write'), idempotent: true } as const;
/** `onOpen` runs in the handler, with the id of what it makes. */
const keyedRoutes = (onOpen: (drawer: string) => Promise<void>): readonly Route<AuthPorts>[] => [
  route(
    {
      ...common,
      path: '/v1/things',
      operationId: 'createThing',
      summary: 'Create a thing',
      body: z.object({ name: z.string(), tags: z.array(z.string()).optional() }),
      answers: { 201: json(z.object({ name: z.string(), secret: z.string() })) },
      secret: true,
    },
    ({ body, ids }) => Promise.resolve({ name: body.name, secret: `s3cret ${ids.uuid()}` }),
  ),
  route(
    {
      ...common,
      path: '/v1/things/{id}/drawers',
      operationId: 'openDrawer',
      summary: 'Open a drawer of a thing',
      params: z.object({ id: z.string() }),
      answers: { 202: json(z.object({ drawer: z.string() })) },
    },
    async ({ params, ids }) => {
      const drawer = `${params.id} ${ids.uuid()}`;
      await onOpen(drawer);
      return { drawer };
    },
  ),
];

const open: TestHttp[] = [];
afterEach(async () => {
  for (const http of open.splice(0)) await http.stop();
});

/** Replicas on one store. `onOpen` runs in the handler. */
const replicas = async (onOpen: (drawer: string) => Promise<void> = () => Promise.resolve()) => {
  const clock = fakeClock();
  const database = openEmbedded({ path: ':memory:', log: memoryLog() }).database('things');
  const seal = createSeal([{ id: 'k1', key: randomBytes(32) }], randomBytes);
  const opened: string[] = [];
  const start = async () => {
    const idempotency = idempotencyStore({ database, seal, clock, ids: systemIds() });
    await idempotency.ensureIndexes();
    const routes = keyedRoutes(async (drawer) => {
      opened.push(drawer);
      await onOpen(drawer);
    });
    const http = await startTestHttp({ routes, idempotency, caller });
    open.push(http);
    return http;
  };
  const [first, second] = [await start(), await start()];
  return { clock, first, second, opened };
};

const post = async (http: TestHttp, path: string, { key, body }: { key?: string; body?: string } = {}) => {
  const answer = await http.fetch(path, {
    method: 'POST',
    headers: { ...(key !== undefined && { 'idempotency-key': key }), ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body }),
  });
  return {
    status: answer.status,
    text: await answer.text(),
    replayed: answer.headers.get('idempotency-replayed'),
    headers: answer.headers,
  };
};

describe('Idempotency-Key', () => {
  it('[GEN-13] the same key gets the first answer again, whoever is asked; without a key each request acts', async () => {
    const { first, second, opened } = await replicas();
    const answer = await post(first, DRAWERS, { key: 'a' });
    expect([answer.status, answer.replayed]).toEqual([202, null]);
    for (const http of [first, second])
      expect(await post(http, DRAWERS, { key: 'a' })).toMatchObject({ status: 202, text: answer.text, replayed: 'true' });
    await post(first, DRAWERS);
    await post(first, DRAWERS);
    expect(opened).toHaveLength(3);
  });

  it('[GEN-13] [GEN-10] a secret is in the first answer again, which nobody may keep', async () => {
    const { first } = await replicas();
    const send = () => post(first, '/v1/things', { key: 'a', body: '{"name":"a"}' });
    const [{ text }, again] = [await send(), await send()];
    expect(JSON.parse(text).secret).toMatch(/^s3cret /);
    expect(again).toMatchObject({ status: 201, text, replayed: 'true' });
    for (const name of ['cache-control', 'pragma']) expect(again.headers.get(name)).toMatch(/no-/);
    expect(again.headers.get('content-type')).toBe('application/json; charset=utf-8');
  });

  it('[GEN-13] another body under the same key is 400; one that means the same is the same', async () => {
    const { first } = await replicas();
    const send = (body: string) => post(first, '/v1/things', { key: 'a', body });
    await send('{"name":"a","tags":["x"]}');
    expect(await send('{ "tags": ["x"], "name": "\\u0061", "unknown": 1 }')).toMatchObject({ status: 201, replayed: 'true' });
    const other = await send('{"name":"b","tags":["x"]}');
    expect([other.status, other.replayed]).toEqual([400, null]);
    expect(JSON.parse(other.text).error).toEqual({
      type: 'invalid_request',
      message: 'Idempotency-Key: was used with another request body.',
    });
  });

  it('[GEN-13] a key belongs to its account, its method and its path', async () => {
    const { first, opened } = await replicas();
    const paths = [DRAWERS, '/v1/things/xyz/drawers'];
    for (const path of paths) expect((await post(first, path, { key: 'a' })).replayed).toBeNull();
    first.actAs({ ...caller, userId: 'user-2' });
    expect((await post(first, DRAWERS, { key: 'a' })).replayed).toBeNull();
    first.actAs({ ...caller, credentialId: 'another' });
    expect((await post(first, DRAWERS, { key: 'a' })).replayed).toBe('true');
    expect(opened).toHaveLength(3);
  });

  it('[GEN-13] an account that was deleted and opened again gets no answer of before', async () => {
    const { first } = await replicas();
    const send = (body: string) => post(first, '/v1/things', { key: 'a', body });
    const before = await send('{"name":"a"}');
    first.actAs({ ...caller, life: 2 });
    const after = await send('{"name":"a"}');
    expect([before.status, after.status, after.replayed]).toEqual([201, 201, null]);
    expect(JSON.parse(after.text).secret).not.toBe(JSON.parse(before.text).secret);
  });

  it('[GEN-13] of ten at once, over two replicas, one acts and all get its answer', async () => {
    const gate = Promise.withResolvers<void>();
    const { first, second, opened } = await replicas(() => gate.promise);
    const sent = Array.from({ length: 10 }, (_, n) => post(n % 2 === 0 ? first : second, DRAWERS, { key: 'a' }));
    const early = Promise.race(sent).then(() => 'answered');
    while (opened.length === 0) await Promise.race([early, new Promise(setImmediate)]);
    gate.resolve();
    const answers = await Promise.all(sent);
    expect(opened).toHaveLength(1);
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers.filter(({ replayed }) => replayed === null)).toHaveLength(1);
  });

  it('[GEN-13] a refusal is not kept: the next request under the key begins afresh, with any body', async () => {
    let refusal: DomainError | null = new DomainError('forbidden', 'Not on this plan.');
    const { first, opened } = await replicas(() => (refusal === null ? Promise.resolve() : Promise.reject(refusal)));
    expect((await post(first, DRAWERS, { key: 'a' })).status).toBe(403);
    expect((await post(first, '/v1/things', { key: 'b', body: '{"name":1}' })).status).toBe(400);
    refusal = null;
    expect(await post(first, DRAWERS, { key: 'a' })).toMatchObject({ status: 202, replayed: null });
    expect(await post(first, '/v1/things', { key: 'b', body: '{"name":"a"}' })).toMatchObject({ status: 201, replayed: null });
    expect(new Set(opened).size).toBe(2);
  });

  it('[GEN-13] after a fault the next one acts with the same ids, so that it finds what was made; a refusal then does not end that', async () => {
    const faults: (Error | null)[] = [
      new DomainError('unavailable', 'Away.'),
      new Error('a bug'),
      new DomainError('forbidden', 'Not on this plan.'),
      null,
    ];
    const { first, second, opened } = await replicas(() => {
      const fault = faults.shift();
      return fault ? Promise.reject(fault) : Promise.resolve();
    });
    const statuses: number[] = [];
    for (const http of [first, second, first, second]) statuses.push((await post(http, DRAWERS, { key: 'a' })).status);
    expect(statuses).toEqual([500, 500, 403, 202]);
    expect(opened).toHaveLength(4);
    expect(new Set(opened).size).toBe(1);
  });

  it('[GEN-13] who went away is answered when they come again, and nothing is done twice', async () => {
    const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { first, second, opened } = await replicas(() => {
      begun.resolve();
      return gate.promise;
    });
    const leaving = new AbortController();
    const gone = first.fetch(DRAWERS, { method: 'POST', headers: { 'idempotency-key': 'a' }, signal: leaving.signal });
    await begun.promise;
    leaving.abort();
    await expect(gone).rejects.toThrow();
    const again = post(second, DRAWERS, { key: 'a' });
    gate.resolve();
    expect(await again).toMatchObject({ status: 202, replayed: 'true' });
    expect(opened).toHaveLength(1);
  });

  it('[GEN-13] the key of a process that died is free when its lease has ended; the next one has the same ids', async () => {
    const held: PromiseWithResolvers<void>[] = [];
    const { first, second, clock, opened } = await replicas(() => {
      held.push(Promise.withResolvers<void>());
      return held.length === 1 ? (held[0]?.promise ?? Promise.resolve()) : Promise.resolve();
    });
    const hanging = post(first, DRAWERS, { key: 'a' });
    while (opened.length === 0) await new Promise(setImmediate);
    const waiting = post(second, DRAWERS, { key: 'a' });
    await clock.advance(LEASE_MS);
    const answer = await waiting;
    expect([answer.status, answer.replayed]).toEqual([202, null]);
    expect(opened).toHaveLength(2);
    expect(opened[0]).toBe(opened[1]);
    held[0]?.resolve();
    expect((await hanging).text).toBe(answer.text);
  });

  it.each([
    ['blank inside', 'a b'],
    ['not ASCII', 'clé'],
    ['256 characters', 'k'.repeat(256)],
    ['empty', ''],
  ])('[GEN-13] a key that is %s is 400, and nothing happens', async (_what, key) => {
    const { first, opened } = await replicas();
    const host = new URL(first.url).host;
    const head = `POST ${DRAWERS} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\nContent-Length: 0\r\n`;
    const answer = await rawExchange(first.url, `${head}Idempotency-Key: ${key}\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain('Idempotency-Key: must have 1 to 255 visible ASCII characters');
    expect(opened).toEqual([]);
  });

  it('[GEN-13] a key that is given twice is 400; one of 255 characters is taken', async () => {
    const { first, opened } = await replicas();
    const head = `POST ${DRAWERS} HTTP/1.1\r\nHost: ${new URL(first.url).host}\r\nConnection: close\r\nContent-Length: 0\r\n`;
    const twice = await rawExchange(first.url, `${head}Idempotency-Key: a\r\nIdempotency-Key: a\r\n\r\n`);
    expect(twice).toContain('Idempotency-Key: may be given once');
    expect(opened).toEqual([]);
    expect((await post(first, DRAWERS, { key: '~'.repeat(255) })).status).toBe(202);
  });

  it('[GEN-13] is in the document of a route that honours it', () => {
    const fragment = openApiFragment({ name: 'things', routes: keyedRoutes(() => Promise.resolve()), errors: SAMPLE_ERRORS });
    const { post: operation } = Object(fragment['paths'])['/v1/things'];
    expect(operation.parameters).toMatchObject([{ name: 'Idempotency-Key', in: 'header', required: false, schema: { maxLength: 255 } }]);
    expect(Object.keys(operation.responses)).toEqual(expect.arrayContaining(['201', '400', '409']));
    expect(operation.responses['201'].headers).toHaveProperty('Idempotency-Replayed');
  });

  it('a service that marks a route and keeps no keys does not start, nor does one that marks what is no POST of a user', async () => {
    const routes = keyedRoutes(() => Promise.resolve());
    await expect(startTestHttp({ routes })).rejects.toThrow('tested-service keeps no idempotency keys for createThing');
    const wrong = routes.map((one) => ({ ...one, spec: { ...one.spec, guard: anyone } }));
    await expect(startTestHttp({ routes: wrong })).rejects.toThrow('only a POST of a user is idempotent');
  });
});
