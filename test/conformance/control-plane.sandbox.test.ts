import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Answer, send } from './support/client.ts';
import { control, type Sandbox, type Seeded, startSandbox } from './support/sandbox-world.ts';
import type { Person, TeamScene } from './support/world.ts';

type Fields = Readonly<Record<string, unknown>>;
let sandbox: Sandbox;
let seeded: Seeded;
beforeAll(async () => {
  sandbox = await startSandbox();
  seeded = await control(sandbox.url, 'GET /world');
});
afterAll(() => sandbox.stop());

const call = (line: string, body?: unknown) => control(sandbox.url, line, body);
const raw = (line: string, body?: unknown): Promise<Answer> => {
  const [method = '', path = ''] = line.split(' ');
  return send(sandbox.url, `/_sandbox${path}`, { method, body });
};
const read = (path: string, { pat }: Person) => send(sandbox.url, path, { as: pat });
const bubbleOf = async (person: Person, fields: Fields): Promise<Answer> => {
  const { id } = await call('POST /bubbles', { participant_ids: [person.id], ...fields });
  return read(`/v1/bubbles/${id}`, person);
};
const titlesOf = async (person: Person) => (await read('/v1/bubbles', person)).json.data.map(({ title }: { title: string }) => title);

describe('the seeded world', () => {
  it('has its users, with both credentials and an ordinary key', async () => {
    expect(Object.keys(seeded).toSorted()).toEqual(['base_url', 'bubbles', 'now', 'teams', 'users']);
    expect(seeded.base_url).toBe(sandbox.url);
    expect(Math.abs(new Date(seeded.now).getTime() - Date.now())).toBeLessThan(60_000);
    expect(Object.keys(seeded.users)).toEqual(['ada', 'ben', 'gus', 'fay', 'eve']);
    for (const user of Object.values(seeded.users)) {
      expect(Object.keys(user).toSorted()).toEqual(['email', 'id', 'name', 'pat', 'session_token']);
      expect((await read('/v1/me', user)).json).toEqual({ id: user.id, name: user.name, email: user.email, picture_url: null });
      const { json } = await send(sandbox.url, '/v1/api-keys', { as: user.session_token });
      expect(json.data.map(({ name }: { name: string }) => name)).toEqual(['sandbox']);
    }
  });

  it('has its teams and channels', async () => {
    const { acme, flea } = seeded.teams;
    const teamsOf = async (user: Person) => (await read('/v1/teams', user)).json.data;
    const channel = (team: TeamScene, name: string) => ({ id: team.channels[name], name });
    const shown = (team: TeamScene, role: string, channels: readonly string[]) => [
      { id: team.id, name: team.name, plan: team.plan, role, channels: channels.map((name) => channel(team, name)) },
    ];
    expect([acme.plan, flea.plan]).toEqual(['pro', 'free']);
    const { ada, ben, gus, fay, eve } = seeded.users;
    expect(await teamsOf(ada)).toEqual(shown(acme, 'admin', ['general', 'leads']));
    expect(await teamsOf(ben)).toEqual(shown(acme, 'member', ['general']));
    expect([await teamsOf(gus), await teamsOf(eve)]).toEqual([shown(acme, 'guest', []), []]);
    expect(await teamsOf(fay)).toEqual(shown(flea, 'admin', ['general']));
  });

  it('has its bubbles, each as it is told', async () => {
    const { ada, ben, eve, fay, gus } = seeded.users;
    expect(Object.keys(seeded.bubbles)).toEqual([
      'standup',
      'demo',
      'silent',
      'poster',
      'raw',
      'legacy',
      'public',
      'archived',
      'draft',
      'template',
      'expired',
      'private',
      'fleabite',
    ]);
    const statusOf = async (handle: string, user: Person) => (await read(`/v1/bubbles/${seeded.bubbles[handle]?.id}`, user)).status;
    const readers = async (handle: string) => Promise.all([ada, ben, gus, fay, eve].map((user) => statusOf(handle, user)));
    for (const handle of ['archived', 'draft', 'template', 'expired']) expect(await readers(handle)).toEqual([404, 404, 404, 404, 404]);
    for (const handle of ['demo', 'silent', 'poster', 'raw', 'legacy']) expect(await readers(handle)).toEqual([200, 404, 404, 404, 404]);
    expect(await readers('standup')).toEqual([200, 200, 404, 404, 404]);
    expect(await readers('public')).toEqual([200, 200, 200, 200, 200]);
    expect(await readers('private')).toEqual([404, 200, 404, 404, 404]);
    expect(await readers('fleabite')).toEqual([404, 404, 404, 200, 404]);
    const shown = async (handle: string) => (await read(`/v1/bubbles/${seeded.bubbles[handle]?.id}`, ada)).json;
    const inAcme = { team_id: seeded.teams.acme.id, channel_id: seeded.teams.acme.channels['general'], author: { id: ada.id } };
    expect(await shown('standup')).toMatchObject({ ...inAcme, type: 'meeting_recording', has_transcript: true, comment_count: 3 });
    expect(await shown('standup')).toMatchObject({
      has_external_participants: true,
      summary: expect.any(String),
      action_items: expect.any(String),
    });
    expect(await shown('demo')).toMatchObject({ ...inAcme, type: 'screen_recording', has_transcript: true, media: { is_processed: true } });
    expect(await shown('silent')).toMatchObject({ type: 'screen_recording', has_transcript: false, media: { is_processed: true } });
    expect(await shown('poster')).toMatchObject({
      type: 'custom_image',
      has_transcript: false,
      media: { video_url: null, is_processed: true },
    });
    expect(await shown('raw')).toMatchObject({
      type: 'meeting_recording',
      has_transcript: false,
      summary: null,
      media: { is_processed: false },
    });
    expect(await shown('legacy')).toMatchObject({ created_at: null });
    const below = (path: string) => read(`/v1/bubbles/${seeded.bubbles['standup']?.short_id}/${path}`, ada);
    const comments: { thread_id: string; is_pinned: boolean }[] = (await below('comments')).json.data;
    expect(new Set(comments.map((comment) => comment.thread_id)).size).toBe(2);
    expect(new Set(comments.filter((comment) => comment.is_pinned).map((comment) => comment.thread_id)).size).toBe(1);
    const segments: { speaker: { id: string } }[] = (await below('transcript')).json.segments;
    expect(new Set(segments.map(({ speaker }) => speaker.id))).toEqual(new Set([ada.id, ben.id]));
  });
});

describe('users and teams', () => {
  it('absent fields of a user are made up, null is kept; a change answers the account', async () => {
    const made = await call('POST /users');
    expect(made).toEqual({
      id: expect.any(String),
      email: expect.any(String),
      name: expect.any(String),
      session_token: expect.any(String),
      pat: expect.any(String),
    });
    expect(await call('POST /users', { email: null, name: null })).toMatchObject({ email: null, name: null });
    const changed = { id: made.id, email: made.email, name: null, picture_url: 'https://media.example.com/p.png' };
    expect(await call(`PATCH /users/${made.id}`, { name: null, picture_url: changed.picture_url })).toEqual(changed);
    expect((await read('/v1/me', made)).json).toEqual(changed);
    for (const state of ['disabled', 'active', 'deleted', 'active'])
      expect(await call(`POST /users/${made.id}/state`, { state })).toEqual({ id: made.id, state });
  });

  it('teams answer with their channels; memberships are set and ended', async () => {
    const { ben, eve } = seeded.users;
    const channels = [{ name: 'all' }, { name: 'some', member_ids: [eve.id] }];
    const team = await call('POST /teams', { name: 'T', plan: 'free', members: [{ user_id: ben.id, role: 'member' }], channels });
    expect(team).toEqual({
      id: expect.any(String),
      name: 'T',
      plan: 'free',
      channels: { all: expect.any(String), some: expect.any(String) },
    });
    expect(await call(`PATCH /teams/${team.id}`, { plan: 'pro', name: 'U' })).toEqual({ ...team, plan: 'pro', name: 'U' });
    const membership = { team_id: team.id, user_id: eve.id };
    expect(await call(`PUT /teams/${team.id}/members/${eve.id}`, { role: 'guest' })).toEqual({ ...membership, role: 'guest' });
    expect((await read('/v1/teams', eve)).json.data).toMatchObject([{ id: team.id, channels: [{ name: 'some' }] }]);
    expect(await call(`PUT /teams/${team.id}/members/${eve.id}`, { role: 'guest', hidden: true })).toEqual({
      ...membership,
      role: 'guest',
    });
    expect((await read('/v1/teams', eve)).json.data).toEqual([]);
    expect(await call(`DELETE /teams/${team.id}/members/${eve.id}`)).toEqual({ ...membership, role: null });
    await call(`DELETE /teams/${team.id}/members/${ben.id}`);
  });

  it('[SIGN-06] teams have a domain and a trial, which ends by the clock', async () => {
    const HOUR_MS = 3_600_000;
    const { now } = await call('GET /clock');
    const trial_ends_at = new Date(Date.parse(now) + HOUR_MS).toISOString();
    const team = await call('POST /teams', { name: 'Trial', plan: 'free', domain: 'trial.example', discoverable: true, trial_ends_at });
    expect(team.plan).toBe('pro');
    await call('POST /clock', { advance_seconds: 3600 });
    expect((await call(`PATCH /teams/${team.id}`, { discoverable: false, domain: null })).plan).toBe('free');
    const later = new Date(Date.parse(now) + 2 * HOUR_MS).toISOString();
    expect((await call(`PATCH /teams/${team.id}`, { trial_ends_at: later })).plan).toBe('pro');
    expect((await call(`PATCH /teams/${team.id}`, { plan: 'free' })).plan).toBe('free');
  });
});

describe('oauth tokens', () => {
  it('are of a new app with everything granted, or as it is told, and of an app that there is', async () => {
    const { ada } = seeded.users;
    const first = await call('POST /oauth-tokens', { user_id: ada.id });
    expect(first).toEqual({
      client_id: expect.any(String),
      access_token: expect.stringMatching(/^eyJ/),
      refresh_token: expect.any(String),
      expires_in: 3600,
      scope: 'bubbles:read webhooks:manage meetings:join',
    });
    expect((await send(sandbox.url, '/v1/me', { as: first.access_token })).json.id).toBe(ada.id);
    const narrow = { user_id: ada.id, scopes: ['bubbles:read'] };
    const [again, other] = [
      await call('POST /oauth-tokens', { ...narrow, client_id: first.client_id }),
      await call('POST /oauth-tokens', { ...narrow, client_name: 'Notes' }),
    ];
    expect([again.client_id === first.client_id, other.client_id === first.client_id, again.scope]).toEqual([true, false, 'bubbles:read']);
    expect((await raw('POST /oauth-tokens', { user_id: ada.id, client_name: '\u202e' })).status).toBe(400);
    expect((await raw('POST /oauth-tokens', { user_id: ada.id, client_id: 'nobody' })).status).toBe(404);
  });
});

describe('bubbles', () => {
  it('absent fields get plausible values by the type', async () => {
    const { eve } = seeded.users;
    const meeting = (await bubbleOf(eve, { type: 'meeting_recording' })).json;
    expect(meeting).toMatchObject({
      title: expect.any(String),
      summary: expect.any(String),
      action_items: expect.any(String),
      has_transcript: true,
    });
    expect(meeting).toMatchObject({ author: { id: eve.id }, creator_id: eve.id, team_id: null, meeting: { platform: expect.any(String) } });
    const image = (await bubbleOf(eve, { type: 'custom_image' })).json;
    expect(image).toMatchObject({ has_transcript: false, meeting: null, media: { video_url: null, is_processed: true } });
    const note = (await bubbleOf(eve, { type: 'screen_recording', has_media: false })).json;
    expect(note).toMatchObject({ has_transcript: false, media: { video_url: null, is_processed: null } });
  });

  it('an id of one’s own is taken once, in either case; a patch changes anything, arrays wholesale', async () => {
    const { eve, ben } = seeded.users;
    const id = crypto.randomUUID();
    const made = await call('POST /bubbles', {
      type: 'screen_recording',
      id: id.toUpperCase(),
      participant_ids: [eve.id, ben.id],
      stage: 'created',
    });
    expect(made).toEqual({ id, short_id: expect.stringMatching(/^[0-9A-Za-z]{22}$/) });
    expect((await raw('POST /bubbles', { type: 'screen_recording', id, participant_ids: [eve.id] })).json.error.message).toMatch(/^id/);
    const shown = async () => (await read(`/v1/bubbles/${id}`, eve)).json;
    expect(
      await call(`PATCH /bubbles/${id.toUpperCase()}`, { title: 'New', participant_ids: [eve.id], type: 'meeting_recording' }),
    ).toEqual(made);
    expect(await shown()).toMatchObject({ title: 'New', type: 'meeting_recording', participants: [{ id: eve.id }], has_transcript: false });
    const segments = [{ speaker: null, text: 'Hi.', start_time_seconds: 0, end_time_seconds: 1 }];
    expect(await call(`POST /bubbles/${made.short_id}/stage`, { stage: 'transcribed', segments })).toEqual(made);
    expect((await read(`/v1/bubbles/${id}/transcript`, eve)).json.segments).toEqual(segments);
    expect(await shown()).toMatchObject({ summary: null });
    await call(`PATCH /bubbles/${id}`, { stage: 'ready', summary: 'Mine.' });
    expect(await shown()).toMatchObject({ summary: 'Mine.' });
    await call(`PATCH /bubbles/${id}`, { summary: null, segments: [] });
    expect(await shown()).toMatchObject({ summary: null, has_transcript: true });
    expect(await call(`DELETE /bubbles/${id}`)).toEqual({ id });
    expect((await raw(`DELETE /bubbles/${id}`)).status).toBe(404);
    expect((await raw('POST /bubbles', { type: 'screen_recording', id, participant_ids: [eve.id] })).status).toBe(400);
  });
});

describe('a reset', () => {
  it('a reset brings the seeded world, real time and every service back, whatever was done', async () => {
    const before = await titlesOf(seeded.users.ada);
    await call('POST /users');
    await call('POST /clock', { advance_seconds: 40 * 86_400 });
    await call('POST /services/identity-and-oauth', { state: 'down' });
    await call('POST /services/bubbles-query', { state: 'slow', ms: 900 });
    for (let time = 0; time < 2; time++) {
      const world: Seeded = await call('POST /reset');
      expect(await call('GET /world')).toEqual({ ...world, now: expect.any(String) });
      expect(Math.abs(new Date(world.now).getTime() - Date.now())).toBeLessThan(60_000);
      expect(await titlesOf(world.users.ada)).toEqual(before);
      const [newest] = (await read('/v1/bubbles', world.users.ada)).json.data;
      expect(new Date(newest.created_at).getTime()).toBeLessThan(Date.now());
      expect((await read('/v1/webhooks', world.users.ada)).status).toBe(200);
      expect((await read('/v1/me', seeded.users.ada)).status).toBe(401);
      seeded = world;
    }
  });
});
