import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rawConnection } from '@bubbles/testing/raw-http.ts';
import { afterEach, describe, expect, it } from '@jest/globals';
import { aFragment, allowed, BUBBLES_FRAGMENT, operation } from './fake-services.ts';
import { AUTHORIZATION, startWorld, type World, type WorldOptions } from './start.ts';

const worlds: World[] = [];
const started = async (options: WorldOptions = {}): Promise<World> => {
  const world = await startWorld(options);
  worlds.push(world);
  return world;
};
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.stop();
});
const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise(setImmediate);
};

const NOBODY = 'http://127.0.0.1:9';

describe('a cold gateway beside a dead service', () => {
  it('[API-01] [ERR-05] knows from its image what the service serves: the document is whole, its routes are 500 and not 404', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'fragments-'));
    await writeFile(join(folder, 'bubbles-query.json'), JSON.stringify(BUBBLES_FRAGMENT));
    const world = await started({ config: { bakedFragments: folder, upstreams: { 'bubbles-query': [NOBODY] } } });
    const { paths } = JSON.parse(await (await world.fetch('/v1/openapi.json')).text());
    expect(Object.keys(paths)).toContain('/v1/bubbles/search');
    const statuses = await Promise.all(['/v1/bubbles/open', '/v1/bubbles/open/x'].map(async (path) => (await world.fetch(path)).status));
    expect(statuses).toEqual([500, 404]);
    expect(world.gateway.fragments()).toContainEqual(
      expect.objectContaining({ service: 'bubbles-query', source: 'baked', accepted: true }),
    );
    await rm(folder, { recursive: true });
  });

  it('[ERR-05] without any knowledge of it the whole prefix is 500 with Retry-After', async () => {
    const world = await started({ config: { upstreams: { 'bubbles-query': [NOBODY] } } });
    const response = await world.fetch('/v1/bubbles/whatever');
    expect([response.status, response.headers.get('retry-after'), response.headers.get('x-gateway-reason')]).toEqual([
      500,
      '2',
      'upstream-down',
    ]);
    expect((await world.fetch('/v1/me', { method: 'PUT' })).status).toBe(404);
  });
});

describe('addresses by name', () => {
  it('[RATE-02] stand for every address of the name', async () => {
    const named = await started();
    const port = new URL(named.bubbles.url).port;
    const world = await started({ config: { upstreams: { 'bubbles-query': [`dns+http://localhost:${port}`] } } });
    expect((await world.fetch('/v1/bubbles/open')).status).toBe(200);
    expect(named.bubbles.seen.length).toBe(1);
  });

  it('[ERR-05] a name that nobody knows leaves the others served', async () => {
    const world = await started({ config: { upstreams: { 'bubbles-query': ['dns+http://nobody.invalid:1'] } } });
    expect((await world.fetch('/v1/bubbles')).status).toBe(500);
    expect((await world.fetch('/v1/me', { headers: { authorization: 'Bearer svc_pat_x' } })).status).toBe(200);
    expect(world.log.lines.some(({ message }) => message === 'addresses of a service could not be resolved')).toBe(true);
  });
});

describe('limits of the whole gateway', () => {
  it('[ERR-05] above the limit of requests in flight the next is refused at once', async () => {
    const world = await started({ limits: { maxInFlight: 2 } });
    const answer = Promise.withResolvers<void>();
    world.bubbles.handle = (_, res) => void answer.promise.then(() => res.end('{}'));
    const held = [world.fetch('/v1/bubbles/open'), world.fetch('/v1/bubbles/open')];
    await until(() => world.bubbles.seen.length === 2);
    const refused = await world.fetch('/v1/bubbles/open');
    expect([refused.status, refused.headers.get('x-gateway-reason')]).toEqual([500, 'overload']);
    answer.resolve();
    expect((await Promise.all(held)).map(({ status }) => status)).toEqual([200, 200]);
  });

  it('[ERR-05] stays ready while it sheds: its load would fall on replicas that have as much', async () => {
    const blockEventLoop =
      (handler: RequestListener): RequestListener =>
      (req, res) => {
        for (const until = performance.now() + 10; performance.now() < until; );
        handler(req, res);
      };
    const world = await started({ config: { shedding: true }, infra: { wrapHandler: blockEventLoop } });
    const reasons = new Set<string | null>();
    while (!reasons.has('overload')) {
      const answers = await Promise.all(Array.from({ length: 40 }, () => world.fetch('/v1/bubbles/open')));
      for (const { headers } of answers) reasons.add(headers.get('x-gateway-reason'));
    }
    expect((await fetch(`${world.gateway.opsUrl}/readyz`)).status).toBe(200);
  });

  it('[GEN-14] above it those are refused who have more than their share of it: another caller comes in', async () => {
    const world = await started({ limits: { maxInFlight: 4 } });
    expect((await world.fetch('/v1/bubbles/42', { headers: AUTHORIZATION })).status).toBe(200);
    const answer = Promise.withResolvers<void>();
    world.bubbles.handle = (_, res, { url }) =>
      void (url === '/v1/bubbles/open' ? answer.promise : Promise.resolve()).then(() => res.end('{}'));
    const held = Array.from({ length: 4 }, () => world.fetch('/v1/bubbles/open'));
    await until(() => world.gateway.inFlight() === 4);
    expect((await world.fetch('/v1/bubbles/open')).headers.get('x-gateway-reason')).toBe('overload');
    expect((await world.fetch('/v1/bubbles/42', { headers: AUTHORIZATION })).status).toBe(200);
    answer.resolve();
    expect((await Promise.all(held)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  });

  it('[GEN-14] as many networks as it allows keep no caller out whose credential was good', async () => {
    const trustedProxies = { has: (address: string) => address === '127.0.0.1' };
    const world = await started({ config: { trustedProxies }, limits: { maxInFlight: 4 } });
    expect((await world.fetch('/v1/bubbles/42', { headers: AUTHORIZATION })).status).toBe(200);
    const answer = Promise.withResolvers<void>();
    world.bubbles.handle = (_, res, { url }) =>
      void (url === '/v1/bubbles/open' ? answer.promise : Promise.resolve()).then(() => res.end('{}'));
    const from = (n: number) => world.fetch('/v1/bubbles/open', { headers: { 'x-forwarded-for': `192.0.2.${n}` } });
    const held = Array.from({ length: 4 }, (_, n) => from(n));
    await until(() => world.bubbles.seen.length === 1 + held.length);
    expect((await from(100)).headers.get('x-gateway-reason')).toBe('overload');
    expect((await world.fetch('/v1/bubbles/42', { headers: AUTHORIZATION })).status).toBe(200);
    answer.resolve();
    expect((await Promise.all(held)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  });

  it('[ERR-05] [GEN-14] while a service is overloaded those who flood it are refused at once, and another caller is served', async () => {
    const world = await started({ config: { shedding: true }, limits: { placesPerAddress: 2 } });
    expect((await world.fetch('/v1/bubbles/42', { headers: AUTHORIZATION })).status).toBe(200);
    world.bubbles.handle = (_, res) => void setTimeout(() => res.end('{}'), 10);
    const modest = Promise.withResolvers<Response>();
    let [answered, isRefused] = [0, false];
    const flood = async () => {
      while (!isRefused) {
        const { headers } = await world.fetch('/v1/bubbles/open');
        answered += 1;
        if (isRefused || headers.get('x-gateway-reason') !== 'overload') continue;
        isRefused = true;
        modest.resolve(world.fetch('/v1/bubbles/42', { headers: AUTHORIZATION }));
      }
    };
    await Promise.all(Array.from({ length: 40 }, flood));
    // Fewer than in the time after which a place is not waited for any more.
    expect(answered).toBeLessThan(150);
    expect((await modest.promise).status).toBe(200);
  });

  it('[ERR-05] a route may take longer than the others where its service says so', async () => {
    const world = await started({ limits: { answerTimeoutMs: 100 } });
    world.bubbles.fragment = aFragment({
      '/v1/bubbles/slow': { get: { ...operation('slow', { auth: 'none' }), 'x-gw-timeout': 5 } },
      '/v1/bubbles/quick': { get: operation('quick', { auth: 'none' }) },
    });
    await world.gateway.refresh();
    world.bubbles.handle = (_, res) => void setTimeout(() => res.end('{}'), 300);
    const statuses = await Promise.all(['/v1/bubbles/slow', '/v1/bubbles/quick'].map(async (path) => (await world.fetch(path)).status));
    expect(statuses).toEqual([200, 500]);
  });

  it('[ERR-05] a route that may take longer has as much time to end its answer as any other', async () => {
    const world = await started({ limits: { exchangeTimeoutMs: 1000 } });
    world.bubbles.fragment = aFragment({
      '/v1/bubbles/slow': { get: { ...operation('slow', { auth: 'none' }), 'x-gw-timeout': 60 } },
      '/v1/bubbles/usual': { get: operation('usual', { auth: 'none' }) },
    });
    await world.gateway.refresh();
    world.bubbles.handle = (_, res) => {
      res.flushHeaders();
      setTimeout(() => res.end('{}'), 1500);
    };
    expect(await (await world.fetch('/v1/bubbles/slow')).text()).toBe('{}');
    await expect(world.fetch('/v1/bubbles/usual').then((response) => response.text())).rejects.toThrow();
  });

  it('[ERR-05] a route may end sooner than the others where its service says so', async () => {
    const world = await started();
    world.bubbles.fragment = aFragment({ '/v1/bubbles/brief': { get: { ...operation('brief', { auth: 'none' }), 'x-gw-timeout': 0.05 } } });
    await world.gateway.refresh();
    world.bubbles.handle = () => undefined;
    const refused = await world.fetch('/v1/bubbles/brief');
    expect([refused.status, refused.headers.get('x-gateway-reason')]).toEqual([500, 'upstream-timeout']);
  });

  it('[API-01] a page is routed, stands in no document and keeps its own errors', async () => {
    const world = await started();
    world.bubbles.fragment = aFragment({
      '/v1/bubbles/page': { get: operation('page', { auth: 'none', errors: 'page' }) },
    });
    await world.gateway.refresh();
    world.bubbles.handle = (_, res) => void res.writeHead(500, { 'content-type': 'text/html' }).end('<p>Try again.</p>');
    const page = await world.fetch('/v1/bubbles/page');
    expect([page.status, await page.text()]).toEqual([500, '<p>Try again.</p>']);
    const { paths } = JSON.parse(await (await world.fetch('/v1/openapi.json')).text());
    expect(paths['/v1/bubbles/page']).toBeUndefined();
  });

  it('[AUTH-01] a client that leaves while identity is asked reaches no service', async () => {
    const world = await started();
    const connection = rawConnection(world.url);
    world.identity.decide = (check) => {
      connection.socket.resetAndDestroy();
      return allowed(check);
    };
    connection.write(`GET /v1/bubbles/42 HTTP/1.1\r\nHost: a\r\nAuthorization: ${AUTHORIZATION.authorization}\r\n\r\n`);
    await until(() => world.identity.checkCalls.length === 1);
    await world.gateway.idle();
    expect(world.gateway.inFlight()).toBe(0);
    world.identity.decide = allowed;
    expect((await world.fetch('/v1/bubbles/42', { headers: AUTHORIZATION })).status).toBe(200);
  });
});

describe('deprecation', () => {
  it('[API-04] is told on the answer and in the document', async () => {
    const world = await started();
    world.bubbles.fragment = aFragment({ '/v1/bubbles/old': { get: { ...operation('old', { auth: 'none' }), deprecated: true } } });
    await world.gateway.refresh();
    world.bubbles.handle = (_, res) =>
      void res.writeHead(200, { deprecation: '@1767225600', sunset: 'Thu, 01 Jan 2026 00:00:00 GMT' }).end('{}');
    const response = await world.fetch('/v1/bubbles/old');
    expect([response.headers.get('deprecation'), response.headers.get('sunset')]).toEqual(['@1767225600', 'Thu, 01 Jan 2026 00:00:00 GMT']);
    const { paths } = JSON.parse(await (await world.fetch('/v1/openapi.json')).text());
    expect(paths['/v1/bubbles/old'].get.deprecated).toBe(true);
  });
});
