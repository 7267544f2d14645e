import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AUTHORIZATION, startWorld, TOKEN, type World } from './start.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

describe('relaying', () => {
  it('[AUTH-01] asks identity by hash and gives the service an assertion instead of the token', async () => {
    const response = await world.fetch('/v1/bubbles/42?x=%2F', { headers: AUTHORIZATION });
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ url: '/v1/bubbles/42?x=%2F', method: 'GET', body: '' });
    const seen = world.bubbles.seen.at(-1);
    expect(seen?.headers['authorization']).toBeUndefined();
    expect(seen?.headers['x-internal-assertion']).toMatch(/^assertion-of\..*for-bubbles-query$/);
    expect(JSON.stringify(world.identity.checkCalls)).not.toContain(TOKEN);
  });
});
