import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { anyone } from '@bubbles/auth/guards.ts';
import { SECURITY_SCHEMES } from '@bubbles/contracts/access.ts';
import { asService, startTestHttp, type TestHttp } from '@bubbles/testing/http.ts';
import { caller } from '@bubbles/testing/requests.ts';
import { SAMPLE_ERRORS, sampleRoutes } from '@bubbles/testing/sample-routes.ts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { json } from '../routes/content.ts';
import { canonicalJson } from '../routes/idempotency.ts';
import { type Route, route } from '../routes/route.ts';
import { openApiFragment } from './openapi.ts';

const fragment = openApiFragment({ name: 'sample', routes: sampleRoutes(), errors: SAMPLE_ERRORS });
const operationOf = (path: string, method: string) => Object(fragment['paths'])[path][method];
const echo = (schema: z.ZodType, extra: { readonly body?: z.ZodType } = {}): Route =>
  route(
    {
      method: 'POST',
      path: '/v1/echo',
      operationId: 'echo',
      summary: 's',
      tag: 'T',
      guard: anyone,
      answers: { 200: json(schema) },
      ...extra,
    },
    () => Promise.resolve(null),
  );
const componentsOf = (...routes: readonly Route[]) =>
  Object(openApiFragment({ name: 'x', routes, errors: SAMPLE_ERRORS })['components']).schemas;

describe('the fragment of a service', () => {
  it('[API-03] says of each operation how it is reached', () => {
    expect(operationOf('/v1/things', 'get')).toMatchObject({
      operationId: 'listThings',
      security: [{ personalAccessToken: [] }, { oauth2: ['things:read'] }],
      'x-gw-auth': 'pat',
      'x-internal': false,
      parameters: [
        { name: 'limit', in: 'query', required: false },
        { name: 'colour', in: 'query', required: false, schema: { type: 'string', enum: ['red', 'blue'] } },
      ],
    });
    expect(operationOf('/v1/things', 'post')).toMatchObject({
      security: [{ personalAccessToken: [] }, { oauth2: ['things:write'] }, { appSession: [] }],
      'x-gw-auth': 'pat+session',
      requestBody: { required: true },
    });
    expect(operationOf('/v1/things/search', 'get')).toMatchObject({ security: [], 'x-gw-auth': 'none' });
    expect(operationOf('/v1/things/{id}', 'patch')).toMatchObject({
      'x-gw-auth': 'session',
      'x-extension': true,
      requestBody: { required: false },
    });
    expect(operationOf('/internal/v1/things/{id}', 'delete')).toMatchObject({ 'x-gw-auth': 'internal', 'x-internal': true });
  });

  it.each([
    ['/v1/things', 'get', ['200', '400', '401', '403', '429', '500']],
    ['/v1/things', 'post', ['201', '400', '401', '403', '409', '429', '500']],
    ['/v1/things/search', 'get', ['200', '400', '500']],
    ['/v1/things/{id}', 'patch', ['200', '400', '401', '404', '429', '500']],
    ['/internal/v1/things/{id}', 'delete', ['204', '400', '401', '404', '500']],
  ] as const)('[API-03] %s %s lists every status that it can answer', (path, method, statuses) => {
    expect(Object.keys(operationOf(path, method).responses)).toEqual(statuses);
  });

  it('[API-01] named types are components, once, and errors are the one envelope', () => {
    expect(Object(fragment['components']).schemas).toEqual({
      ErrorEnvelope: expect.objectContaining({ required: ['error'] }),
      ErrorType: {
        type: 'string',
        enum: ['invalid_request', 'unauthorized', 'forbidden', 'closed_today', 'not_found', 'rate_limited', 'internal_error'],
      },
      Thing: {
        type: 'object',
        properties: { id: { type: 'string' }, name: { type: ['string', 'null'] }, owner: { type: 'string' } },
        required: ['id', 'name', 'owner'],
      },
    });
    expect(operationOf('/v1/things/{id}', 'get').responses['200'].content['application/json'].schema).toEqual({
      $ref: '#/components/schemas/Thing',
    });
    expect(operationOf('/v1/things/{id}', 'get').responses['404']).toEqual({ $ref: '#/components/responses/NotFound' });
  });

  it('a client is not broken by a new field, but a strict object is closed', () => {
    const Open = z.object({ a: z.string() }).meta({ id: 'Open' });
    const Closed = z.strictObject({ a: z.string() }).meta({ id: 'Closed' });
    const schemas = componentsOf(echo(z.object({ open: Open, closed: Closed })));
    expect(schemas.Open).not.toHaveProperty('additionalProperties');
    expect(schemas.Closed).toHaveProperty('additionalProperties', false);
  });

  it('says of times, prefixes and integers what a reader needs and not how zod checks it', () => {
    const Row = z.object({ at: z.iso.datetime(), id: z.string().startsWith('wh_'), n: z.int(), small: z.int().max(9) }).meta({ id: 'Row' });
    const { at, id, n, small } = componentsOf(echo(Row)).Row.properties;
    expect(at).toEqual({ type: 'string', format: 'date-time' });
    expect(id).not.toHaveProperty('format');
    expect(n).toEqual({ type: 'integer' });
    expect(small).toEqual({ type: 'integer', maximum: 9 });
  });

  it('one type sent and received is one component', () => {
    const Shared = z.object({ a: z.string().nullable() }).meta({ id: 'Shared' });
    expect(Object.keys(componentsOf(echo(Shared, { body: z.object({ item: Shared }) })))).toEqual(['ErrorEnvelope', 'ErrorType', 'Shared']);
  });

  it('two types of one name are found at the start', () => {
    const one = z.object({ item: z.object({ a: z.string().default('x') }).meta({ id: 'Item' }) });
    expect(() => openApiFragment({ name: 'x', routes: [echo(one, { body: one })], errors: SAMPLE_ERRORS })).toThrow(
      'Two schemas claim the component Item.',
    );
  });

  it('equal documents are equal bytes', () => {
    expect(canonicalJson({ b: [{ d: 1, c: 2 }], a: null })).toBe('{"a":null,"b":[{"c":2,"d":1}]}');
    const again = openApiFragment({ name: 'sample', routes: sampleRoutes().toReversed(), errors: SAMPLE_ERRORS });
    expect(canonicalJson(again)).toBe(canonicalJson(fragment));
  });
});

describe('the fragment on the wire', () => {
  let http: TestHttp;
  beforeAll(async () => {
    http = await startTestHttp({ routes: sampleRoutes(), caller });
  });
  afterAll(() => http.stop());
  const get = (headers: Record<string, string>) => http.fetch('/internal/openapi.json', { headers });

  it('is for the gateway only', async () => {
    expect((await get({})).status).toBe(401);
    expect((await get(asService('bubbles-query'))).status).toBe(401);
    expect(await (await get(asService('gateway'))).json()).toMatchObject({ openapi: '3.1.0', info: { title: 'tested-service' } });
  });

  it('is not sent again to who has it', async () => {
    const etag = (await get(asService('gateway'))).headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[0-9a-f]{64}"$/);
    const again = await get({ ...asService('gateway'), 'if-none-match': etag });
    expect(again.status).toBe(304);
    expect(await again.text()).toBe('');
    expect((await get({ ...asService('gateway'), 'if-none-match': '"old"' })).status).toBe(200);
  });
});

describe('the document that the gateway makes of it', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'openapi-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('[API-01] lints clean', async () => {
    const bearer = { type: 'http', scheme: 'bearer' };
    const flow = {
      authorizationUrl: 'https://a.test/a',
      tokenUrl: 'https://a.test/t',
      scopes: { 'things:read': 'r', 'things:write': 'w' },
    };
    const document = {
      ...fragment,
      info: { title: 'Sample', version: '1', license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
      servers: [{ url: 'https://api.test' }],
      tags: [
        { name: 'Things', description: 'Things.' },
        { name: 'Internal', description: 'Between services.' },
      ],
      components: {
        ...Object(fragment['components']),
        securitySchemes: {
          [SECURITY_SCHEMES.pat]: bearer,
          [SECURITY_SCHEMES.session]: bearer,
          [SECURITY_SCHEMES.internal]: bearer,
          [SECURITY_SCHEMES.oauth]: { type: 'oauth2', flows: { authorizationCode: flow } },
        },
      },
    };
    const file = join(folder, 'openapi.json');
    await writeFile(file, JSON.stringify(document));
    const redocly = join(process.cwd(), 'node_modules/@redocly/cli/bin/cli.js');
    const run = promisify(execFile)(process.execPath, [redocly, 'lint', file, '--format=json'], {
      cwd: folder,
      env: { PATH: process.env['PATH'], REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
    });
    const { stdout } = await run.catch((error: { readonly stdout: string }) => error);
    const { problems } = JSON.parse(stdout.slice(stdout.indexOf('{')));
    expect(problems.map(({ ruleId, message }: Record<string, string>) => `${ruleId}: ${message}`)).toEqual([]);
  });
});
