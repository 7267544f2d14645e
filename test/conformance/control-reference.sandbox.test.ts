import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { schemaFaultsIn } from '../fuzz/json-schema.ts';
import { send } from './support/client.ts';
import { type Sandbox, startSandbox } from './support/sandbox-world.ts';

/** The calls that the sandbox promises. */
const CALLS = [
  'GET /_sandbox/openapi.json',
  'GET /_sandbox/world',
  'POST /_sandbox/reset',
  'POST /_sandbox/users',
  'PATCH /_sandbox/users/{id}',
  'POST /_sandbox/users/{id}/state',
  'POST /_sandbox/teams',
  'PATCH /_sandbox/teams/{id}',
  'PUT /_sandbox/teams/{id}/members/{user_id}',
  'DELETE /_sandbox/teams/{id}/members/{user_id}',
  'POST /_sandbox/oauth-tokens',
  'POST /_sandbox/bubbles',
  'POST /_sandbox/bubbles/{id}/stage',
  'PATCH /_sandbox/bubbles/{id}',
  'DELETE /_sandbox/bubbles/{id}',
  'POST /_sandbox/bubbles/{id}/comments',
  'GET /_sandbox/notetakers',
  'POST /_sandbox/notetakers/{join_id}',
  'GET /_sandbox/mailbox',
  'GET /_sandbox/clock',
  'POST /_sandbox/clock',
  'POST /_sandbox/settle',
  'POST /_sandbox/services/{name}',
];

let sandbox: Sandbox;
// The document is what is under test.
// biome-ignore lint/suspicious/noExplicitAny: as above
let document: any;
beforeAll(async () => {
  sandbox = await startSandbox();
  document = (await send(sandbox.url, '/_sandbox/openapi.json')).json;
});
afterAll(() => sandbox.stop());

describe('the reference of the control plane', () => {
  it('names every call with its fields and refusals', () => {
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(Object(methods)).map(([method, operation]) => ({
        name: `${method.toUpperCase()} ${path}`,
        operation: Object(operation),
      })),
    );
    expect(operations.map(({ name }) => name).toSorted()).toEqual(CALLS.toSorted());
    for (const { name, operation } of operations) {
      expect([name, operation.summary]).toEqual([name, expect.stringMatching(/^[A-Z].* /)]);
      expect([name, Object.keys(operation.responses)]).toEqual([name, ['200', '400', '403', '404', '500']]);
      expect([name, operation.requestBody !== undefined]).toEqual([name, /^(POST|PUT|PATCH)/.test(name)]);
    }
    expect(document.servers).toEqual([{ url: '/' }]);
    expect(JSON.stringify(document)).not.toMatch(/x-gw-|x-internal|securitySchemes/);
  });

  it('says the rules that requests are held to: closed objects, and examples that keep to them', () => {
    const bodies = Object.values(document.paths).flatMap((methods) =>
      Object.values(Object(methods)).flatMap((operation) => Object(operation).requestBody?.content['application/json'].schema ?? []),
    );
    expect(bodies).toHaveLength(16);
    for (const schema of bodies) {
      expect(schema).toMatchObject({ type: 'object', additionalProperties: false });
      for (const example of schema.examples ?? []) expect(schemaFaultsIn(document)(schema, example)).toEqual([]);
    }
    expect(bodies.filter(({ examples }) => examples === undefined)).toHaveLength(2);
  });

  it('says what is answered', async () => {
    const { schema } = document.paths['/_sandbox/world'].get.responses[200].content['application/json'];
    const { json } = await send(sandbox.url, '/_sandbox/world');
    expect(schemaFaultsIn(document)(schema, json)).toEqual([]);
  });

  it('is a page of our own, which links of others may lead to', async () => {
    for (const path of ['/_sandbox', '/_sandbox/', '/_sandbox/docs/']) {
      const answer = await send(sandbox.url, path, { headers: { 'sec-fetch-site': 'cross-site' } });
      expect([path, answer.status, answer.headers.get('location')]).toEqual([path, 302, '/_sandbox/docs']);
    }
    const page = await send(sandbox.url, '/_sandbox/docs', { headers: { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' } });
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.headers.get('content-security-policy')).toContain(
      "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    expect(page.headers.get('x-content-type-options')).toBe('nosniff');
    for (const [, source = ''] of page.text.matchAll(/(?:src|href)="([^"]+)"/g))
      expect([source, (await send(sandbox.url, source)).status]).toEqual([source, 200]);
    expect((await send(sandbox.url, '/_sandbox/docs/reference.js')).text).toContain("url: '/_sandbox/openapi.json'");
    expect((await send(sandbox.url, '/_sandbox/nothing')).status).toBe(404);
    expect((await send(sandbox.url, '/_sandboxes')).json.error.message).toBe('Not found.');
  });
});
