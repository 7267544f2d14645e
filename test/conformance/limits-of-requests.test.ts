import { rawExchange } from '@bubbles/testing/raw-http.ts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { send } from './support/client.ts';
import { openWorld } from './support/open-world.ts';
import type { World } from './support/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const MANY_TEAMS = 200;

describe('what a request may carry', () => {
  it.each([
    ['96 header lines', 96, 10, 200],
    ['100 header lines', 100, 10, 200],
    ['101 header lines', 101, 10, 400],
    ['a header line of 14 KB', 5, 14_000, 200],
    ['a header line of 17 KB', 5, 17_000, 400],
  ])('[GEN-08] %s: the answer is that of the edge', async (_, lines, bytes, status) => {
    const { pat } = await world.user();
    const own = [
      `Host: ${new URL(world.baseUrl).host}`,
      'Connection: close',
      `Authorization: Bearer ${pat}`,
      `X-Long: ${'x'.repeat(bytes)}`,
    ];
    const more = Array.from({ length: lines - own.length }, (_one, n) => `X-${n}: y`);
    const heads = ['/v1/me', '/v1/bubbles'].map((path) => [`GET ${path} HTTP/1.1`, ...own, ...more, '', ''].join('\r\n'));
    const answers = await Promise.all(heads.map((head) => rawExchange(world.baseUrl, head)));
    expect(answers.map((answer) => Number(answer.split(' ')[1]))).toEqual([status, status]);
  });

  it('[GEN-14] [BUB-05] whoever is in very many teams is served on every route as everybody else', async () => {
    const person = await world.user();
    const other = await world.user({ name: 'Olga', email: 'olga@outside.test' });
    const members = [{ user_id: person.id, role: 'member' }];
    const home = await world.team({ name: 'Home', plan: 'pro', members });
    for (let n = 0; n < MANY_TEAMS; n += 1)
      await world.team({ name: `Team ${n}`, plan: 'pro', members: [{ ...members[0], hidden: n % 2 === 0 }] });
    const strange = await world.team({ name: 'Strange', plan: 'pro', members: [] });
    const inTeam = (team_id: string) => world.bubble({ type: 'screen_recording', participant_ids: [other.id], team_id, is_public: true });
    const [ours, theirs] = [await inTeam(home.id), await inTeam(strange.id)];
    const get = (path: string) => send(world.baseUrl, path, { as: person.pat });
    const emailIn = async (id: string) => (await get(`/v1/bubbles/${id}`)).json.participants[0].email;
    expect([await emailIn(ours.id), await emailIn(theirs.id)]).toEqual(['olga@outside.test', null]);
    const paths = ['/v1/bubbles', '/v1/bubbles/search?q=x', `/v1/bubbles/${ours.id}/comments`, '/v1/me', '/v1/webhooks'];
    const statuses = await Promise.all(paths.map(async (path) => (await get(path)).status));
    expect(statuses).toEqual(paths.map(() => 200));
    expect((await get('/v1/teams')).json.data.length).toBe(1 + MANY_TEAMS / 2);
    const body = { url: 'https://hooks.example.com/in', events: ['bubble.ready'], team_id: home.id };
    const subscribed = (fields: object) =>
      send(world.baseUrl, '/v1/webhooks', { method: 'POST', as: person.pat, body: { ...body, ...fields } });
    expect([(await subscribed({})).status, (await subscribed({ team_id: strange.id })).status]).toEqual([201, 403]);
  });
});
