import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Answer, startDispatcher, TEAM, type TestDispatcher } from './dispatcher.ts';

let dispatcher: TestDispatcher;
beforeAll(async () => {
  dispatcher = await startDispatcher();
});
afterAll(() => dispatcher.stop());
beforeEach(() => {
  dispatcher.peers.setState('identity', 'up');
});

type Fields = Readonly<Record<string, unknown>>;
const REFUSED = [400, 'invalid_request'];
const NEW = { url: 'https://hooks.example.com/in', events: ['bubble.ready'] };
const refusal = ({ status, body }: Answer) => [status, body.error.type];
const create = (fields: Fields = {}) => dispatcher.call('POST', '', { ...NEW, ...fields });
const made = async (fields: Fields = {}) => (await create(fields)).body;
const without = (name: string, body: Fields) => Object.fromEntries(Object.entries(body).filter(([key]) => key !== name));

interface Endpoint {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
}
/** Everything that is done with one subscription. */
const ON_ONE: readonly Endpoint[] = [
  { method: 'GET', path: '' },
  { method: 'PATCH', path: '', body: {} },
  { method: 'DELETE', path: '' },
  { method: 'POST', path: '/test' },
  { method: 'GET', path: '/deliveries' },
  { method: 'POST', path: '/deliveries/dlv_1/redeliver' },
];
const ENDPOINTS: readonly Endpoint[] = [
  { method: 'POST', path: '', body: NEW },
  { method: 'GET', path: '' },
  ...ON_ONE.map(({ path, ...endpoint }) => ({ ...endpoint, path: `/wh_absent${path}` })),
];

describe('section 4, POST /v1/webhooks', () => {
  it('[AUTH-05] an account that was deleted and is open again has no subscription of before, and makes new ones', async () => {
    const { peers, call } = dispatcher;
    peers.user('phoenix', {});
    const as = { userId: 'phoenix' };
    const { body: old } = await call('POST', '', NEW, as);
    peers.user('phoenix', { life: 2 });
    expect((await call('GET', `/${old.id}`, undefined, as)).status).toBe(404);
    const { body: young } = await call('POST', '', NEW, as);
    expect((await call('GET', '', undefined, as)).body.data.map(({ id }: { id: string }) => id)).toEqual([young.id]);
  });

  it('[HOOK-01] [GEN-10] answers the subscription and, this once, its secret', async () => {
    const scope = { team_id: TEAM.id, space_id: 'channel' };
    const { status, headers, body } = await create({ ...scope, filters: { only_my_bubbles: false } });
    expect([status, headers.get('cache-control')]).toEqual([201, 'no-store']);
    expect(body).toEqual({
      id: expect.stringMatching(/^wh_[0-9a-f]{26}$/),
      ...NEW,
      ...scope,
      filters: { only_my_bubbles: false },
      status: 'active',
      created_at: dispatcher.clock.now().toISOString(),
      last_success_at: null,
      last_failure_at: null,
      disabled_at: null,
      disabled_reason: null,
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    });
    const later = [await dispatcher.call('GET', `/${body.id}`), await dispatcher.call('PATCH', `/${body.id}`, {})];
    expect(later.map((answer) => answer.body)).toEqual([without('secret', body), without('secret', body)]);
    expect((await dispatcher.call('GET')).text).not.toContain('whsec_');
  });

  it('[HOOK-01] the secret lies sealed in the store', async () => {
    const { id, secret } = await made();
    const doc = await dispatcher.database.collection('subscriptions').findOne({ _id: id });
    expect(JSON.stringify(doc)).not.toContain(secret.slice('whsec_'.length));
  });

  it('[HOOK-01] [GEN-05] what is not given is null, empty filters too; others are echoed as set', async () => {
    expect(await made()).toMatchObject({ team_id: null, space_id: null, filters: null });
    expect((await made({ filters: {} })).filters).toBeNull();
    const twice = { bubble_types: ['custom_image', 'custom_image'] };
    expect((await made({ filters: twice })).filters).toEqual({ bubble_types: ['custom_image'] });
    for (const filters of [{ only_my_bubbles: true }, { bubble_types: ['custom_image', 'meeting_recording'] }])
      expect((await made({ filters })).filters).toEqual(filters);
  });

  it('[HOOK-03] events that are repeated count once; unknown ones are refused', async () => {
    expect((await made({ events: ['bubble.ready', 'bubble.ready'] })).events).toEqual(['bubble.ready']);
    for (const events of [[], ['webhook.test'], ['nonsense'], null]) expect(refusal(await create({ events }))).toEqual(REFUSED);
    for (const filters of [{ bubble_types: [] }, { bubble_types: ['x'] }, { only_my_bubbles: 1 }])
      expect(refusal(await create({ filters }))).toEqual(REFUSED);
  });

  it.each(['https://10.0.0.1/', 'http://hooks.example.com/', 'https://localhost.localdomain.local/', 'nonsense'])(
    '[HOOK-10] the receiver %s is refused',
    async (url) => {
      expect(refusal(await create({ url }))).toEqual(REFUSED);
    },
  );

  it('[HOOK-01] a receiver has at most 2048 characters as it is sent: an emoji counts 12', async () => {
    const sized = (more: string) => ({ url: `https://hooks.example.com/${'🎈'.repeat(168)}${more}` });
    expect(await made(sized('abcdef'))).toMatchObject(sized('abcdef'));
    const tooLong = await create(sized('abcdefg'));
    expect(refusal(tooLong)).toEqual(REFUSED);
    expect(tooLong.body.error.message).toBe('url: must have at most 2048 characters, counted percent-encoded.');
  });

  it('[HOOK-01] a team or space that the caller does not see is forbidden; a space of another team is invalid', async () => {
    const visible_channel_ids = ['channel', 'second'];
    const membership = (team_id: string, hidden: boolean) => ({ team_id, role: 'member' as const, hidden, visible_channel_ids: [] });
    dispatcher.peers.user('eve', {
      memberships: [
        { ...membership('team', false), visible_channel_ids },
        { ...membership('other', false), visible_channel_ids: ['theirs'] },
        membership('hidden', true),
        membership('old', false),
      ],
    });
    for (const id of ['other', 'hidden']) dispatcher.peers.team(id);
    dispatcher.peers.team('old', { archived: true });
    const asEve = async (scope: Fields) => {
      const answer = await dispatcher.call('POST', '', { ...NEW, ...scope }, { userId: 'eve' });
      return answer.status === 201 ? 201 : refusal(answer);
    };
    for (const scope of [
      { team_id: 'unknown' },
      { team_id: 'hidden' },
      { team_id: 'old' },
      { space_id: 'closed' },
      { team_id: 'team', space_id: 'closed' },
    ])
      expect([scope, await asEve(scope)]).toEqual([scope, [403, 'forbidden']]);
    expect(await asEve({ team_id: 'team', space_id: 'theirs' })).toEqual(REFUSED);
    for (const scope of [{ team_id: 'other' }, { space_id: 'theirs' }, { team_id: 'team', space_id: 'second' }])
      expect([scope, await asEve(scope)]).toEqual([scope, 201]);
  });
});

describe('section 4, who may', () => {
  it.each(ENDPOINTS)(
    '[HOOK-02] [AUTH-07] $method /v1/webhooks$path takes a session only where one is made',
    async ({ method, path, body }) => {
      const { status } = await dispatcher.call(method, path, body, { kind: 'session', scopes: [] });
      expect(status).toBe(method === 'POST' && path === '' ? 201 : 401);
    },
  );

  it.each(ENDPOINTS)('[HOOK-02] [AUTH-06] $method /v1/webhooks$path needs the scope', async ({ method, path, body }) => {
    const answer = await dispatcher.call(method, path, body, { kind: 'oauth', scopes: ['bubbles:read', 'meetings:join'] });
    expect(refusal(answer)).toEqual([403, 'forbidden']);
  });

  it.each(ENDPOINTS)(
    '[HOOK-02] [ERR-08] $method /v1/webhooks$path needs paid features, before anything is said of what exists',
    async ({ method, path, body }) => {
      dispatcher.peers.user('poor', { paid_features: false });
      expect(refusal(await dispatcher.call(method, path, body, { userId: 'poor' }))).toEqual([403, 'pro_plan_required']);
    },
  );

  it.each(ENDPOINTS)(
    '[AUTH-05] $method /v1/webhooks$path is closed to an account that has been since it was admitted',
    async ({ method, path, body }) => {
      const { peers } = dispatcher;
      for (const state of ['disabled', 'deleted', 'unknown'] as const) {
        peers.user('closed', { state });
        expect(refusal(await dispatcher.call(method, path, body, { userId: 'closed' }))).toEqual([401, 'account_deleted']);
      }
    },
  );

  it.each(ENDPOINTS)('[ERR-05] $method /v1/webhooks$path is closed while identity cannot be asked', async ({ method, path, body }) => {
    dispatcher.peers.setState('identity', 'away');
    const answer = await dispatcher.call(method, path, body);
    expect(refusal(answer)).toEqual([500, 'internal_error']);
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
  });

  it.each(ON_ONE)(
    '[HOOK-04] $method /{id}$path of one that is absent, deleted or not the caller’s is one 404',
    async ({ method, path, body }) => {
      dispatcher.peers.user('bob');
      const [theirs, gone] = [await made(), await made()];
      await dispatcher.call('DELETE', `/${gone.id}`);
      const answers: Answer[] = [];
      for (const [id, userId] of [
        [theirs.id, 'bob'],
        [gone.id, 'ada'],
        ['wh_absent', 'ada'],
      ] as const)
        answers.push(await dispatcher.call(method, `/${id}${path}`, body, { userId }));
      expect(answers.map(refusal)).toEqual(answers.map(() => [404, 'not_found']));
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
      expect((await dispatcher.call('GET', `/${theirs.id}`)).body).toEqual(without('secret', theirs));
    },
  );

  it('[ERR-08] a fault of the request comes before the plan, the plan before rights, rights before 404', async () => {
    const poor = { userId: 'poor' };
    const bad = { ...NEW, url: 'https://10.0.0.1/' };
    const scoped = { ...NEW, team_id: 'unknown' };
    expect(refusal(await dispatcher.call('POST', '', bad, { ...poor, kind: 'oauth', scopes: [] }))).toEqual([403, 'forbidden']);
    expect(refusal(await dispatcher.call('POST', '', bad, poor))).toEqual(REFUSED);
    expect(refusal(await dispatcher.call('PATCH', '/wh_absent', { url: bad.url }, poor))).toEqual(REFUSED);
    expect(refusal(await dispatcher.call('GET', '/wh_absent/deliveries?cursor=x', undefined, poor))).toEqual(REFUSED);
    expect(refusal(await dispatcher.call('POST', '', scoped, poor))).toEqual([403, 'pro_plan_required']);
    expect(refusal(await dispatcher.call('POST', '', scoped))).toEqual([403, 'forbidden']);
  });
});

describe('section 4, reading and changing', () => {
  it('[HOOK-04] the list has those of the caller, newest first', async () => {
    dispatcher.peers.user('lister');
    const lister = { userId: 'lister' };
    const first = (await dispatcher.call('POST', '', NEW, lister)).body;
    await dispatcher.pass(1);
    const second = (await dispatcher.call('POST', '', NEW, lister)).body;
    expect((await dispatcher.call('GET', '', undefined, lister)).body).toEqual({
      data: [without('secret', second), without('secret', first)],
    });
  });

  it('[HOOK-04] [GEN-04] the list comes by pages when one is asked for, each subscription once', async () => {
    dispatcher.peers.user('pager');
    const list = (query: string, userId = 'pager') => dispatcher.call('GET', query, undefined, { userId });
    const ids: string[] = [];
    for (let n = 0; n < 5; n += 1) {
      if (n === 3) await dispatcher.pass(1);
      ids.unshift((await dispatcher.call('POST', '', NEW, { userId: 'pager' })).body.id);
    }
    const whole = (await list('')).body;
    expect(Object.keys(whole)).toEqual(['data']);
    const seen: unknown[] = [];
    let cursor: string | null = null;
    do {
      const { status, body }: Answer = await list(cursor === null ? '?limit=2' : `?limit=2&cursor=${cursor}`);
      expect([status, Object.keys(body).toSorted()]).toEqual([200, ['data', 'has_more', 'next_cursor']]);
      for (const one of body.data) seen.push(one);
      expect(body.has_more).toBe(body.next_cursor !== null);
      cursor = body.next_cursor;
    } while (cursor !== null);
    expect(seen).toEqual(whole.data);
    expect(seen.map((one) => Object(one).id).toSorted()).toEqual(ids.toSorted());
    expect((await list('?limit=5')).body).toEqual({ ...whole, has_more: false, next_cursor: null });

    const given = (await list('?limit=2')).body.next_cursor;
    expect((await list(`?cursor=${given}`)).body.data).toHaveLength(3);
    dispatcher.peers.user('thief');
    const refused = [await list('?limit=0'), await list('?limit=101'), await list('?cursor=x'), await list(`?cursor=${given}`, 'thief')];
    expect(refused.map(refusal)).toEqual(refused.map(() => REFUSED));
  });

  it('[HOOK-05] each field that is sent replaces the old value as a whole', async () => {
    const before = without('secret', await made({ filters: { bubble_types: ['custom_image'], only_my_bubbles: true } }));
    const patch = async (body: Fields) => (await dispatcher.call('PATCH', `/${String(before['id'])}`, body)).body;
    expect(await patch({})).toEqual(before);
    expect(await patch({ filters: { only_my_bubbles: true } })).toEqual({ ...before, filters: { only_my_bubbles: true } });
    expect(await patch({ filters: {} })).toEqual({ ...before, filters: null });
    const url = 'https://other.example.com/';
    expect(await patch({ url, events: ['screen_recording.ready'], status: 'active' })).toEqual({
      ...before,
      filters: null,
      url,
      events: ['screen_recording.ready'],
    });
  });

  it.each<Fields>([
    { status: 'disabled' },
    { events: [] },
    { url: 'https://10.0.0.1/' },
    { filters: null },
    { filters: { bubble_types: [] } },
  ])('[HOOK-05] %j is refused and changes nothing', async (patch) => {
    const before = await made();
    expect(refusal(await dispatcher.call('PATCH', `/${before.id}`, { events: ['screen_recording.ready'], ...patch }))).toEqual(REFUSED);
    expect((await dispatcher.call('GET', `/${before.id}`)).body).toEqual(without('secret', before));
  });

  it('[HOOK-06] deleting answers 204, and what is deleted is gone', async () => {
    const { id } = await made();
    const answer = await dispatcher.call('DELETE', `/${id}`);
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect((await dispatcher.call('DELETE', `/${id}`)).status).toBe(404);
  });
});
