import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { send } from './support/client.ts';
import { openWorld } from './support/open-world.ts';
import { freshAddress, type World } from './support/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const teamsOf = async (as: string) => (await send(world.baseUrl, '/v1/teams', { as })).json.data;

describe('section 4, account and teams', () => {
  it('[ME-01] [GEN-04] [AUTH-09] the caller reads themself, every field present', async () => {
    const email = freshAddress('ida');
    const person = await world.user({ name: 'Ida', email, picture_url: 'https://media.example.com/ida.png' });
    const answer = await send(world.baseUrl, '/v1/me', { as: person.pat });
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({ id: person.id, name: 'Ida', email, picture_url: 'https://media.example.com/ida.png' });
  });

  it('[ME-01] [GEN-04] unset values are null', async () => {
    const person = await world.user({ name: null, email: null, picture_url: null });
    expect((await send(world.baseUrl, '/v1/me', { as: person.pat })).json).toEqual({
      id: person.id,
      name: null,
      email: null,
      picture_url: null,
    });
  });

  it('[TEAM-01] [TEAM-03] a team shows the caller’s role and the channels visible to them', async () => {
    const [admin, member, guest] = [await world.user(), await world.user(), await world.user()];
    const team = await world.team({
      name: 'Acme',
      plan: 'pro',
      members: [
        { user_id: admin.id, role: 'admin' },
        { user_id: member.id, role: 'member' },
        { user_id: guest.id, role: 'guest' },
      ],
      channels: [{ name: 'general' }, { name: 'leads', member_ids: [admin.id] }, { name: 'with guest', member_ids: [guest.id] }],
    });
    const channel = (name: string) => ({ id: team.channels[name], name });
    const seen = (role: string, channels: string[]) => [{ id: team.id, name: 'Acme', plan: 'pro', role, channels: channels.map(channel) }];
    expect(await teamsOf(admin.pat)).toEqual(seen('admin', ['general', 'leads']));
    expect(await teamsOf(member.pat)).toEqual(seen('member', ['general']));
    expect(await teamsOf(guest.pat)).toEqual(seen('guest', ['with guest']));
  });

  it('[TEAM-02] archived teams and hidden guest memberships are excluded', async () => {
    const person = await world.user();
    const as = { user_id: person.id, role: 'member' };
    const kept = await world.team({ name: 'Kept', plan: 'free', members: [as] });
    await world.team({ name: 'Archived', plan: 'pro', archived: true, members: [as] });
    await world.team({ name: 'Hidden', plan: 'pro', members: [{ ...as, role: 'guest', hidden: true }] });
    expect((await teamsOf(person.pat)).map(({ id }: { id: string }) => id)).toEqual([kept.id]);
  });

  it('[TEAM-01] changes of plan, name, role and membership show at the next read', async () => {
    const person = await world.user();
    const team = await world.team({ name: 'Before', plan: 'free', members: [{ user_id: person.id, role: 'guest' }] });
    await world.changeTeam(team.id, { name: 'After', plan: 'pro' });
    await world.setMember(team.id, person.id, { role: 'admin' });
    expect(await teamsOf(person.pat)).toEqual([{ id: team.id, name: 'After', plan: 'pro', role: 'admin', channels: [] }]);
    await world.endMember(team.id, person.id);
    expect(await teamsOf(person.pat)).toEqual([]);
  });
});

describe('section 5, account state', () => {
  it.each(['disabled', 'deleted'] as const)('[AUTH-05] a %s account is refused with every credential, everywhere', async (state) => {
    const person = await world.user();
    await world.setState(person.id, state);
    for (const path of ['/v1/me', '/v1/teams', '/v1/bubbles']) {
      const answer = await send(world.baseUrl, path, { as: person.pat });
      expect([answer.status, answer.json.error.type]).toEqual([401, 'account_deleted']);
    }
    const keys = await send(world.baseUrl, '/v1/api-keys', { as: person.session_token });
    expect([keys.status, keys.json.error.type]).toEqual([401, 'account_deleted']);
  });

  it('[AUTH-05] re-enabling gives the credentials back, and what was revoked stays revoked', async () => {
    const person = await world.user();
    await world.team({ name: 'T', plan: 'pro', members: [{ user_id: person.id, role: 'admin' }] });
    const { id, token } = (await send(world.baseUrl, '/v1/api-keys', { method: 'POST', as: person.session_token, body: { name: 'k' } }))
      .json;
    await send(world.baseUrl, `/v1/api-keys/${id}`, { method: 'DELETE', as: person.session_token });
    await world.setState(person.id, 'disabled');
    expect((await send(world.baseUrl, '/v1/me', { as: token })).json.error.type).toBe('account_deleted');
    await world.setState(person.id, 'active');
    expect((await send(world.baseUrl, '/v1/me', { as: person.pat })).status).toBe(200);
    expect((await send(world.baseUrl, '/v1/me', { as: token })).json.error.type).toBe('token_revoked');
  });
});

describe('section 5, credentials', () => {
  const refused = [
    ['none', {}],
    ['no space', { authorization: 'Bearersvc_pat_x' }],
    ['an empty token', { authorization: 'Bearer ' }],
    ['another scheme', { authorization: 'Basic dXNlcjpwYXNz' }],
    ['a list', { authorization: 'Bearer a, Bearer b' }],
    ['an unknown token', { authorization: 'Bearer svc_pat_unknown' }],
    ['a cookie', { cookie: 'session=x' }],
    ['an api key header', { 'x-api-key': 'x' }],
    ['a proxy credential', { 'proxy-authorization': 'Bearer x' }],
    ['a forged identity header', { 'x-user-id': 'x', 'x-internal-assertion': 'x' }],
    ['a forged JWT', { authorization: 'Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZG1pbiJ9.' }],
  ] as const;
  it.each(refused)('[AUTH-01] [ERR-04] [AUTH-08] %s is 401 unauthorized with a challenge', async (_name, headers) => {
    for (const path of ['/v1/me', '/v1/bubbles']) {
      const answer = await send(world.baseUrl, path, { headers });
      expect([answer.status, answer.json.error.type]).toEqual([401, 'unauthorized']);
      expect(answer.headers.get('www-authenticate')).toMatch(
        /^Bearer .*resource_metadata="http.*\/\.well-known\/oauth-protected-resource"/,
      );
    }
  });

  it('[AUTH-01] the scheme name is case-insensitive', async () => {
    const person = await world.user();
    for (const scheme of ['bearer', 'BEARER'])
      expect((await send(world.baseUrl, '/v1/me', { headers: { authorization: `${scheme} ${person.pat}` } })).status).toBe(200);
  });

  it('[AUTH-08] a token in the query is not a credential', async () => {
    const person = await world.user();
    expect((await send(world.baseUrl, `/v1/me?access_token=${person.pat}`)).status).toBe(401);
  });

  it('[AUTH-02] [AUTH-07] a session token is not accepted on data endpoints', async () => {
    const person = await world.user();
    for (const path of ['/v1/me', '/v1/teams', '/v1/bubbles'])
      expect((await send(world.baseUrl, path, { as: person.session_token })).status).toBe(401);
    expect((await send(world.baseUrl, '/v1/api-keys', { as: person.session_token })).status).toBe(200);
  });
});
