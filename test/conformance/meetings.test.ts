import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Answer, send } from './support/client.ts';
import { openWorld } from './support/open-world.ts';
import type { Person, TeamScene, World } from './support/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const JOIN = '/v1/meetings/join';
interface Scene {
  readonly ada: Person;
  readonly ben: Person;
  readonly team: TeamScene;
}
const scene = async (): Promise<Scene> => {
  const [ada, ben] = await Promise.all([world.user(), world.user()]);
  const members = [ada, ben].map(({ id }) => ({ user_id: id, role: 'member' }));
  return { ada, ben, team: await world.team({ name: 'Team', plan: 'pro', members }) };
};
const letters = (): string => Array.from({ length: 10 }, () => String.fromCharCode(97 + Math.floor(Math.random() * 26))).join('');
const aMeeting = (): string => letters().replace(/^(...)(....)(...)$/, 'https://meet.google.com/$1-$2-$3');
const join = ({ pat }: Person, { id: team_id }: TeamScene, meeting_url = aMeeting()): Promise<Answer> =>
  send(world.baseUrl, JOIN, { method: 'POST', as: pat, body: { meeting_url, team_id } });
const statusOf = async ({ pat }: Person, id: string) => (await send(world.baseUrl, `${JOIN}/${id}`, { as: pat })).json;

describe('a notetaker', () => {
  it('[MEET-01][MEET-09] goes into a meeting, and its recording is a ready bubble of those who took part', async () => {
    const { ada, ben, team } = await scene();
    const url = aMeeting();
    const made = await join(ada, team, `${url}?authuser=2`);
    expect(made).toMatchObject({ status: 201, json: { type: 'meeting_join', status: 'dispatched', meeting_url: url, team_id: team.id } });
    const { id } = made.json;
    await world.notetaker(id, { status: 'recording' });
    expect(await statusOf(ada, id)).toMatchObject({ status: 'recording', bot_in_call: true, fatal_reason: null });
    const told = { title: 'Planning', participant_ids: [ben.id], external_participants: [{ name: 'Zoe', email: 'zoe@elsewhere.example' }] };
    const { bubble_id } = await world.notetaker(id, { status: 'done', ...told, summary: 'All is planned.' });
    expect(await statusOf(ada, id)).toMatchObject({ status: 'done', bot_in_call: false });
    for (const { pat } of [ada, ben]) {
      const listed = (await send(world.baseUrl, '/v1/bubbles', { as: pat })).json.data;
      expect(listed).toEqual([expect.objectContaining({ id: bubble_id, type: 'meeting_recording', title: 'Planning', team_id: team.id })]);
    }
    const bubble = (await send(world.baseUrl, `/v1/bubbles/${bubble_id}`, { as: ada.pat })).json;
    expect(bubble).toMatchObject({
      author: { id: ada.id },
      has_external_participants: true,
      has_transcript: true,
      summary: 'All is planned.',
    });
  });

  it('[MEET-05] that cannot record says why', async () => {
    const { ada, team } = await scene();
    const { id } = (await join(ada, team)).json;
    expect(await world.notetaker(id, { status: 'fatal', fatal_reason: 'meeting_requires_sign_in' })).toMatchObject({ bubble_id: null });
    expect(await statusOf(ada, id)).toMatchObject({ status: 'fatal', fatal_reason: 'meeting_requires_sign_in' });
    expect((await send(world.baseUrl, '/v1/bubbles', { as: ada.pat })).json.data).toEqual([]);
  });

  it("[MEET-06] of another user's is not told from none", async () => {
    const { ada, ben, team } = await scene();
    const { id } = (await join(ada, team)).json;
    const read = (path: string) => send(world.baseUrl, `${JOIN}/${path}`, { as: ben.pat });
    const [theirs, none] = [await read(id), await read('mj_none')];
    expect([theirs.status, theirs.json]).toEqual([404, { error: none.json.error }]);
  });

  it('[MEET-02][MEET-03] is not sent for a foreign link or team', async () => {
    const { ada, team } = await scene();
    const other = await world.team({ name: 'Other', plan: 'pro', members: [] });
    expect((await join(ada, team, 'https://example.com/abc-defg-hij')).status).toBe(400);
    expect((await join(ada, other)).status).toBe(403);
  });
});
