import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { BUBBLES_FRAGMENT, type FakeService, startFakeService } from './fake-services.ts';
import { startWorld, type World } from './start.ts';

/** A replica is left for another one after a second in which it answered nobody. */
describe('replicas that take long for some answers, at a quiet time', () => {
  const held: (() => void)[] = [];
  let replicas: readonly FakeService[];
  let world: World;
  beforeEach(async () => {
    replicas = [await startFakeService(BUBBLES_FRAGMENT), await startFakeService(BUBBLES_FRAGMENT)];
    for (const replica of replicas)
      replica.handle = (_, res, { url }) => {
        if (url.endsWith('?slow')) held.push(() => res.end('{}'));
        else res.end('{}');
      };
    world = await startWorld({ config: { upstreams: { 'bubbles-query': replicas.map(({ url }) => url) } } });
  });
  afterEach(async () => {
    await world.stop();
    await Promise.all(replicas.map((replica) => replica.stop()));
  });
  const statusOf = async (path: string) => (await world.fetch(path)).status;
  const heldOf = async (count: number) => {
    while (held.length < count) await new Promise(setImmediate);
  };

  it('[ERR-05] keep serving others, and answer what was slow', async () => {
    const slow = Array.from({ length: 4 }, () => statusOf('/v1/bubbles/open?slow'));
    await heldOf(2 * slow.length);
    slow.push(statusOf('/v1/bubbles/open?slow'), statusOf('/v1/bubbles/open?slow'));
    await heldOf(10);
    expect(await statusOf('/v1/bubbles/open?quick')).toBe(200);
    for (const answer of held.splice(0)) answer();
    expect(await Promise.all(slow)).toEqual(slow.map(() => 200));
  });
});
