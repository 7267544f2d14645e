import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../messages/json.ts';
import { readFragment } from './fragment.ts';
import { mergeFragments } from './merge.ts';

const head = {
  info: { title: 'API', version: '1' },
  tags: [{ name: 'Z' }, { name: 'A' }, { name: 'Unused' }],
  securitySchemes: { pat: { type: 'http', scheme: 'bearer' }, oauth: { type: 'http', scheme: 'bearer' } },
};
const prefixes = { a: ['/a'], b: ['/b'] };

const anOperation = (operationId: string, more: JsonObject = {}) => ({
  operationId,
  'x-gw-auth': 'none',
  'x-gw-timeout': 5,
  responses: {},
  ...more,
});
const using = (schema: unknown) => ({ responses: { 200: { description: '', content: { 'application/json': { schema } } } } });
const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const aDocument = (paths: JsonObject, more: JsonObject = {}): JsonObject => ({ openapi: '3.1.0', info: { title: 'x' }, paths, ...more });

const merge = (documents: Readonly<Record<string, JsonObject>>) =>
  mergeFragments({
    head,
    prefixes,
    fragments: Object.entries(documents).map(([service, document]) => {
      const fragment = readFragment(service, document);
      if ('code' in fragment) throw new Error(`${fragment.code} ${fragment.detail}`);
      return fragment;
    }),
  });
const codes = (documents: Readonly<Record<string, JsonObject>>) =>
  merge(documents).conflicts.map(({ service, code }) => `${service} ${code}`);
const A = aDocument(
  { '/a/{id}': { get: anOperation('getA', using(reference('Thing'))) }, '/a': { post: anOperation('postA', { tags: ['A'] }) } },
  { components: { schemas: { Thing: { type: 'object', title: 'T' } } } },
);
const B = aDocument(
  { '/b': { get: anOperation('getB', { ...using(reference('Thing')), tags: ['Z', 'A'] }) } },
  { components: { schemas: { Thing: { title: 'T', type: 'object' } } } },
);

describe('merging', () => {
  it('[API-01] gives the same bytes whatever the order, sorted, with the gateway saying what is said once', () => {
    const one = merge({ a: A, b: B });
    expect(JSON.stringify(one)).toBe(JSON.stringify(merge({ b: B, a: A })));
    expect(one.conflicts).toEqual([]);
    expect(Object.keys(Object(one.document?.['paths']))).toEqual(['/a', '/a/{id}', '/b']);
    expect(one.document).toMatchObject({
      openapi: '3.1.0',
      info: head.info,
      tags: [{ name: 'Z' }, { name: 'A' }],
      components: { securitySchemes: head.securitySchemes },
    });
    expect(Object.keys(Object(one.document?.['components']).securitySchemes)).toEqual(['pat', 'oauth']);
  });

  it('[API-01] shares an equal component, key order aside, and shows none that only the inside uses', () => {
    const withInternal = {
      ...B,
      paths: { ...Object(B['paths']), '/internal/x': { post: { 'x-internal': true, ...using(reference('Secret')) } } },
      components: { schemas: { ...Object(B['components']).schemas, Secret: { type: 'string' } } },
    };
    const { document } = merge({ a: A, b: withInternal });
    expect(Object.keys(Object(document?.['components']).schemas)).toEqual(['Thing']);
    expect(JSON.stringify(document)).not.toMatch(/Secret|internal/);
  });

  it('[API-01] strips what only the gateway reads, at every depth, and the servers of the inside', () => {
    const marked = aDocument(
      {
        '/a': {
          servers: [{ url: 'http://inner' }],
          get: anOperation('getA', { servers: [{ url: 'http://inner' }], 'x-extension': true, requestBody: { 'x-gw-deep': 1 } }),
        },
      },
      { servers: [{ url: 'http://inner' }] },
    );
    const text = JSON.stringify(merge({ a: marked }).document);
    expect(text).not.toMatch(/x-gw|inner|servers/);
    expect(text).toContain('x-extension');
  });

  it('[API-01] shows no operation that is marked so, with what only it uses, and routes to it', () => {
    const hidden = anOperation('getHidden', { 'x-gw-undocumented': true, ...using(reference('Secret')) });
    const document = aDocument(
      { '/a': { get: anOperation('getA') }, '/a/hidden': { get: hidden } },
      { components: { schemas: { Secret: { type: 'string' } } } },
    );
    expect(JSON.stringify(merge({ a: document }).document)).not.toMatch(/idden|Secret/);
    expect(readFragment('a', document)).toMatchObject({ operations: [{ operationId: 'getA' }, { operationId: 'getHidden' }] });
  });

  it('[API-01] pushes path parameters and root security down, the operation having the last word', () => {
    const levels = aDocument(
      {
        '/a/{id}': {
          parameters: [
            { name: 'id', in: 'path', required: true },
            { name: 'q', in: 'query', description: 'path' },
          ],
          get: anOperation('one', { parameters: [{ name: 'q', in: 'query', description: 'own' }] }),
          post: anOperation('two', { security: [] }),
        },
      },
      { security: [{ pat: [] }, { pat: [], oauth: ['x'] }] },
    );
    const item = Object(merge({ a: levels }).document?.['paths'])['/a/{id}'];
    expect(Object.keys(item)).toEqual(['get', 'post']);
    expect(item.get.security).toEqual([{ pat: [] }, { pat: [], oauth: ['x'] }]);
    expect(item.post.security).toEqual([]);
    expect(item.get.parameters.map(({ name, description }: JsonObject) => [name, description])).toEqual([
      ['id', undefined],
      ['q', 'own'],
    ]);
    expect(Object(merge({ a: A }).document?.['paths'])['/a'].post.security).toEqual([]);
  });

  it('[API-01] keeps webhooks and what they use', () => {
    const { document } = merge({
      a: {
        ...A,
        webhooks: { ready: { post: using(reference('Event')) } },
        components: {
          schemas: { ...Object(A['components']).schemas, Event: { $ref: '#/components/schemas/Deep' }, Deep: { type: 'string' } },
        },
      },
    });
    expect(document?.['webhooks']).toHaveProperty('ready');
    expect(Object.keys(Object(document?.['components']).schemas)).toEqual(['Deep', 'Event', 'Thing']);
  });

  it('[API-01] names both when two define one component otherwise', () => {
    const other = { ...B, components: { schemas: { Thing: { type: 'string' } } } };
    expect(merge({ a: A, b: other }).conflicts).toEqual([
      { service: 'b', code: 'component', detail: 'schemas/Thing is defined otherwise by a' },
    ]);
  });

  it('[API-01] shows what a webhook carries as the service defines it that answers with it, whatever the other release says', () => {
    const webhooks = { ready: { post: { requestBody: { content: { 'application/json': { schema: reference('Thing') } } } } } };
    const older = aDocument({}, { webhooks, components: { schemas: { Thing: { type: 'object', title: 'older' } } } });
    for (const fragments of [
      { a: older, b: B },
      { a: A, b: older },
    ]) {
      const { document, conflicts } = merge(fragments);
      expect(conflicts).toEqual([]);
      expect(Object(document?.['components']).schemas).toEqual({ Thing: { type: 'object', title: 'T' } });
    }
  });

  it('[API-01] shows what all define as the gateway defines it, whatever the releases of the services say', () => {
    const gateway = aDocument(
      {},
      { components: { schemas: { Thing: reference('Deep'), Deep: { type: 'string' }, Unused: { type: 'string' } } } },
    );
    const older = { ...B, components: { schemas: { Thing: { type: 'number' } } } };
    const { document, conflicts } = merge({ a: A, b: older, gateway });
    expect(conflicts).toEqual([]);
    expect(Object(document?.['components']).schemas).toEqual({ Thing: reference('Deep'), Deep: { type: 'string' } });
  });

  it.each<readonly [string, JsonObject]>([
    [
      'b component',
      aDocument(
        { '/b': { get: anOperation('getB', { ...using(reference('Thing')), tags: ['Z', 'A'] }) } },
        { components: { schemas: { Thing: { type: 'string' } } } },
      ),
    ],
    ['b operation_id', aDocument({ '/b': { get: anOperation('getA') } })],
    ['b foreign_prefix', aDocument({ '/a/x': { get: anOperation('x') } })],
    ['b dangling_reference', aDocument({ '/b': { get: anOperation('x', using(reference('Nobody'))) } })],
    [
      'b dangling_reference',
      aDocument({
        '/b': { get: anOperation('x', using({ if: { prefixItems: [{ $defs: { y: { $ref: '#/components/schemas/No' } } }] } })) },
      }),
    ],
    [
      'b dangling_reference',
      aDocument({
        '/b': { get: anOperation('x', using({ oneOf: [], discriminator: { propertyName: 'k', mapping: { one: 'Nobody' } } })) },
      }),
    ],
    ['b external_reference', aDocument({ '/b': { get: anOperation('x', using({ $ref: 'https://evil.test/schema.json' })) } })],
    ['b schema_identity', aDocument({ '/b': { get: anOperation('x', using({ $id: 'https://x.test/y' })) } })],
    [
      'b dangling_link',
      aDocument({
        '/b': { get: anOperation('x', { responses: { 200: { description: '', links: { next: { operationId: 'nobody' } } } } }) },
      }),
    ],
    ['b unknown_scheme', aDocument({ '/b': { get: anOperation('x', { security: [{ pat: [], cookie: [] }] }) } })],
    [
      'b security_scheme',
      aDocument({ '/b': { get: anOperation('x') } }, { components: { securitySchemes: { pat: { type: 'http', scheme: 'basic' } } } }),
    ],
  ])('[API-01] names the conflict and makes no document: %s', (code, document) => {
    expect(codes({ a: A, b: document })).toEqual([code]);
    expect(merge({ a: A, b: document }).document).toBeNull();
  });

  it('[API-01] discriminators, links and nested pointers that lead somewhere are no conflict', () => {
    const schemas = {
      Thing: { type: 'object', properties: { inner: { type: 'string' } } },
      Other: { $ref: '#/components/schemas/Thing/properties/inner' },
    };
    const fine = anOperation('x', {
      responses: {
        200: {
          description: '',
          links: { self: { operationId: 'x' } },
          content: {
            'application/json': {
              schema: { discriminator: { propertyName: 'k', mapping: { one: 'Thing', two: '#/components/schemas/Other' } } },
            },
          },
        },
      },
    });
    expect(codes({ b: aDocument({ '/b': { get: fine } }, { components: { schemas } }) })).toEqual([]);
  });

  it('[API-01] templates that match the same paths under two names are refused', () => {
    const twins = aDocument({ '/b/{id}': { get: anOperation('one') }, '/b/{key}': { post: anOperation('two') } });
    expect(codes({ b: twins })).toEqual(['b ambiguous_path']);
  });
});

describe('reading a fragment', () => {
  it.each([
    ['invalid_document', null],
    ['invalid_document', { openapi: '3.1.0' }],
    ['openapi_version', { openapi: '3.0.3', paths: {} }],
    ['no_operation_id', { openapi: '3.1.0', paths: { '/a': { get: { 'x-gw-auth': 'none' } } } }],
    ['unknown_auth', { openapi: '3.1.0', paths: { '/a': { get: { operationId: 'a' } } } }],
    [
      'unknown_error_format',
      { openapi: '3.1.0', paths: { '/a': { get: { operationId: 'a', 'x-gw-auth': 'none', 'x-gw-error-format': 'xml' } } } },
    ],
    ['bad_operation', { openapi: '3.1.0', paths: { '/a': { trace: { operationId: 'a', 'x-gw-auth': 'none' } } } }],
  ])('[API-01] refuses it whole: %s', (code, document) => {
    expect(readFragment('a', document)).toMatchObject({ code });
  });
});
