import { pat } from '@bubbles/auth/guards.ts';
import { aCaller, startTestHttp, type TestHttp } from '@bubbles/testing/http.ts';
import { jsonBody } from '@bubbles/testing/requests.ts';
import { SAMPLE_ERRORS } from '@bubbles/testing/sample-routes.ts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { openApiFragment } from '../document/openapi.ts';
import { json } from './content.ts';
import { deprecated } from './deprecation.ts';
import { checkRoutes, type Route, route } from './route.ts';

const EARLY = { since: '2026-01-01', sunset: '2026-07-01', instead: 'Send `size`.' };
const LATE = { since: '2026-03-01', sunset: '2026-09-01', instead: 'Leave it out.' };
const Answer = z.object({ ok: z.boolean() });
const usual = { tag: 'Things', guard: pat(null), answers: { 200: json(Answer) } } as const;
const answer = () => Promise.resolve({ ok: true });

const routes = [
  route({ ...usual, method: 'GET', path: '/v1/old', operationId: 'old', summary: 'Old', deprecated: EARLY }, answer),
  route(
    {
      ...usual,
      method: 'POST',
      path: '/v1/things',
      operationId: 'make',
      summary: 'Make',
      query: z.object({ width: deprecated(z.string().optional(), EARLY), size: z.string().optional() }),
      headers: z.object({ 'x-mood': deprecated(z.string().optional(), LATE) }),
      body: z.object({
        name: z.string(),
        filters: z
          .object({ loud: deprecated(z.boolean().optional(), LATE) })
          .nullable()
          .optional(),
      }),
    },
    answer,
  ),
];

let http: TestHttp;
const counted: unknown[] = [];
beforeAll(async () => {
  http = await startTestHttp({
    routes,
    caller: aCaller({ kind: 'oauth', credentialId: 'grant-1' }),
    metrics: { observe: ({ route: served, deprecated: used }) => counted.push({ route: served, deprecated: used }), shed: () => undefined },
  });
});
afterAll(() => http.stop());

const announced = async (path: string, init?: RequestInit) => {
  counted.length = 0;
  const { headers, status } = await http.fetch(path, init);
  return {
    status,
    headers: [headers.get('deprecation'), headers.get('sunset')],
    counted: counted.map((one) => Reflect.get(Object(one), 'deprecated')),
  };
};
const EARLY_HEADERS = ['@1767225600', 'Wed, 01 Jul 2026 00:00:00 GMT'];
const LATE_HEADERS = ['@1772323200', 'Tue, 01 Sep 2026 00:00:00 GMT'];

describe('[API-04] what is to go', () => {
  it('is announced on every answer of a route, refusals too', async () => {
    expect(await announced('/v1/old')).toEqual({ status: 200, headers: EARLY_HEADERS, counted: [['route']] });
    http.actAs(null);
    expect((await announced('/v1/old')).headers).toEqual(EARLY_HEADERS);
    http.actAs(aCaller());
  });

  it('is announced to who sends a parameter, a header or a field, and counted by its path', async () => {
    const body = jsonBody({ name: 'a' });
    expect(await announced('/v1/things?size=1', body)).toEqual({ status: 200, headers: [null, null], counted: [[]] });
    expect(await announced('/v1/things?width=1', body)).toEqual({ status: 200, headers: EARLY_HEADERS, counted: [['width']] });
    const loud = jsonBody({ name: 'a', filters: { loud: true } });
    expect(await announced('/v1/things', loud)).toEqual({ status: 200, headers: LATE_HEADERS, counted: [['filters.loud']] });
    expect(await announced('/v1/things?width=1', loud)).toMatchObject({ headers: EARLY_HEADERS, counted: [['width', 'filters.loud']] });
    expect(await announced('/v1/things', { ...body, headers: { ...body.headers, 'x-mood': 'glad' } })).toMatchObject({
      counted: [['x-mood']],
    });
  });

  it('is announced to a request that is refused for another reason', async () => {
    expect(await announced('/v1/things?width=1', jsonBody({ name: 5 }))).toMatchObject({ status: 400, headers: EARLY_HEADERS });
  });

  it('does not mind what is not an object where fields are marked', async () => {
    for (const filters of [null, [], 'loud', 5])
      expect((await announced('/v1/things', jsonBody({ name: 'a', filters }))).headers).toEqual([null, null]);
  });

  it('is marked in the document, for routes, parameters and fields', () => {
    const { paths } = openApiFragment({ name: 'things', routes, errors: SAMPLE_ERRORS });
    const { '/v1/old': old, '/v1/things': things } = Object(paths);
    expect(old.get).toMatchObject({
      deprecated: true,
      'x-sunset': '2026-07-01',
      description: 'Deprecated since 2026-01-01, works until 2026-07-01 at least. Send `size`.',
      responses: { 200: { headers: { Deprecation: expect.anything(), Sunset: expect.anything() } } },
    });
    expect(things.post.parameters[0]).toMatchObject({ name: 'width', deprecated: true, schema: { type: 'string' } });
    const { filters } = things.post.requestBody.content['application/json'].schema.properties;
    expect(JSON.stringify(filters)).toContain('"deprecated":true');
  });

  const withDays = (since: string, sunset: string): readonly Route<never>[] => [
    route(
      { ...usual, method: 'GET', path: '/v1/old', operationId: 'old', summary: 'Old', deprecated: { since, sunset, instead: 'Go.' } },
      answer,
    ),
  ];
  it.each([
    ['2026-01-01', '2025-01-01'],
    ['2026-01-01', '2026-01-01'],
    ['yesterday', '2026-01-01'],
    ['2026-01-01', '2026-02-30'],
  ])('with the days %s and %s is a fault of the program', (since, sunset) => {
    expect(() => checkRoutes(withDays(since, sunset))).toThrow('a deprecation has two days');
  });
});
