import { gunzipSync } from 'node:zlib';
import { peerList } from '@bubbles/kernel/config-values.ts';
import { rawExchange } from '@bubbles/testing/raw-http.ts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { aFragment, BUBBLES_FRAGMENT, operation } from './fake-services.ts';
import { startWorld, type World } from './start.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

interface Document {
  readonly openapi: string;
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

const documentAt = async (host: string, lines: readonly string[] = [], at: World = world): Promise<Document> => {
  const text = await rawExchange(
    at.url,
    `GET /v1/openapi.json HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`,
  );
  return JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4));
};
const serverAt = async (host: string, lines: readonly string[] = [], at: World = world) =>
  (await documentAt(host, lines, at)).servers[0]?.url;

describe('the document', () => {
  it('[API-01] [API-03] shows every public operation of every service, and nothing of the inside', async () => {
    const response = await world.fetch('/v1/openapi.json');
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
    const text = await response.text();
    const document: Document = JSON.parse(text);
    expect(document.openapi).toMatch(/^3\.1\./);
    expect(Object.keys(document.paths)).toEqual([
      '/oauth/authorize',
      '/oauth/token',
      '/v1/api-keys',
      '/v1/bubbles',
      '/v1/bubbles/act',
      '/v1/bubbles/open',
      '/v1/bubbles/search',
      '/v1/bubbles/{id}',
      '/v1/me',
      '/v1/openapi.json',
    ]);
    expect(text).not.toMatch(/x-gw-|x-internal|readable|\/docs/);
  });

  it('[API-01] needs no credential and may be kept for a minute', async () => {
    const response = await world.fetch('/v1/openapi.json', { headers: { authorization: 'Bearer nonsense' } });
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toBe('public, max-age=60');
    expect(response.headers.get('vary')).toMatch(/Host/);
    expect(response.headers.get('vary')).toMatch(/Accept-Encoding/);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(response.headers.get('x-request-id')).toMatch(/./);
  });

  it.each(['identity', 'gzip'])('[API-01] answers 304 to its own ETag, in a list and to any (%s)', async (encoding) => {
    const headers = { 'accept-encoding': encoding };
    const etag = (await world.fetch('/v1/openapi.json', { headers })).headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[\w-]+"$/);
    for (const sent of [etag, `"other", ${etag}`, '*', `W/${etag}`]) {
      const response = await world.fetch('/v1/openapi.json', { headers: { ...headers, 'if-none-match': sent } });
      expect([response.status, response.headers.get('etag'), await response.text()]).toEqual([304, etag, '']);
    }
    expect((await world.fetch('/v1/openapi.json', { headers: { ...headers, 'if-none-match': '"other"' } })).status).toBe(200);
  });

  it('[API-01] compressed it is the same document', async () => {
    const plain = await (await world.fetch('/v1/openapi.json', { headers: { 'accept-encoding': 'identity' } })).text();
    const text = await rawExchange(
      world.url,
      `GET /v1/openapi.json HTTP/1.1\r\nHost: ${new URL(world.url).host}\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n`,
    );
    const bytes = Buffer.from(text.slice(text.indexOf('\r\n\r\n') + 4), 'latin1');
    expect(text).toMatch(/Content-Encoding: gzip/i);
    expect(gunzipSync(bytes).toString()).toBe(plain);
    expect(bytes.length).toBeLessThan(plain.length / 2);
  });

  it('[API-01] HEAD has its headers and no body', async () => {
    const plain = await world.fetch('/v1/openapi.json', { headers: { 'accept-encoding': 'identity' } });
    const head = await world.fetch('/v1/openapi.json', { method: 'HEAD', headers: { 'accept-encoding': 'identity' } });
    expect([head.status, head.headers.get('etag'), head.headers.get('content-length'), await head.text()]).toEqual([
      200,
      plain.headers.get('etag'),
      String(Buffer.byteLength(await plain.text())),
      '',
    ]);
  });

  it('[API-02] names the host that the request was sent to, for each caller its own', async () => {
    expect(await serverAt('api.test:8443')).toBe('http://api.test:8443');
    expect(await serverAt('API.Test.:80')).toBe('http://api.test');
    expect(await serverAt('bubbles_gateway:8080')).toBe('http://bubbles_gateway:8080');
    expect(await serverAt('api.test:')).toBe('http://api.test');
    expect(await serverAt('[::1]:8080')).toBe('http://[::1]:8080');
    expect(await serverAt('xn--bcher-kva.example')).toBe('http://xn--bcher-kva.example');
    expect(await serverAt('one.test')).toBe('http://one.test');
  });

  it('[API-02] hears no forwarded header of a stranger', async () => {
    const forged = ['X-Forwarded-Host: evil.test', 'X-Forwarded-Proto: https', 'Forwarded: host=evil.test'];
    expect(await serverAt('api.test', forged)).toBe('http://api.test');
  });

  it('[API-02] hears a trusted proxy, the first value only', async () => {
    const proxied = await startWorld({ config: { trustedProxies: peerList().parse('127.0.0.1') } });
    const at = (lines: readonly string[]) => serverAt('inner:8080', lines, proxied);
    expect(await at(['X-Forwarded-Host: api.example:443, evil.test', 'X-Forwarded-Proto: https, http'])).toBe('https://api.example');
    expect(await at(['X-Forwarded-Proto: https'])).toBe('https://inner:8080');
    expect(await at(['X-Forwarded-Proto: javascript', 'X-Forwarded-Host: api.example'])).toBe('http://api.example');
    await proxied.stop();
  });

  it('[API-02] a configured base URL is the only one; hosts that are not ours are refused where they are listed', async () => {
    const fixed = await startWorld({ config: { publicBaseUrl: 'https://api.example' } });
    expect(await serverAt('evil.test', ['X-Forwarded-Host: evil.test'], fixed)).toBe('https://api.example');
    expect((await fixed.fetch('/v1/openapi.json')).headers.get('strict-transport-security')).toMatch(/^max-age=/);
    await fixed.stop();
    const listed = await startWorld({ config: { allowedHosts: ['api.example'] } });
    expect(await serverAt('api.example:8080', [], listed)).toBe('http://api.example:8080');
    expect(await documentAt('evil.test', [], listed)).toMatchObject({ error: { type: 'invalid_request' } });
    await listed.stop();
  });

  it('[API-01] a fragment that claims what is not its own is refused whole, and the last good one stays', async () => {
    world.bubbles.fragment = aFragment({
      '/oauth/token': { post: operation('stolen', { auth: 'none' }) },
      '/v1/bubbles/new': { get: operation('newBubbles') },
    });
    await world.gateway.refresh();
    expect((await documentAt('a')).paths).toHaveProperty('/v1/bubbles/search');
    expect((await documentAt('a')).paths).not.toHaveProperty('/v1/bubbles/new');
    expect((await world.fetch('/v1/bubbles/open')).status).toBe(200);
    const told = world.log.lines.filter(({ message }) => message === 'fragment refused');
    expect(told).toEqual([
      expect.objectContaining({ fields: expect.objectContaining({ fragmentOf: 'bubbles-query', code: 'foreign_prefix' }) }),
    ]);
    expect(await (await fetch(`${world.gateway.opsUrl}/metrics`)).text()).toContain(
      'gateway_fragment_rejected_total{upstream="bubbles-query",code="foreign_prefix"} 1',
    );
    world.bubbles.fragment = BUBBLES_FRAGMENT;
    await world.gateway.refresh();
  });

  it('[API-01] a conflict of components keeps the last good document, and the new route is served', async () => {
    const before = world.identity.fragment;
    const responses = {
      200: { description: 'Done.', content: { 'application/json': { schema: { $ref: '#/components/schemas/Clash' } } } },
    };
    const clashing = (path: string, type: string) =>
      aFragment({ [path]: { get: { ...operation(`clash ${type}`, { auth: 'none' }), responses } } }, { schemas: { Clash: { type } } });
    world.bubbles.fragment = clashing('/v1/bubbles/clash', 'string');
    world.identity.fragment = clashing('/v1/me/clash', 'number');
    await world.gateway.refresh();
    expect((await world.fetch('/v1/bubbles/clash')).status).toBe(200);
    expect((await documentAt('a')).paths).not.toHaveProperty('/v1/bubbles/clash');
    expect((await documentAt('a')).paths).toHaveProperty('/v1/bubbles/search');
    expect(
      world.log.lines.some(
        ({ message, fields }) => message === 'fragments conflict, last good document kept' && fields['code'] === 'component',
      ),
    ).toBe(true);
    world.bubbles.fragment = BUBBLES_FRAGMENT;
    world.identity.fragment = before;
    await world.gateway.refresh();
  });

  it('[API-01] shows the error envelope of the gateway beside services of another release', async () => {
    const responses = {
      400: { description: 'Refused.', content: { 'application/json': { schema: { $ref: '#/components/schemas/ErrorEnvelope' } } } },
    };
    const fragment = { '/v1/bubbles/open': { get: { ...operation('older', { auth: 'none' }), responses } } };
    // The document stays that of the release that was seen last.
    const other = await startWorld();
    other.bubbles.fragment = aFragment(fragment, { schemas: { ErrorEnvelope: { type: 'string' } } });
    await other.gateway.refresh();
    const document = await documentAt('a', [], other);
    expect(document.paths['/v1/bubbles/open']).toMatchObject({ get: { operationId: 'older' } });
    expect(document).toMatchObject({ components: { schemas: { ErrorEnvelope: { type: 'object' } } } });
    await other.stop();
  });

  it('[API-01] stays whole while a service is down, and so does routing', async () => {
    const dying = await startWorld();
    await dying.bubbles.stop();
    await dying.gateway.refresh();
    expect((await documentAt('a', [], dying)).paths).toHaveProperty('/v1/bubbles/search');
    expect((await dying.fetch('/v1/bubbles/open')).status).toBe(500);
    expect((await dying.fetch('/v1/bubbles/open/unknown')).status).toBe(404);
    expect(await (await fetch(`${dying.gateway.opsUrl}/internal/fragments`)).json()).toContainEqual(
      expect.objectContaining({ service: 'bubbles-query', source: 'live', accepted: true, lastError: 'ECONNREFUSED' }),
    );
    await dying.gateway.stop();
    await dying.identity.stop();
  });
});
