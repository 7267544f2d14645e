import { rawConnection } from '@bubbles/testing/raw-http.ts';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { AUTHORIZATION, startWorld, type World } from './start.ts';

/** All of it comes at once, and the machine may be busy. */
const SLOW_MACHINE_MS = 20_000;

let world: World;
beforeEach(async () => {
  world = await startWorld({ limits: { connectionsPerAddress: 4, placeWaitMs: 300 } });
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

  it(
    '[ERR-05] what comes at once waits for its turn, and none of it is refused',
    async () => {
      const several = await startWorld({ limits: { connectionsPerAddress: 4, placeWaitMs: SLOW_MACHINE_MS } });
      const statuses = await Promise.all(Array.from({ length: 300 }, async () => (await several.fetch('/v1/bubbles/open')).status));
      expect(new Set(statuses)).toEqual(new Set([200]));
      await several.stop();
    },
    SLOW_MACHINE_MS,
  );

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
