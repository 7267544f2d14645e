import { rawExchange } from '@bubbles/testing/raw-http.ts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { fieldTypes } from '../architecture/field-types.ts';
import { REQUEST_COMPONENTS, RESPONSE_COMPONENTS } from '../architecture/interface-components.ts';
import { commonRefusals, ENDPOINTS } from '../architecture/interface-endpoints.ts';
import { type Answer, send } from './support/client.ts';
import { openWorld } from './support/open-world.ts';
import type { World } from './support/world.ts';

const PATH = '/v1/openapi.json';

let world: World;
// The document is what is under test.
// biome-ignore lint/suspicious/noExplicitAny: as above
let document: any;
let answer: Answer;
beforeAll(async () => {
  world = await openWorld();
  answer = await send(world.baseUrl, PATH);
  document = answer.json;
});
afterAll(() => world.close());

const endpoints = Object.values(ENDPOINTS)
  .flat()
  .map((endpoint) => ({ name: `${endpoint.method} ${endpoint.path}`, endpoint }));
const SCHEMES = {
  none: [],
  pat: ['personalAccessToken', 'oauth2'],
  session: ['appSession'],
  'pat+session': ['personalAccessToken', 'oauth2', 'appSession'],
} as const;
type Schema = { $ref?: string; anyOf?: Schema[] };
const schemasOf = (content: { content?: Record<string, { schema: Schema }> } | undefined): string[] => {
  const [{ schema } = {}] = Object.values(content?.content ?? {});
  return (schema?.anyOf ?? [schema ?? {}]).flatMap(({ $ref }) => $ref?.replace('#/components/schemas/', '') ?? []);
};
const schemaOf = (content: { content?: Record<string, { schema: { $ref?: string } }> } | undefined) =>
  Object.values(content?.content ?? {})[0]?.schema.$ref?.replace('#/components/schemas/', '');
/** How a refusal is described by its form. */
const REFUSED = {
  envelope: { content: { 'application/json': { schema: { $ref: '#/components/schemas/ErrorEnvelope' } } } },
  rfc6749: { content: { 'application/json': { schema: { required: ['error', 'error_description'] } } } },
  page: { content: { 'text/html': { schema: { type: 'string' } } } },
};
const resolved = (part: { $ref?: string }) =>
  part.$ref === undefined ? part : document.components.responses[part.$ref.split('/').at(-1) ?? ''];

describe('section 9, the document', () => {
  it('[API-01] is served without a credential, OpenAPI 3.1, and neither counted nor refused with one', async () => {
    expect([answer.status, document.openapi]).toEqual([200, expect.stringMatching(/^3\.1\.\d+$/)]);
    expect(answer.headers.get('ratelimit')).toBeNull();
    expect((await send(world.baseUrl, PATH, { as: 'svc_pat_unknown' })).text).toBe(answer.text);
  });

  it.each(endpoints)('[API-03] $name is in it with its security, parameters, body and answers', ({ endpoint }) => {
    const operation = document.paths[endpoint.path][endpoint.method.toLowerCase()];
    expect(operation.security.flatMap((requirement: object) => Object.keys(requirement))).toEqual(SCHEMES[endpoint.auth]);
    const parameters: { in: string; name: string }[] = operation.parameters ?? [];
    const namesIn = (place: string) => parameters.filter((parameter) => parameter.in === place).map(({ name }) => name);
    expect(namesIn('query').toSorted()).toEqual([endpoint.query ?? [], endpoint.extension?.query ?? []].flat().toSorted());
    expect(namesIn('path')).toEqual([...endpoint.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
    expect(schemaOf(operation.requestBody)).toBe(endpoint.body);
    expect(schemasOf(operation.responses[endpoint.status])).toEqual([endpoint.extension?.answer ?? [], endpoint.answer ?? []].flat());
    const { errorFormat = 'envelope' } = endpoint;
    for (const status of new Set([...endpoint.refusals, ...commonRefusals(endpoint)]))
      expect(resolved(operation.responses[status] ?? {})).toMatchObject(REFUSED[errorFormat]);
  });

  const components = Object.entries({ ...RESPONSE_COMPONENTS, ...REQUEST_COMPONENTS }).filter(
    ([name]) => !/^(MeetingJoin|JoinMeeting)/.test(name),
  );
  it.each(components)('[API-01] [GEN-04] the component %s has the fields of section 2', (name, fields) => {
    expect(fieldTypes(name, document.components.schemas)).toEqual(fields);
  });

  it.each(['bubble.ready', 'meeting_recording.ready', 'screen_recording.ready', 'webhook.test'])(
    '[API-01] [DLV-01] says what a receiver gets for %s',
    (name) => {
      const { post } = document.webhooks[name];
      expect(schemaOf(post.requestBody)).toBe('WebhookDelivery');
      expect(post.parameters.map((parameter: { in: string; name: string }) => [parameter.in, parameter.name])).toEqual([
        ['header', 'X-Service-Event'],
        ['header', 'X-Service-Delivery'],
        ['header', 'X-Service-Signature'],
      ]);
      expect(post.security).toEqual([]);
      expect(fieldTypes('WebhookDelivery', document.components.schemas)['type']?.split(' | ')).toContain(name);
    },
  );

  it('[API-03] every operation in it is served: without a credential it asks for one', async () => {
    const operations = Object.entries<Record<string, { security: readonly unknown[] }>>(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { security }]) => ({
        method: method.toUpperCase(),
        path: path.replaceAll(/\{\w+\}/g, 'x'),
        security,
      })),
    );
    expect(operations.length).toBeGreaterThan(endpoints.length);
    for (const { method, path, security } of operations) {
      const { status } = await send(world.baseUrl, path, { method });
      // The endpoints of OAuth and of signup judge themselves what they are sent.
      const expected = /^\/(?:oauth|v1\/signup)\//.test(path) ? [200, 400, 401] : [security.length === 0 ? 200 : 401];
      expect([method, path, expected.includes(status) || status]).toEqual([method, path, true]);
    }
  });

  it('[API-03] every reference leads somewhere, every operation has an id of its own', () => {
    const lost: string[] = [];
    const visit = (part: unknown): void => {
      if (typeof part !== 'object' || part === null) return;
      for (const [key, value] of Object.entries(part)) {
        if (key === '$ref' && typeof value === 'string') {
          const target = value
            .slice(2)
            .split('/')
            .reduce((inside, name) => inside?.[name], document);
          if (target === undefined) lost.push(value);
        } else visit(value);
      }
    };
    visit(document);
    expect(lost).toEqual([]);
    const ids = [...answer.text.matchAll(/"operationId":"([^"]+)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('[API-01] says nothing of what is inside', () => {
    expect(answer.text).not.toMatch(/x-gw-|x-internal|\/internal\/|_sandbox|bubbles-query|webhooks-dispatcher|identity-and-oauth/);
  });

  it('[API-04] announces what it announces: nothing is deprecated', () => {
    expect(answer.text).not.toContain('"deprecated":true');
    expect([answer.headers.get('deprecation'), answer.headers.get('sunset')]).toEqual([null, null]);
  });

  it('[API-02] its server is the host of the request, written plainly', async () => {
    const serversOf = async (...lines: readonly string[]) => {
      const text = await rawExchange(world.baseUrl, [`GET ${PATH} HTTP/1.1`, ...lines, 'Connection: close', '', ''].join('\r\n'));
      const body = text.slice(text.indexOf('\r\n\r\n') + 4);
      return text.startsWith('HTTP/1.1 200') ? JSON.parse(body).servers : Number(text.split(' ')[1]);
    };
    expect(document.servers).toEqual([{ url: new URL(world.baseUrl).origin }]);
    for (const [host, url] of [
      ['api.example.com', 'http://api.example.com'],
      ['API.Example.com.:8443', 'http://api.example.com:8443'],
      ['api.example.com:80', 'http://api.example.com'],
      ['[::1]:8080', 'http://[::1]:8080'],
      ['xn--mller-kva.example', 'http://xn--mller-kva.example'],
      ['bubbles_gateway:8080', 'http://bubbles_gateway:8080'],
    ] as const)
      expect(await serversOf(`Host: ${host}`)).toEqual([{ url }]);
    expect(
      await serversOf('Host: a.example', 'X-Forwarded-Host: evil.example', 'X-Forwarded-Proto: https', 'Forwarded: host=evil.example'),
    ).toEqual([{ url: 'http://a.example' }]);
    for (const host of ['a b', 'a/b', 'a@b', '"', '<script>', 'a:99999', 'müller.example', '[::1', 'a..b', 'a*b'])
      expect([host, await serversOf(`Host: ${host}`)]).toEqual([host, 400]);
  });

  it('[API-01] has an ETag of its own for each host, and answers 304 to it', async () => {
    const etag = answer.headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[^"]+"$/);
    for (const condition of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const again = await send(world.baseUrl, PATH, { headers: { 'if-none-match': condition } });
      expect([condition, again.status, again.text, again.headers.get('etag')]).toEqual([condition, 304, '', etag]);
    }
    expect((await send(world.baseUrl, PATH, { headers: { 'if-none-match': '"x"' } })).status).toBe(200);
    const elsewhere = await rawExchange(
      world.baseUrl,
      `GET ${PATH} HTTP/1.1\r\nHost: other.example\r\nIf-None-Match: ${etag}\r\nConnection: close\r\n\r\n`,
    );
    expect(elsewhere).toMatch(/^HTTP\/1\.1 200 /);
    expect(answer.headers.get('vary')).toContain('Host');
  });

  it('[API-01] [GEN-08] HEAD has its headers', async () => {
    const head = await send(world.baseUrl, PATH, { method: 'HEAD' });
    expect([head.status, head.text, head.headers.get('etag')]).toEqual([200, '', answer.headers.get('etag')]);
  });
});
