import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Answer, send } from './support/client.ts';
import { control, type Sandbox, type Seeded, startSandbox } from './support/sandbox-world.ts';
import type { Person, TeamScene } from './support/world.ts';

let sandbox: Sandbox;
let seeded: Seeded;
beforeAll(async () => {
  sandbox = await startSandbox();
  seeded = await control(sandbox.url, 'GET /world');
});
afterAll(() => sandbox.stop());

const JOIN = '/v1/meetings/join';
const call = (line: string, body?: unknown) => control(sandbox.url, line, body);
const move = (id: string, body: object): Promise<Answer> => send(sandbox.url, `/_sandbox/notetakers/${id}`, { method: 'POST', body });
const join = async ({ pat }: Person, { id }: TeamScene, link: string): Promise<string> =>
  (await send(sandbox.url, JOIN, { method: 'POST', as: pat, body: { meeting_url: link, team_id: id } })).json.id;
const statusOf = async ({ pat }: Person, id: string) => (await send(sandbox.url, `${JOIN}/${id}`, { as: pat })).json;
const bubbleOf = ({ pat }: Person, id: string) => send(sandbox.url, `/v1/bubbles/${id}`, { as: pat });

describe('the notetakers of the sandbox', () => {
  it('are listed with what they were asked', async () => {
    const { ada } = seeded.users;
    const id = await join(ada, seeded.teams.acme, 'https://zoom.us/j/1234567890?pwd=open');
    expect(await call('GET /notetakers')).toEqual([
      {
        join_id: id,
        meeting_url: 'https://zoom.us/j/1234567890?pwd=open',
        team_id: seeded.teams.acme.id,
        requested_at: expect.any(String),
        left_at: null,
      },
    ]);
  });

  it('bring a recording home that the pipeline changes and removes like its own', async () => {
    const { ada, ben } = seeded.users;
    const id = await join(ada, seeded.teams.acme, 'https://meet.google.com/abc-defg-hij');
    const { json } = await move(id, { status: 'done', participant_ids: [ben.id], segments: [] });
    const { bubble_id: bubbleId } = json;
    expect(json).toEqual({ join_id: id, status: 'done', bubble_id: expect.any(String) });
    expect((await bubbleOf(ben, bubbleId)).json).toMatchObject({ summary: expect.any(String), media: { is_processed: true } });
    await call(`PATCH /bubbles/${bubbleId}`, { title: 'Renamed' });
    expect((await bubbleOf(ada, bubbleId)).json).toMatchObject({
      title: 'Renamed',
      type: 'meeting_recording',
      team_id: seeded.teams.acme.id,
    });
    const { video_url: video } = (await bubbleOf(ada, bubbleId)).json.media;
    await call(`PATCH /bubbles/${bubbleId}`, { duration_seconds: 7 });
    expect((await bubbleOf(ada, bubbleId)).json.media).toMatchObject({ duration_seconds: 7, video_url: video });
    expect((await fetch(video)).status).toBe(200);
    await call(`DELETE /bubbles/${bubbleId}`);
    expect((await bubbleOf(ada, bubbleId)).status).toBe(404);
    expect((await fetch(video)).status).toBe(404);
    expect((await move(id, { status: 'done' })).json.bubble_id).toBe(bubbleId);
    expect((await bubbleOf(ada, bubbleId)).status).toBe(404);
  });

  it('[MEET-10] tell nothing in webhooks that nobody signed, and providers that are not configured are as unknown ones', async () => {
    const hook = (provider: string) => send(sandbox.url, `/hooks/notetakers/${provider}`, { method: 'POST', body: { id: 'forged' } });
    const [forged, unconfigured, unknown] = [await hook('simulator'), await hook('recall'), await hook('nobody')];
    expect([forged.status, unconfigured.status, unknown.status]).toEqual([401, 404, 404]);
    expect(unconfigured.json).toEqual(unknown.json);
    expect(JSON.stringify((await send(sandbox.url, '/v1/openapi.json')).json)).not.toContain('/hooks/');
  });

  it('[MEET-10] give up as the clock steps on', async () => {
    const { ada } = seeded.users;
    const id = await join(ada, seeded.teams.acme, 'https://meet.google.com/klm-nopq-rst');
    await move(id, { status: 'in_waiting_room' });
    await call('POST /clock', { advance_seconds: 2090 });
    expect(await statusOf(ada, id)).toMatchObject({ status: 'in_waiting_room' });
    await call('POST /clock', { advance_seconds: 60 });
    expect(await statusOf(ada, id)).toMatchObject({ status: 'fatal', fatal_reason: 'waiting_room_timeout' });
  });

  it('are moved on again after their service was down', async () => {
    const { ada } = seeded.users;
    const id = await join(ada, seeded.teams.acme, 'https://meet.google.com/uvw-xyza-bcd');
    await call('POST /services/meetings-bot-gateway', { state: 'down' });
    expect((await send(sandbox.url, `${JOIN}/${id}`, { as: ada.pat })).status).toBe(500);
    expect((await move(id, { status: 'joining' })).status).toBe(500);
    await call('POST /services/meetings-bot-gateway', { state: 'up' });
    expect((await move(id, { status: 'joining' })).json.status).toBe('joining');
  });

  it('are named when there is none, and what is wrong with what they are to tell', async () => {
    expect([(await move('mj_none', { status: 'joining' })).status, (await move('mj_none', { status: 'dispatched' })).status]).toEqual([
      404, 400,
    ]);
    const { ada } = seeded.users;
    const id = await join(ada, seeded.teams.acme, 'https://meet.google.com/efg-hijk-lmn');
    const refused = await move(id, { status: 'done', participant_ids: ['nobody'] });
    expect([refused.status, refused.json.error.message]).toEqual([400, 'participant_ids: no such user.']);
    expect((await move(id, { status: 'fatal', fatal_reason: 'Not a word' })).status).toBe(400);
    expect(await statusOf(ada, id)).toMatchObject({ status: 'dispatched' });
  });
});
