import { AccountFacts } from '@bubbles/contracts/internal/identity.ts';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startIdentity, type TestIdentity } from './identity.ts';

describe('the internal API', () => {
  let identity: TestIdentity;
  beforeEach(async () => {
    identity = await startIdentity();
  });
  afterEach(() => identity.stop());

  const told = async () => {
    await identity.settle();
    return identity.bus.published.map(({ type, data, subject }) => ({ type, subject, facts: AccountFacts.parse(data) }));
  };

  it('creates an account with nothing known of it and without a key', async () => {
    const { status, body, headers } = await identity.admin('POST', 'accounts', {
      name: null,
      email: null,
      picture_url: null,
      key_name: null,
    });
    expect(status).toBe(201);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(body).toMatchObject({ account: { state: 'active', name: null, revision: 1, memberships: [], active_keys: [] }, key: null });
    expect(body.session).toEqual({
      id: expect.any(String),
      session_token: expect.stringMatching(/^svc_session_/),
      expires_at: '2026-03-15T10:00:00.000Z',
    });
  });

  it('tells every change of an account once, in order, with a rising revision', async () => {
    const ada = await identity.person({ email: null });
    await identity.admin('PATCH', `accounts/${ada.id}`, { name: 'Ada L.' });
    await identity.admin('PATCH', `accounts/${ada.id}`, { name: 'Ada L.' });
    await identity.join(await identity.team(), ada.id);
    await identity.admin('PUT', `accounts/${ada.id}/state`, { state: 'deleted' });
    const facts = { user_id: ada.id, email: null, picture_url: null };
    expect(await told()).toEqual(
      [
        { ...facts, state: 'active', name: 'Ada', revision: 1 },
        { ...facts, state: 'active', name: 'Ada L.', revision: 2 },
        { ...facts, state: 'deleted', name: null, revision: 3 },
      ].map((one) => ({ type: 'identity.account.changed.v1', subject: ada.id, facts: one })),
    );
  });

  it('deleting forgets name, e-mail and picture; reopening does not bring them back', async () => {
    const ada = await identity.person({ picture_url: 'https://acme.test/ada.png' });
    expect((await identity.admin('PUT', `accounts/${ada.id}/state`, { state: 'deleted' })).body).toMatchObject({
      state: 'deleted',
      name: null,
      email: null,
      picture_url: null,
    });
    // Not `ada` alone: three letters that a random id may hold too.
    expect(JSON.stringify(await identity.database.collection('accounts').find({}, { projection: { outbox: 0 } }))).not.toMatch(
      /Ada|ada@acme|ada\.png/,
    );
    expect((await identity.admin('PATCH', `accounts/${ada.id}`, { name: 'Ada' })).status).toBe(400);
    await identity.admin('PUT', `accounts/${ada.id}/state`, { state: 'active' });
    const { body: key } = await identity.admin('POST', `accounts/${ada.id}/keys`, { name: 'new' });
    expect((await identity.as(key.token)('GET', '/v1/me')).body).toEqual({ id: ada.id, name: null, email: null, picture_url: null });
  });

  it('[KEY-05] the cap holds for operators too', async () => {
    const ada = await identity.person();
    for (let i = 1; i < 10; i += 1) expect((await identity.admin('POST', `accounts/${ada.id}/keys`, { name: 'k' })).status).toBe(201);
    expect((await identity.admin('POST', `accounts/${ada.id}/keys`, { name: 'k' })).status).toBe(409);
  });

  it('issues further sessions', async () => {
    const ada = await identity.person();
    const { status, body } = await identity.admin('POST', `accounts/${ada.id}/sessions`);
    expect(status).toBe(201);
    expect((await identity.as(body.session_token)('GET', '/v1/api-keys')).status).toBe(200);
  });

  it('changes only the fields of a team that are given', async () => {
    const id = await identity.team({ domain: 'acme.test', discoverable: true });
    const { body } = await identity.admin('PATCH', `teams/${id}`, { archived: true });
    expect(body).toEqual({
      id,
      name: 'Acme',
      plan: 'pro',
      trial_ends_at: null,
      archived: true,
      domain: 'acme.test',
      discoverable: true,
      created_at: '2026-03-01T10:00:00.000Z',
      channels: [],
    });
    expect((await identity.admin('GET', `teams/${id}`)).body).toEqual(body);
  });

  it('lists accounts and teams page by page', async () => {
    const people = await Promise.all(Array.from({ length: 5 }, () => identity.person()));
    const ids: string[] = [];
    let after: string | null = null;
    do {
      const { body } = await identity.admin('GET', `accounts?limit=2${after === null ? '' : `&after=${after}`}`);
      for (const one of body.accounts.map(({ user_id }: { user_id: string }) => user_id)) ids.push(one);
      after = body.next_after;
    } while (after !== null);
    expect(ids).toEqual(people.map(({ id }) => id).toSorted());
    await identity.team();
    expect((await identity.admin('GET', 'teams')).body).toMatchObject({ teams: [{ name: 'Acme' }], next_after: null });
  });

  it('gives the snapshot that fills a projection', async () => {
    const ada = await identity.person({ email: null });
    expect((await identity.service('bubbles-query')('GET', '/internal/v1/accounts')).body).toEqual({
      version: 1,
      accounts: [{ user_id: ada.id, state: 'active', name: 'Ada', email: null, picture_url: null, revision: 1 }],
      next_after: null,
    });
  });

  it('tells the live state of accounts and teams in the order asked', async () => {
    const ada = await identity.person();
    const gus = await identity.person();
    const team = await identity.team();
    const general = (await identity.admin('POST', `teams/${team}/channels`, { name: 'general', member_ids: null })).body.id;
    const archived = await identity.team({ archived: true, plan: 'free' });
    await identity.join(team, ada.id);
    await identity.join(team, gus.id, { role: 'guest', hidden: true });
    await identity.admin('PUT', `accounts/${gus.id}/state`, { state: 'disabled' });
    const { body } = await identity.service('webhooks-dispatcher')('POST', '/internal/v1/access', {
      user_ids: [gus.id, 'nobody', ada.id],
      team_ids: ['nowhere', archived, team],
    });
    expect(body).toEqual({
      users: [
        {
          id: gus.id,
          state: 'disabled',
          paid_features: false,
          life: 1,
          memberships: [{ team_id: team, role: 'guest', hidden: true, visible_channel_ids: [] }],
        },
        { id: 'nobody', state: 'unknown', paid_features: false, life: 1, memberships: [] },
        {
          id: ada.id,
          state: 'active',
          paid_features: true,
          life: 1,
          memberships: [{ team_id: team, role: 'member', hidden: false, visible_channel_ids: [general] }],
        },
      ],
      teams: [
        { id: 'nowhere', known: false, plan: 'free', archived: true, channel_ids: [] },
        { id: archived, known: true, plan: 'free', archived: true, channel_ids: [] },
        { id: team, known: true, plan: 'pro', archived: false, channel_ids: [general] },
      ],
      by_email: [],
    });
  });

  it('[MEET-09] tells whose account an address is, however it is written, of those that have one', async () => {
    const ada = await identity.person({ email: 'ada@acme.example' });
    const team = await identity.team();
    await identity.join(team, ada.id);
    const { body } = await identity.service('meetings-bot-gateway')('POST', '/internal/v1/access', {
      user_ids: [],
      team_ids: [],
      emails: ['Ada@ACME.example', 'nobody@acme.example', 'no address'],
    });
    expect(body).toEqual({
      users: [],
      teams: [],
      by_email: [
        {
          email: 'Ada@ACME.example',
          user: {
            id: ada.id,
            state: 'active',
            paid_features: true,
            life: 1,
            memberships: [{ team_id: team, role: 'member', hidden: false, visible_channel_ids: [] }],
          },
        },
      ],
    });
  });

  it.each([
    ['GET', 'accounts/nobody', undefined],
    ['PATCH', 'accounts/nobody', { name: 'x' }],
    ['PUT', 'accounts/nobody/state', { state: 'active' }],
    ['POST', 'accounts/nobody/sessions', undefined],
    ['POST', 'accounts/nobody/keys', { name: 'k' }],
    ['DELETE', 'sessions/nobody', undefined],
    ['GET', 'teams/nowhere', undefined],
    ['PATCH', 'teams/nowhere', { plan: 'pro' }],
    ['PUT', 'teams/nowhere/members/nobody', { role: 'member' }],
    ['DELETE', 'teams/nowhere/members/nobody', undefined],
    ['POST', 'teams/nowhere/channels', { name: 'x', member_ids: null }],
  ])('%s %s is not found', async (method, path, body) => {
    expect((await identity.admin(method, path, body)).status).toBe(404);
  });

  it('a membership needs an account', async () => {
    const team = await identity.team();
    expect((await identity.admin('PUT', `teams/${team}/members/nobody`, { role: 'member' })).status).toBe(404);
    expect((await identity.admin('DELETE', `teams/${team}/members/nobody`)).status).toBe(404);
  });

  it.each(['gateway', 'bubbles-query'])('the admin API is the operators’ alone: %s is refused', async (name) => {
    expect((await identity.service(name)('GET', '/internal/v1/admin/accounts')).status).toBe(401);
  });
});
