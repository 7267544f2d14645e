import { rawConnection } from '@bubbles/testing/raw-http.ts';
import { afterEach, describe, expect, it } from '@jest/globals';
import { aFragment, allowed, operation } from './fake-services.ts';
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
const headOf = (path: string, length: number, more = '') => `POST ${path} HTTP/1.1\r\nHost: a\r\n${more}Content-Length: ${length}\r\n\r\n`;
const CREDENTIAL = `Authorization: ${AUTHORIZATION.authorization}\r\n`;

describe('bodies that come slowly', () => {
  it('[GEN-14] whatever many senders announce, others are served', async () => {
    const world = await started();
    const senders = Array.from({ length: 256 }, () => rawConnection(world.url));
    for (const sender of senders) sender.write(`${headOf('/v1/bubbles/open', 64 * 1024)}little`);
    await until(() => world.gateway.inFlight() === 256);
    const response = await world.fetch('/v1/bubbles/open', { method: 'POST', body: 'x'.repeat(60_000) });
    expect(response.status).toBe(200);
    for (const { socket } of senders) socket.resetAndDestroy();
  });

  it('[GEN-14] above the share of one sender its longest unfinished one goes, and the next is served', async () => {
    const world = await started({ limits: { bodyMemory: { totalBytes: 1_000_000, shareBytes: 1000 } } });
    const slow = rawConnection(world.url);
    slow.write(`${headOf('/v1/bubbles/open', 900)}${'x'.repeat(800)}`);
    await until(() => world.gateway.inFlight() === 1);
    const next = rawConnection(world.url);
    next.write(`${headOf('/v1/bubbles/open', 500, 'Connection: close\r\n')}${'y'.repeat(400)}`);
    expect(await slow.received).toMatch(/^HTTP\/1\.1 500 [\s\S]*X-Gateway-Reason: overload[\s\S]*internal_error/);
    next.write('y'.repeat(100));
    expect(await next.received).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('[GEN-14] [GEN-08] have so long and no longer', async () => {
    const world = await started({ limits: { bodyTimeoutMs: 300 } });
    const dripping = rawConnection(world.url);
    dripping.write(`${headOf('/v1/bubbles/open', 100)}x`);
    const drips = setInterval(() => dripping.write('x'), 50);
    expect(await dripping.received).toMatch(/^HTTP\/1\.1 400 [\s\S]*Connection: close[\s\S]*"body: not received in time"/);
    clearInterval(drips);
    expect(world.bubbles.seen).toEqual([]);
  });

  it('[AUTH-01] are not waited for when the credential is not good', async () => {
    const world = await started();
    world.identity.decide = ({ h }) => ({ h, outcome: 'refused', type: 'unauthorized' });
    const sender = rawConnection(world.url);
    sender.write(headOf('/v1/bubbles/42', 100, CREDENTIAL));
    expect(await sender.receivedMatching(/\}\}$/)).toMatch(/^HTTP\/1\.1 401 /);
  });
});

describe('a body that comes after its head', () => {
  const answered = async (world: World, meanwhile: () => void): Promise<string> => {
    const sender = rawConnection(world.url);
    sender.write(`${headOf('/v1/bubbles/42', 10, `${CREDENTIAL}Connection: close\r\n`)}hello`);
    await until(() => world.identity.checkCalls.length === 1);
    meanwhile();
    sender.write('world');
    return sender.received;
  };

  it('[AUTH-04] [AUTH-05] is refused when its credential ended meanwhile', async () => {
    const world = await started();
    for (const type of ['token_revoked', 'account_deleted'] as const) {
      world.identity.checkCalls.length = 0;
      world.identity.decide = allowed;
      const text = await answered(world, () => {
        world.identity.decide = ({ h }) => ({ h, outcome: 'refused', type });
      });
      expect(text).toMatch(new RegExp(`^HTTP/1\\.1 401 [\\s\\S]*"${type}"`));
    }
    expect(world.bubbles.seen).toEqual([]);
  });

  it('[RATE-04] asks for the credential again without counting the request again', async () => {
    const world = await started();
    expect(await answered(world, () => undefined)).toMatch(/^HTTP\/1\.1 200 /);
    expect(world.identity.checkCalls.flat().map(({ uncounted }) => uncounted ?? false)).toEqual([false, true]);
  });

  it('[RATE-04] costs no second question when it was there with the head', async () => {
    const world = await started();
    const response = await world.fetch('/v1/bubbles/42', { method: 'POST', headers: AUTHORIZATION, body: 'x'.repeat(10_000) });
    expect(response.status).toBe(200);
    expect(world.identity.checkCalls.length).toBe(1);
  });
});

describe('how large a body may be', () => {
  const OTHER = '/.well-known/hooks';
  const describedWith = async (limit: number): Promise<World> => {
    const world = await started();
    const described = (id: string) => ({ post: { ...operation(id, { auth: 'none' }), 'x-gw-body-limit': limit } });
    world.identity.fragment = aFragment({ [OTHER]: described('hook'), '/v1/me': described('me') });
    await world.gateway.refresh();
    return world;
  };

  it('[GEN-07] is told by the operation outside /v1, and is 64 KiB there', async () => {
    const world = await describedWith(100_000);
    const post = async (path: string, size: number) => (await world.fetch(path, { method: 'POST', body: 'x'.repeat(size) })).status;
    expect([await post(OTHER, 100_000), await post(OTHER, 100_001), await post('/v1/me', 65_536), await post('/v1/me', 65_537)]).toEqual([
      200, 400, 200, 400,
    ]);
  });
});
