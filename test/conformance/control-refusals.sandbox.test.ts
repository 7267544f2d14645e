import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Answer, send } from './support/client.ts';
import { control, type Sandbox, type Seeded, startSandbox } from './support/sandbox-world.ts';

type Fields = Readonly<Record<string, unknown>>;
let sandbox: Sandbox;
let seeded: Seeded;
beforeAll(async () => {
  sandbox = await startSandbox();
  seeded = await control(sandbox.url, 'GET /world');
});
afterAll(() => sandbox.stop());

/** Handles of the world in the path stand for their ids. */
const raw = (line: string, body?: unknown): Promise<Answer> => {
  const ids: Readonly<Record<string, string | undefined>> = {
    ada: seeded.users.ada.id,
    eve: seeded.users.eve.id,
    acme: seeded.teams.acme.id,
    standup: seeded.bubbles['standup']?.id,
  };
  const [method = '', path = ''] = line.replaceAll(/\b(ada|eve|acme|standup)\b/g, (handle) => ids[handle] ?? handle).split(' ');
  return send(sandbox.url, `/_sandbox${path}`, { method, body });
};

describe('what is refused', () => {
  const ID = '00000000-0000-4000-8000-000000000000';
  it.each<readonly [string, Fields, string]>([
    ['POST /users', { email: 1 }, 'email'],
    ['POST /users', { email: 'bad' }, 'email: must be an e-mail address'],
    ['POST /users', { email: 'ADA@example.com' }, 'email: another account has this address'],
    ['PATCH /users/ada', { email: 'ada@' }, 'email: must be an e-mail address'],
    ['POST /users', { name: 'a\u0000' }, 'name'],
    ['POST /users/ada/state', { state: 'gone' }, 'state'],
    ['POST /teams', { plan: 'pro' }, 'name'],
    ['POST /teams', { name: 'T', plan: 'gold' }, 'plan'],
    ['POST /teams', { name: 'T', plan: 'pro', members: [{ user_id: ID, role: 'admin' }] }, 'members'],
    ['POST /teams', { name: 'T', plan: 'pro', channels: [{ name: 'c', member_ids: [ID] }] }, 'channels'],
    ['POST /teams', { name: 'T', plan: 'pro', channels: [{ name: 'c' }, { name: 'c' }] }, 'channels'],
    ['PATCH /teams/acme', { archived: 'yes' }, 'archived'],
    ['PUT /teams/acme/members/eve', { role: 'boss' }, 'role'],
    ['POST /bubbles', { type: 'screen_recording' }, 'participant_ids'],
    ['POST /bubbles', { participant_ids: [] }, 'type'],
    ['POST /bubbles', { type: 'screen_recording', participant_ids: [ID] }, 'participant_ids'],
    ['POST /bubbles', { type: 'screen_recording', participant_ids: [], author_id: ID }, 'author_id'],
    ['POST /bubbles', { type: 'screen_recording', participant_ids: [], team_id: ID }, 'team_id'],
    ['POST /bubbles', { type: 'screen_recording', participant_ids: [], channel_id: ID }, 'channel_id'],
    ['POST /bubbles', { type: 'screen_recording', participant_ids: [], created_at: 'now' }, 'created_at'],
    ['POST /bubbles', { type: 'screen_recording', participant_ids: [], created_at: '9999-12-31T23:00:00-02:00' }, 'created_at'],
    ['POST /bubbles', { type: 'screen_recording', participant_ids: [], segments: [{ text: 1 }] }, 'segments'],
    ['POST /bubbles', { type: 'screen_recording', participant_ids: [], stage: 'done' }, 'stage'],
    ['POST /bubbles/standup/stage', {}, 'stage'],
    ['POST /bubbles', { type: 'screen_recording', participant_ids: [], segments: null }, 'segments'],
    ['PATCH /bubbles/standup', { is_public: null }, 'is_public'],
    ['POST /bubbles/standup/comments', {}, 'author_id'],
    ['POST /bubbles/standup/comments', { author_id: ID }, 'author_id'],
    ['POST /oauth-tokens', {}, 'user_id'],
    ['POST /oauth-tokens', { user_id: ID }, 'user_id: no such user'],
    ['POST /oauth-tokens', { user_id: ID, scopes: ['all'] }, 'scopes'],
    ['POST /oauth-tokens', { user_id: ID, scopes: [] }, 'scopes'],
    ['POST /clock', {}, 'advance_seconds'],
    ['POST /clock', { advance_seconds: -1 }, 'advance_seconds'],
    ['POST /clock', { advance_seconds: 1e12 }, 'advance_seconds'],
    ['POST /services/bubbles-query', { state: 'off' }, 'state'],
    ['POST /services/bubbles-query', { state: 'slow', ms: -1 }, 'ms'],
  ])('%s %j names the field', async (line, body, field) => {
    const answer = await raw(line, body);
    expect([answer.status, answer.json.error.type]).toEqual([400, 'invalid_request']);
    expect(answer.json.error.message).toContain(field);
  });

  it.each<readonly [string, Fields, string]>([
    ['POST /reset', {}, 'colour'],
    ['POST /settle', {}, 'colour'],
    ['POST /users', { name: 'A' }, 'colour'],
    ['PATCH /users/ada', {}, 'id'],
    ['POST /users/ada/state', { state: 'active' }, 'colour'],
    ['POST /teams', { name: 'T', plan: 'pro' }, 'member'],
    ['POST /teams', { name: 'T', plan: 'pro', members: [{ user_id: ID, role: 'admin', plan: 1 }] }, 'members.0.plan'],
    ['POST /teams', { name: 'T', plan: 'pro', channels: [{ name: 'c', members: [] }] }, 'channels.0.members'],
    ['PATCH /teams/acme', { plan: 'pro' }, 'role'],
    ['PUT /teams/acme/members/eve', { role: 'guest' }, 'plan'],
    ['POST /bubbles', { type: 'screen_recording', participant_ids: [] }, 'participants'],
    ['POST /bubbles', { type: 'screen_recording', participant_ids: [], meeting: { url: 'x' } }, 'meeting.url'],
    [
      'POST /bubbles',
      {
        type: 'screen_recording',
        participant_ids: [],
        segments: [{ speaker: { email: 'x' }, text: '', start_time_seconds: 0, end_time_seconds: 0 }],
      },
      'segments.0.speaker.email',
    ],
    ['PATCH /bubbles/standup', {}, 'id'],
    ['POST /bubbles/standup/stage', { stage: 'ready' }, 'title'],
    ['POST /bubbles/standup/comments', { author_id: ID }, 'text'],
    ['POST /clock', { advance_seconds: 0 }, 'seconds'],
    ['POST /services/bubbles-query', { state: 'up' }, 'seconds'],
  ])('%s %j with the unknown field %s names it, and does nothing', async (line, body, field) => {
    const answer = await raw(line, field.includes('.') ? body : { ...body, [field]: 1 });
    expect([answer.status, answer.json.error.type]).toEqual([400, 'invalid_request']);
    expect(answer.json.error.message).toContain(`${field}: there is no such field`);
    expect(await control(sandbox.url, 'GET /world')).toMatchObject({ users: seeded.users });
  });

  it.each([
    ...['PATCH /users/x', 'POST /users/x/state', 'PATCH /teams/x', 'PUT /teams/x/members/y', 'DELETE /teams/x/members/y'],
    ...[
      'PATCH /bubbles/x',
      'POST /bubbles/x/stage',
      'DELETE /bubbles/x',
      'POST /bubbles/x/comments',
      'POST /services/x',
      'POST /services/gateway',
      'GET /nothing',
      'PUT /world',
    ],
  ])('%s is not found', async (line) => {
    const bodies: Readonly<Record<string, Fields>> = {
      'POST /users/x/state': { state: 'active' },
      'PUT /teams/x/members/y': { role: 'admin' },
      'POST /bubbles/x/stage': { stage: 'ready' },
      'POST /bubbles/x/comments': { author_id: seeded.users.ada.id },
      'POST /services/x': { state: 'down' },
      'POST /services/gateway': { state: 'down' },
    };
    const answer = await raw(line, bodies[line] ?? (/^(GET|DELETE)/.test(line) ? undefined : {}));
    expect([answer.status, answer.json.error.type]).toEqual([404, 'not_found']);
  });
});
