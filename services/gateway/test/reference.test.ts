import { rawConnection } from '@bubbles/testing/raw-http.ts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startWorld, type World } from './start.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

describe('the API reference', () => {
  it('[API-01] is a page from our own origin that loads nothing from elsewhere', async () => {
    const page = await world.fetch('/docs');
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    const html = await page.text();
    const sources = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, source]) => source ?? '');
    expect(sources.length).toBeGreaterThan(2);
    for (const source of sources) {
      expect(source).toMatch(/^\/docs\//);
      const asset = await world.fetch(source);
      expect(asset.status).toBe(200);
      expect((await asset.arrayBuffer()).byteLength).toBeGreaterThan(50);
    }
  });

  it('[API-01] has a policy that lets nothing else in', async () => {
    const page = await world.fetch('/docs');
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self';");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe-eval|\*/);
    expect(page.headers.get('x-content-type-options')).toBe('nosniff');
  });

  it('[API-01] names the operations that are extensions of the interface', async () => {
    expect(await (await world.fetch('/docs/reference.js')).text()).toContain('showExtensions: true');
  });

  it('[API-01] assets are compressed, cached and asked for again by ETag', async () => {
    const asset = await world.fetch('/docs/swagger-ui-bundle.js', { headers: { 'accept-encoding': 'gzip' } });
    expect(asset.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(asset.headers.get('content-encoding')).toBe('gzip');
    const again = await world.fetch('/docs/swagger-ui-bundle.js', {
      headers: { 'accept-encoding': 'gzip', 'if-none-match': asset.headers.get('etag') ?? '' },
    });
    expect(again.status).toBe(304);
    await asset.arrayBuffer();
  });

  it.each(['/', '/docs/'])('[API-01] %s leads to it, and says so', async (path) => {
    const answer = await world.fetch(path, { redirect: 'manual' });
    expect([answer.status, answer.headers.get('location'), answer.headers.get('x-content-type-options')]).toEqual([
      302,
      '/docs',
      'nosniff',
    ]);
    expect(await answer.text()).toBe('API reference: /docs\nOpenAPI document: /v1/openapi.json\n');
    expect((await world.fetch(path, { method: 'HEAD', redirect: 'manual' })).status).toBe(302);
    expect((await world.fetch(path, { method: 'POST' })).status).toBe(404);
  });

  it('[API-01] a reader that resets while it loads is no fault', async () => {
    for (let round = 0; round < 20; round += 1) {
      const reader = rawConnection(world.url);
      reader.write('GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: a\r\n\r\n');
      if (round % 2 === 0) await reader.receivedMatching(/^HTTP/);
      reader.socket.resetAndDestroy();
      await reader.received;
    }
    await world.gateway.idle();
    expect(world.log.lines.filter(({ level }) => level === 'error' || level === 'warn')).toEqual([]);
  });

  it.each(['/docs/nothing', '/docs/../package.json', '/docs/index.html', '/docs/swagger-ui.css.map'])(
    '[GEN-08] %s is not among its files',
    async (path) => {
      expect((await world.fetch(path)).status).toBe(404);
    },
  );
});

describe('the ops port', () => {
  it.each([
    ['/startupz', 200],
    ['/livez', 200],
    ['/readyz', 200],
    ['/internal/fragments', 200],
    ['/v1/openapi.json', 404],
  ])('[ERR-05] %s answers %d', async (path, status) => {
    expect((await fetch(`${world.gateway.opsUrl}${path}`)).status).toBe(status);
  });

  it('[GEN-10] counts requests by template, never by path', async () => {
    await world.fetch('/v1/bubbles/secret-id?token=secret');
    await world.fetch('/v1/nothing/secret-path');
    await world.gateway.idle();
    const text = await (await fetch(`${world.gateway.opsUrl}/metrics`)).text();
    expect(text).toContain('http_request_duration_seconds_count{service="gateway",method="GET",route="/v1/bubbles/{id}",status="401"} 1');
    expect(text).toContain('route="unmatched",status="404"');
    expect(text).toContain('gateway_breaker_state{upstream="bubbles-query"');
    expect(text + JSON.stringify(world.log.lines)).not.toContain('secret');
  });
});
