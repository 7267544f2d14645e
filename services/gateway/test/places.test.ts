import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { type RawConnection, rawConnection } from '@bubbles/testing/raw-http.ts';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { aFragment, type FakeService, operation, startFakeService } from './fake-services.ts';
import { AUTHORIZATION, startWorld, type World } from './start.ts';

/** All of it comes at once, and the machine may be busy. */
const SLOW_MACHINE_MS = 120_000;

let world: World;
beforeEach(async () => {
  world = await startWorld({ limits: { placesPerAddress: 4, placeWaitMs: 300 } });
});
afterEach(() => world.stop());
const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise(setImmediate);
};

describe('the places of a service', () => {
  it('[GEN-14] a caller whose requests hang holds half of the places: the next of it waits, and others are served', async () => {
    const answer = Promise.withResolvers<void>();
    world.bubbles.handle = (_, res, { url }) =>
      void (url === '/v1/bubbles/open' ? answer.promise : Promise.resolve()).then(() => res.end('{}'));
    const held = Array.from({ length: 2 }, () => world.fetch('/v1/bubbles/open'));
    await until(() => world.bubbles.seen.length === 2);
    const waiting = world.fetch('/v1/bubbles/open');
    await until(() => world.gateway.inFlight() === 3);
    expect((await world.fetch('/v1/bubbles/42', { headers: AUTHORIZATION })).status).toBe(200);
    const refused = await waiting;
    expect([refused.status, refused.headers.get('retry-after'), refused.headers.get('x-gateway-reason')]).toEqual([500, '2', 'overload']);
    answer.resolve();
    expect((await Promise.all(held)).map(({ status }) => status)).toEqual([200, 200]);
  });

  it('[ERR-05] what comes at once waits for its turn, and none of it is refused', async () => {
    const several = await startWorld({ limits: { placesPerAddress: 4, placeWaitMs: SLOW_MACHINE_MS } });
    const statuses = await Promise.all(Array.from({ length: 300 }, async () => (await several.fetch('/v1/bubbles/open')).status));
    expect(new Set(statuses)).toEqual(new Set([200]));
    await several.stop();
  });

  it('[ERR-05] requests that were left while they waited for a connection are never sent', async () => {
    const answer = Promise.withResolvers<void>();
    world.bubbles.handle = (_, res) => void answer.promise.then(() => res.end('{}'));
    const held = [world.fetch('/v1/bubbles/open'), world.fetch('/v1/bubbles/open')];
    await until(() => world.bubbles.seen.length === 2);
    const waiting = rawConnection(world.url);
    waiting.write('GET /v1/bubbles/open HTTP/1.1\r\nHost: a\r\n\r\n');
    await until(() => world.gateway.inFlight() === 3);
    waiting.socket.resetAndDestroy();
    await until(() => world.gateway.inFlight() === 2);
    answer.resolve();
    await Promise.all(held);
    expect((await world.fetch('/v1/bubbles/open')).status).toBe(200);
    expect(world.bubbles.seen.length).toBe(3);
  });
});

/** More than lies in the buffers between a service and a client that does not read. */
const FILE = Buffer.alloc(32 * 1024 * 1024, 'z');
const PLACES = 4;
const PROXIES = { has: (address: string) => address === '127.0.0.1' };

describe('the places of answers that may take long', () => {
  const clock = fakeClock();
  let meetings: FakeService;
  const started = async (): Promise<World> => {
    await world.stop();
    meetings = await startFakeService(
      aFragment({
        '/v1/meetings/join': { get: operation('listJoins') },
        '/hooks/notetakers/{provider}': { post: operation('hook', { auth: 'none' }) },
        '/media/{key}': { get: { ...operation('download', { auth: 'none' }), 'x-gw-timeout': 301 } },
      }),
    );
    meetings.handle = (_, res, { url }) => void res.end(url.startsWith('/media/') ? FILE : '{}');
    return startWorld({
      config: { upstreams: { 'meetings-bot-gateway': [meetings.url] }, trustedProxies: PROXIES, shedding: true },
      limits: { placesPerAddress: PLACES, placeWaitMs: 300, readerStallMs: 60_000 },
      infra: { clock },
    });
  };
  beforeEach(async () => {
    world = await started();
  });
  afterEach(() => meetings.stop());

  const download = (from: string): Promise<Response> => world.fetch('/media/a', { headers: { 'x-forwarded-for': from } });
  /** A viewer who reads the head of the answer and no more. */
  const slowViewer = async (from: string): Promise<RawConnection> => {
    const viewer = rawConnection(world.url);
    viewer.socket.once('data', () => viewer.socket.pause());
    viewer.write(`GET /media/a HTTP/1.1\r\nHost: api.test\r\nX-Forwarded-For: ${from}\r\n\r\n`);
    await viewer.receivedMatching(/^HTTP\/1\.1 200 /);
    return viewer;
  };

  it('[GEN-14] [ERR-05] slow downloads take none of the others, and one more is refused until a viewer leaves', async () => {
    const viewers = await Promise.all(Array.from({ length: PLACES }, (_, n) => slowViewer(`192.0.2.${n}`)));
    const refused = await download('192.0.2.100');
    expect([refused.status, refused.headers.get('retry-after'), refused.headers.get('x-gateway-reason')]).toEqual([500, '2', 'overload']);
    expect(await refused.json()).toMatchObject({ error: { type: 'internal_error' } });
    const hook = { method: 'POST', headers: { 'x-forwarded-for': '192.0.2.200' }, body: '{}' };
    for (let n = 0; n < 20; n += 1) {
      expect((await world.fetch('/v1/meetings/join', { headers: AUTHORIZATION })).status).toBe(200);
      // In all this is longer than a service with too much in flight takes to count as overloaded.
      await clock.advance(40);
      expect((await world.fetch('/hooks/notetakers/recall', hook)).status).toBe(200);
      await clock.advance(40);
    }
    viewers[0]?.socket.destroy();
    await until(() => world.gateway.inFlight() === PLACES - 1);
    expect((await (await download('192.0.2.100')).bytes()).length).toBe(FILE.length);
    for (const { socket } of viewers) socket.destroy();
  });

  it('[GEN-14] one customer holds half of them, from as many networks as may be', async () => {
    const networkOfCustomer = (n: number) => `2001:db8:1:${n}::1`;
    const viewers = await Promise.all(Array.from({ length: PLACES / 2 }, (_, n) => slowViewer(networkOfCustomer(n))));
    expect((await download(networkOfCustomer(PLACES))).headers.get('x-gateway-reason')).toBe('overload');
    expect((await (await download('2001:db8:2::1')).bytes()).length).toBe(FILE.length);
    for (const { socket } of viewers) socket.destroy();
  });
});
