import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Answer, send } from './support/client.ts';
import { authorize, comeBack, exchange, type RegisteredApp, refresh, register, statusOf } from './support/oauth-scene.ts';
import { control, type Sandbox, startSandbox, worldAt } from './support/sandbox-world.ts';
import type { World } from './support/world.ts';

let sandbox: Sandbox;
let world: World;
let app: RegisteredApp;
beforeAll(async () => {
  sandbox = await startSandbox();
  world = worldAt(sandbox.url, () => sandbox.stop());
  app = await register(world);
});
afterAll(() => world.close());

const MINUTE = 60;
const DAY = 24 * 60 * MINUTE;
const advance = (seconds: number) => control(sandbox.url, 'POST /clock', { advance_seconds: seconds });
const refusal = ({ status, json }: Answer) => [status, json.error];

describe('what time does to tokens', () => {
  it('[OAUTH-10] [case 3] a code is good for a minute; one that is over takes nothing with it', async () => {
    const person = await world.user();
    const [early, late] = [await comeBack(world, person, app), await comeBack(world, person, app)];
    await advance(50);
    const tokens = await exchange(world, early);
    expect(tokens.status).toBe(200);
    await advance(20);
    expect(refusal(await exchange(world, late))).toEqual([400, 'invalid_grant']);
    expect(await statusOf(world, tokens.json.access_token)).toBe(200);
  });

  it('[OAUTH-10] an access token is good for an hour, and the refresh token goes on', async () => {
    const tokens = await authorize(world, await world.user(), app);
    await advance(59 * MINUTE);
    expect(await statusOf(world, tokens.access_token)).toBe(200);
    await advance(2 * MINUTE);
    const expired = await send(world.baseUrl, '/v1/me', { as: tokens.access_token });
    expect([expired.status, expired.json.error.type]).toEqual([401, 'unauthorized']);
    const fresh = await refresh(world, app, tokens.refresh_token);
    expect(await statusOf(world, fresh.json.access_token)).toBe(200);
  });

  it('[OAUTH-10] a refresh token is good for 30 days since its last use', async () => {
    let tokens = await authorize(world, await world.user(), app);
    for (let uses = 0; uses < 3; uses += 1) {
      await advance(29 * DAY);
      const answer = await refresh(world, app, tokens.refresh_token);
      expect(answer.status).toBe(200);
      tokens = answer.json;
    }
    await advance(31 * DAY);
    expect(refusal(await refresh(world, app, tokens.refresh_token))).toEqual([400, 'invalid_grant']);
  });

  it('[OAUTH-07] a second use within two seconds costs nothing but itself, a later one ends all', async () => {
    const first = await authorize(world, await world.user(), app);
    // Both are sent at once: the machine may take its time between two calls.
    const answers = await Promise.all([refresh(world, app, first.refresh_token), refresh(world, app, first.refresh_token)]);
    const [won, lost] = answers.toSorted((one, other) => one.status - other.status);
    const second = won?.json;
    expect([won?.status, lost && refusal(lost)]).toEqual([200, [400, 'invalid_grant']]);
    expect(await statusOf(world, second.access_token)).toBe(200);
    await advance(3);
    expect(refusal(await refresh(world, app, first.refresh_token))).toEqual([400, 'invalid_grant']);
    for (const { access_token: token } of [first, second]) expect(await statusOf(world, token)).toBe(401);
    expect(refusal(await refresh(world, app, second.refresh_token))).toEqual([400, 'invalid_grant']);
  });

  it('[AUTH-10] a session token is good for 14 days', async () => {
    const { session_token: token } = await world.user();
    await advance(14 * DAY - MINUTE);
    expect(await statusOf(world, token, '/v1/api-keys')).toBe(200);
    await advance(2 * MINUTE);
    expect(await statusOf(world, token, '/v1/api-keys')).toBe(401);
  });

  it('[OAUTH-09] keys change with overlap: a token of the key before is good as long as it lives', async () => {
    const kids = async () => (await send(world.baseUrl, '/oauth/jwks')).json.keys.map(({ kid }: { kid: string }) => kid);
    const before: string[] = await kids();
    const tokens = await authorize(world, await world.user(), app);
    await advance(30 * MINUTE);
    expect(await statusOf(world, tokens.access_token)).toBe(200);
    await advance(31 * DAY);
    const after: string[] = await kids();
    expect(after.some((kid) => !before.includes(kid))).toBe(true);
    const fresh = await authorize(world, await world.user(), app);
    expect(await statusOf(world, fresh.access_token)).toBe(200);
  });
});
