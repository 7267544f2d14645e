import { SIGNUP_CALLS } from '@bubbles/contracts/internal/identity-signup.ts';
import type { Doc } from '@bubbles/store/collection.ts';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Answer, startIdentity, type TestIdentity } from './identity.ts';

const DAY_MS = 86_400_000;
const EMAIL = 'ada@acme.test';
const DOMAIN = 'acme.test';
const FLOW = 'flow-0000000000000001';

let identity: TestIdentity;
beforeEach(async () => {
  identity = await startIdentity();
});
afterEach(() => identity.stop());

const ask = (step: keyof typeof SIGNUP_CALLS, body: object): Promise<Answer> =>
  identity.service('signup')('POST', SIGNUP_CALLS[step].path, { email: EMAIL, ...body });
const create = (fields: object = {}) => ask('create', { flow_id: FLOW, name: 'Acme', ...fields });
const join = (team_id: string, fields: object = {}) => ask('join', { domain: DOMAIN, team_id, ...fields });
const open = (fields: object = {}) => ask('domainJoin', { flow_id: FLOW, domain: DOMAIN, ...fields });
const workspaces = async (fields: object = {}) => (await ask('account', { domain: DOMAIN, ...fields })).body;

const accountsAt = async (email = EMAIL) => (await identity.admin('GET', `accounts?email=${email}`)).body.accounts;
const team = async (id: string) => (await identity.admin('GET', `teams/${id}`)).body;
const openTeam = (fields: object = {}) => identity.team({ domain: DOMAIN, discoverable: true, plan: 'free', ...fields });
const refused = ({ status, body }: Answer) => [status, body.error?.type, body.error?.message];
const sessionOf = async (id: string) => (await identity.admin('POST', `accounts/${id}/sessions`)).body.session_token;

const NOT_JOINABLE = [403, 'forbidden', 'This address may not join this workspace.'];
const NOT_OPENABLE = [403, 'forbidden', 'This address may not open this workspace to its domain.'];
const CLOSED = [403, 'account_deleted', 'The account of this address is closed.'];

describe('the workspaces of an address', () => {
  it('[SIGN-04] are the discoverable ones of its domain, the oldest first, whether it has an account or not', async () => {
    const first = await openTeam({ name: null });
    await identity.clock.advance(1000);
    const second = await openTeam();
    await openTeam({ discoverable: false });
    await openTeam({ archived: true });
    await openTeam({ domain: 'other.test' });
    const listed = [
      { id: first, name: DOMAIN },
      { id: second, name: 'Acme' },
    ];
    expect(await workspaces()).toEqual({ account: null, workspaces: listed });
    const { id } = await identity.person({ email: EMAIL });
    expect(await workspaces({ email: 'ADA@mail.acme.test' })).toEqual({ account: null, workspaces: listed });
    expect(await workspaces({ email: 'ADA@ACME.test' })).toEqual({ account: { id, state: 'active' }, workspaces: listed });
    expect((await workspaces({ domain: null })).workspaces).toEqual([]);
  });

  it('[SIGN-03] come with the state of a disabled account; a deleted one has no address', async () => {
    const { id } = await identity.person({ email: EMAIL });
    await identity.admin('PUT', `accounts/${id}/state`, { state: 'disabled' });
    expect((await workspaces()).account).toEqual({ id, state: 'disabled' });
    await identity.admin('PUT', `accounts/${id}/state`, { state: 'deleted' });
    expect((await workspaces()).account).toBeNull();
  });

  it('[SIGN-04] are told to signup alone, and nothing is made by asking', async () => {
    await workspaces();
    expect(await accountsAt()).toEqual([]);
    for (const name of ['gateway', 'operator', 'bubbles-query'])
      expect((await identity.service(name)('POST', SIGNUP_CALLS.account.path, { email: EMAIL, domain: DOMAIN })).status).toBe(401);
  });

  it('[SIGN-04] [SIGN-05] are those of its own domain and of the ones above it, and may be joined', async () => {
    const part = await openTeam({ domain: 'eng.acme.test' });
    const tried = async (email: string) => [(await workspaces({ email })).workspaces.length, (await join(part, { email })).status];
    for (const email of ['ada@eng.acme.test', 'ada@mail.eng.acme.test']) expect(await tried(email)).toEqual([1, 200]);
    for (const email of [EMAIL, 'ada@sales.acme.test', 'ada@neng.acme.test']) expect(await tried(email)).toEqual([0, 403]);
  });

  it('[SIGN-04] are fifty at most', async () => {
    await Promise.all(Array.from({ length: 51 }, () => openTeam()));
    expect((await workspaces()).workspaces).toHaveLength(50);
  });
});

describe('joining a workspace', () => {
  it('[SIGN-05] [SIGN-11] makes the account with its membership in one write, and again changes nothing', async () => {
    const id = await openTeam();
    const { status, body } = await join(id);
    expect([status, body]).toEqual([200, { user_id: expect.any(String), team_id: id }]);
    const account = (await accountsAt())[0];
    expect(account).toMatchObject({ user_id: body.user_id, name: null, email: EMAIL, state: 'active', revision: 1 });
    expect(account.memberships).toEqual([{ team_id: id, role: 'member', hidden: false }]);
    await identity.settle();
    expect(identity.bus.published.map(({ data }) => data)).toEqual([
      { user_id: body.user_id, state: 'active', name: null, email: EMAIL, picture_url: null, revision: 1 },
    ]);
    expect((await join(id)).body).toEqual(body);
    expect((await accountsAt())[0]).toEqual(account);
    const [shown] = (await identity.as(await sessionOf(body.user_id))('GET', '/v1/api-keys')).body.data;
    expect(shown).toBeUndefined();
  });

  it.each([
    ['admin', { role: 'admin' }, { role: 'admin', hidden: false }],
    ['member', { role: 'member' }, { role: 'member', hidden: false }],
    ['guest', { role: 'guest' }, { role: 'member', hidden: false }],
    ['guest through a public link', { role: 'guest', hidden: true }, { role: 'member', hidden: false }],
  ])('[SIGN-05] leaves nobody with less: %s', async (_, before, after) => {
    const id = await openTeam();
    const ada = await identity.person({ email: EMAIL });
    await identity.join(id, ada.id, before);
    expect((await join(id)).body).toEqual({ user_id: ada.id, team_id: id });
    expect((await accountsAt())[0].memberships).toEqual([{ team_id: id, ...after }]);
  });

  it('[SIGN-05] is refused in the same words for every team that is not joinable, and makes nothing', async () => {
    const own = await openTeam();
    const others = [
      await openTeam({ discoverable: false }),
      await openTeam({ archived: true }),
      await openTeam({ domain: 'other.test' }),
      await identity.team({ discoverable: true }),
      'nowhere',
      '{"$ne":null}',
    ];
    for (const id of others) expect(refused(await join(id))).toEqual(NOT_JOINABLE);
    expect(refused(await join(own, { domain: null }))).toEqual(NOT_JOINABLE);
    expect(refused(await join(own, { email: 'ada@other.test', domain: 'other.test' }))).toEqual(NOT_JOINABLE);
    expect(await accountsAt()).toEqual([]);
  });

  it('[SIGN-03] is refused while the account is disabled; after a deletion there is a new account', async () => {
    const id = await openTeam();
    const ada = await identity.person({ email: EMAIL });
    await identity.admin('PUT', `accounts/${ada.id}/state`, { state: 'disabled' });
    expect(refused(await join(id))).toEqual(CLOSED);
    expect(refused(await create())).toEqual(CLOSED);
    expect(refused(await open())).toEqual(CLOSED);
    expect((await identity.admin('GET', 'teams')).body.teams).toHaveLength(1);
    await identity.admin('PUT', `accounts/${ada.id}/state`, { state: 'deleted' });
    expect((await join(id)).body.user_id).not.toBe(ada.id);
  });
});

describe('creating a workspace', () => {
  it('[SIGN-06] makes one a flow, with its admin, its channel and a trial', async () => {
    const { status, body } = await create();
    const trial_ends_at = new Date(identity.clock.now().getTime() + 14 * DAY_MS).toISOString();
    expect([status, body]).toEqual([200, { user_id: expect.any(String), team_id: expect.any(String), trial_ends_at }]);
    const made = await team(body.team_id);
    expect(made).toMatchObject({ name: 'Acme', plan: 'pro', trial_ends_at, archived: false, domain: null, discoverable: false });
    expect(made.channels).toEqual([{ id: expect.any(String), name: 'general', member_ids: null }]);
    expect((await accountsAt())[0].memberships).toEqual([{ team_id: body.team_id, role: 'admin', hidden: false }]);
    await identity.clock.advance(DAY_MS);
    expect((await create({ name: 'Another name' })).body).toEqual(body);
    expect(await team(body.team_id)).toEqual(made);
    expect((await identity.admin('GET', 'teams')).body.teams).toHaveLength(1);
  });

  it('[SIGN-06] makes a new account when the one that it made was deleted meanwhile', async () => {
    const { user_id, team_id } = (await create()).body;
    await identity.admin('PUT', `accounts/${user_id}/state`, { state: 'deleted' });
    const again = (await create()).body;
    expect([again.team_id, again.user_id === user_id]).toEqual([team_id, false]);
    expect(await accountsAt()).toMatchObject([{ user_id: again.user_id, memberships: [{ team_id, role: 'admin' }] }]);
  });

  it('[SIGN-06] leaves its admin a member when an operator has said so meanwhile', async () => {
    const { user_id, team_id } = (await create()).body;
    await identity.join(team_id, user_id, { role: 'member' });
    expect((await create()).status).toBe(200);
    expect((await accountsAt())[0].memberships).toEqual([{ team_id, role: 'member', hidden: false }]);
  });

  it('[SIGN-06] [KEY-05] is pro until the trial ends, wherever the plan is read', async () => {
    const { user_id, team_id } = (await create()).body;
    const session = await sessionOf(user_id);
    const { token } = (await identity.as(session)('POST', '/v1/api-keys', { name: 'first' })).body;
    const read = async () => {
      const access = (
        await identity.service('webhooks-dispatcher')('POST', '/internal/v1/access', { user_ids: [user_id], team_ids: [team_id] })
      ).body;
      const [shown] = (await identity.as(token)('GET', '/v1/teams')).body.data;
      const listed = (await identity.admin('GET', 'teams')).body.teams[0];
      const key = await identity.as(session)('POST', '/v1/api-keys', { name: 'more' });
      return [shown.plan, access.teams[0].plan, access.users[0].paid_features, (await team(team_id)).plan, listed.plan, key.status];
    };
    await identity.clock.advance(14 * DAY_MS - 1);
    const fresh = await sessionOf(user_id);
    expect((await identity.as(fresh)('GET', '/v1/api-keys')).status).toBe(200);
    expect(await read()).toEqual(['pro', 'pro', true, 'pro', 'pro', 201]);
    await identity.clock.advance(1);
    const ended = await identity.as(await sessionOf(user_id))('POST', '/v1/api-keys', { name: 'late' });
    expect([ended.status, ended.body.error.type]).toEqual([403, 'pro_plan_required']);
    expect((await read()).slice(0, 5)).toEqual(['free', 'free', false, 'free', 'free']);
  });

  it('[SIGN-06] an operator ends, extends and sets a trial; a plan that is set ends it', async () => {
    const { team_id } = (await create()).body;
    const patch = async (fields: object) => {
      const { plan, trial_ends_at } = (await identity.admin('PATCH', `teams/${team_id}`, fields)).body;
      return [plan, trial_ends_at];
    };
    const later = new Date(identity.clock.now().getTime() + 30 * DAY_MS).toISOString();
    expect(await patch({ trial_ends_at: later })).toEqual(['pro', later]);
    expect((await create()).body.trial_ends_at).toBe(later);
    expect(await patch({ plan: 'free' })).toEqual(['free', null]);
    expect((await create()).body.trial_ends_at).toBeNull();
    expect(await patch({ plan: 'free', trial_ends_at: later })).toEqual(['pro', later]);
    expect(await patch({ name: 'Acme Ltd' })).toEqual(['pro', later]);
    expect(await patch({ trial_ends_at: null })).toEqual(['free', null]);
    expect(await patch({ plan: 'pro' })).toEqual(['pro', null]);
    expect((await identity.admin('PATCH', `teams/${team_id}`, { trial_ends_at: 'tomorrow' })).status).toBe(400);
  });

  it('[SIGN-06] begins without a trial where there is none', async () => {
    await identity.stop();
    identity = await startIdentity({ environment: { PRO_TRIAL: '0s' } });
    const { team_id, trial_ends_at } = (await create()).body;
    expect([trial_ends_at, (await team(team_id)).plan]).toEqual([null, 'free']);
  });
});

describe('a team that an older release made', () => {
  it('[SIGN-04] [SIGN-06] has no trial, and is listed by its domain as before', async () => {
    const { id } = await identity.person({ email: EMAIL });
    const fields = { name: 'Old', archived: false, domain: DOMAIN, discoverable: true, channels: [], createdAt: new Date(0) };
    const stored = { version: 1, outbox: [], relayUntil: new Date(0), relayBy: null };
    for (const plan of ['free', 'pro']) {
      await identity.database.collection<Doc>('teams').insert({ _id: plan, plan, ...fields, ...stored } as Doc);
      await identity.join(plan, id);
    }
    const shown = (await identity.as(await sessionOf(id))('POST', '/v1/api-keys', { name: 'first' })).body.token;
    expect((await identity.as(shown)('GET', '/v1/teams')).body.data.map(({ plan }: { plan: string }) => plan)).toEqual(['free', 'pro']);
    expect([(await team('free')).trial_ends_at, (await team('pro')).trial_ends_at]).toEqual([null, null]);
    expect((await workspaces()).workspaces.map((one: { id: string }) => one.id)).toEqual(['free', 'pro']);
    expect((await identity.admin('PATCH', 'teams/free', { trial_ends_at: '2026-04-01T00:00:00Z' })).body.plan).toBe('pro');
  });
});

describe('opening a workspace to its domain', () => {
  it('[SIGN-07] lets others of the domain in, and again changes nothing', async () => {
    const { team_id } = (await create()).body;
    expect((await open()).body).toEqual({ team_id, domain: DOMAIN });
    expect((await open()).body).toEqual({ team_id, domain: DOMAIN });
    expect(await team(team_id)).toMatchObject({ domain: DOMAIN, discoverable: true });
    const ben = { email: 'ben@acme.test', flow_id: 'flow-0000000000000002' };
    expect((await workspaces(ben)).workspaces).toEqual([{ id: team_id, name: 'Acme' }]);
    expect((await join(team_id, ben)).status).toBe(200);
    expect(refused(await open({ ...ben, flow_id: FLOW }))).toEqual(NOT_OPENABLE);
  });

  it('[SIGN-07] comes after create only, and never undoes what an operator has said', async () => {
    const joinedTeam = await openTeam();
    await join(joinedTeam);
    expect(refused(await open())).toEqual(NOT_OPENABLE);
    const { team_id } = (await create()).body;
    expect(refused(await open({ flow_id: 'flow-0000000000000002' }))).toEqual(NOT_OPENABLE);
    await open();
    for (const fields of [{ discoverable: false }, { discoverable: true, domain: 'other.test' }, { domain: null, archived: true }]) {
      await identity.admin('PATCH', `teams/${team_id}`, fields);
      const before = await team(team_id);
      expect(refused(await open())).toEqual(NOT_OPENABLE);
      expect(await team(team_id)).toEqual(before);
    }
  });

  it('[SIGN-07] is for its admin only', async () => {
    const { team_id, user_id } = (await create()).body;
    await identity.join(team_id, user_id, { role: 'member' });
    expect(refused(await open())).toEqual(NOT_OPENABLE);
  });
});

describe('what signup may not send', () => {
  it.each([
    ['account', { email: 'nobody' }, 'email: must be an e-mail address'],
    ['account', { email: { $ne: null } }, 'email: '],
    ['account', { domain: 'cme.test' }, 'domain: must be the domain of the address'],
    ['account', { domain: 'other.test' }, 'domain: must be the domain of the address'],
    ['account', { domain: { $gt: '' } }, 'domain: '],
    ['account', { domain: undefined }, 'domain: is required'],
    ['join', { team_id: { $ne: null } }, 'team_id: '],
    ['join', { team_id: '' }, 'team_id: must not be empty'],
    ['create', { flow_id: 'short' }, 'flow_id: '],
    ['domainJoin', { flow_id: { $exists: true } }, 'flow_id: '],
    ['create', { name: '' }, 'name: must not be empty'],
    ['create', { name: ' \t ' }, 'name: must not be empty'],
    ['create', { name: '\u200b\u2060' }, 'name: must have a visible character'],
    ['create', { name: 'a\u0000b' }, 'name: must be well-formed text'],
    ['create', { name: 'a\u202eb' }, 'name: must not hold control characters'],
    ['create', { name: 'x'.repeat(321) }, 'name: must have at most 320 characters'],
    ['create', { name: { $set: 'x' } }, 'name: '],
    ['create', { email: 'a@b' }, 'email: must be an e-mail address'],
    ['domainJoin', { domain: null }, 'domain: '],
    ['domainJoin', { domain: 'ACME.test' }, 'domain: '],
  ] as const)('[SIGN-10] %s with %j is refused, and makes nothing', async (step, fields, message) => {
    const whole = { flow_id: FLOW, domain: DOMAIN, team_id: 'team', name: 'Acme' };
    const { status, body } = await ask(step, { ...whole, ...fields });
    expect([status, body.error.message.slice(0, message.length)]).toEqual([400, message]);
    expect([await accountsAt(), (await identity.admin('GET', 'teams')).body.teams]).toEqual([[], []]);
  });
});
