import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Answer, send } from './support/client.ts';
import { openWorld } from './support/open-world.ts';
import { REFUSED_RECEIVERS } from './support/refused-receivers.ts';
import { shapeFaults } from './support/shape.ts';
import type { Person, TeamScene, World } from './support/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

type Fields = Readonly<Record<string, unknown>>;
const URL = 'https://receiver.example.com/hook?x=%20y#z';
const BODY = { url: URL, events: ['bubble.ready'] };
const FORBIDDEN = [403, 'forbidden'];
const REFUSED = [400, 'invalid_request'];
const NOT_FOUND = [404, 'not_found'];

const refusal = ({ status, json }: Answer) => [status, json.error.type];
const proUser = async (): Promise<Person & { readonly team: TeamScene }> => {
  const person = await world.user();
  const channels = [{ name: 'general' }, { name: 'others', member_ids: [] }];
  return { ...person, team: await world.team({ name: 'Pro', plan: 'pro', members: [{ user_id: person.id, role: 'member' }], channels }) };
};
const call = (person: Person, method: string, path = '', body?: unknown) =>
  send(world.baseUrl, `/v1/webhooks${path}`, { method, as: person.pat, body });
const create = (person: Person, fields: Fields = {}) => call(person, 'POST', '', { ...BODY, ...fields });
const made = async (person: Person, fields: Fields = {}) => {
  const answer = await create(person, fields);
  if (answer.status !== 201) throw new Error(answer.text);
  return answer.json;
};
const without = (name: string, body: Fields) => Object.fromEntries(Object.entries(body).filter(([key]) => key !== name));

describe('section 4, making a subscription', () => {
  it('[HOOK-01] [GEN-10] it answers the subscription and, this once, its secret', async () => {
    const person = await proUser();
    const scope = { team_id: person.team.id, space_id: person.team.channels['general'] };
    const answer = await create(person, { ...scope, filters: { bubble_types: ['custom_image'], only_my_bubbles: true } });
    expect(answer.status).toBe(201);
    expect(shapeFaults('WebhookSubscriptionCreated', answer.json)).toEqual([]);
    expect(answer.json).toMatchObject({
      id: expect.stringMatching(/^wh_[A-Za-z0-9_-]+$/),
      url: URL,
      events: ['bubble.ready'],
      ...scope,
      filters: { bubble_types: ['custom_image'], only_my_bubbles: true },
      status: 'active',
      last_success_at: null,
      last_failure_at: null,
      disabled_at: null,
      disabled_reason: null,
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/_=-]{40,}$/),
    });
    expect([answer.headers.get('cache-control'), answer.headers.get('pragma')]).toEqual(['no-store', 'no-cache']);
    const later = await Promise.all([
      call(person, 'GET'),
      call(person, 'GET', `/${answer.json.id}`),
      call(person, 'PATCH', `/${answer.json.id}`, {}),
    ]);
    for (const { text } of later) expect(text).not.toMatch(/whsec_|secret/);
  });

  it('[HOOK-01] [GEN-05] what is not given is null; empty filters are none; filters are echoed as set', async () => {
    const person = await proUser();
    expect(await made(person)).toMatchObject({ team_id: null, space_id: null, filters: null });
    expect((await made(person, { filters: {} })).filters).toBeNull();
    for (const filters of [{ only_my_bubbles: false }, { bubble_types: ['meeting_recording', 'screen_recording'] }])
      expect((await made(person, { filters })).filters).toEqual(filters);
  });

  it('[HOOK-03] events that are repeated count once', async () => {
    const events = ['screen_recording.ready', 'bubble.ready', 'screen_recording.ready'];
    expect((await made(await proUser(), { events })).events).toEqual(['screen_recording.ready', 'bubble.ready']);
  });

  it.each<Fields>([
    { events: [] },
    { events: ['webhook.test'] },
    { events: ['bubble.*'] },
    { events: 'bubble.ready' },
    { events: null },
    { events: [{ $ne: 1 }] },
    { filters: null },
    { filters: [] },
    { filters: { bubble_types: [] } },
    { filters: { bubble_types: ['webinar'] } },
    { filters: { bubble_types: 'custom_image' } },
    { filters: { bubble_types: null } },
    { filters: { bubble_types: { $in: [] } } },
    { filters: { only_my_bubbles: 'yes' } },
    { filters: { only_my_bubbles: null } },
    { team_id: null },
    { team_id: '' },
    { team_id: 1 },
    { space_id: {} },
  ])('[HOOK-03] [GEN-07] %j is refused', async (fields) => {
    const answer = await create(await proUser(), fields);
    expect(refusal(answer)).toEqual(REFUSED);
    expect(answer.json.error.message).toContain(Object.keys(fields)[0]);
  });

  it('[HOOK-01] url and events are needed', async () => {
    const person = await proUser();
    for (const name of ['url', 'events']) {
      const answer = await call(person, 'POST', '', without(name, BODY));
      expect([...refusal(answer), answer.json.error.message]).toEqual([...REFUSED, expect.stringContaining(name)]);
    }
  });

  it.each(REFUSED_RECEIVERS)('[HOOK-10] [HOOK-01] the receiver %s is refused, also by a change', async (url) => {
    const person = await proUser();
    const { id } = await made(person);
    const answers = [await create(person, { url }), await call(person, 'PATCH', `/${id}`, { url })];
    for (const answer of answers) {
      expect(refusal(answer)).toEqual(REFUSED);
      expect(answer.json.error.message).toContain('url');
    }
    expect((await call(person, 'GET', `/${id}`)).json.url).toBe(URL);
  });

  it('[HOOK-01] a scope that is unknown or not visible is forbidden, whichever it is; a space of another team is refused', async () => {
    const [person, other] = [await proUser(), await proUser()];
    const second = await world.team({
      name: 'Second',
      plan: 'free',
      members: [{ user_id: person.id, role: 'guest' }],
      channels: [{ name: 'open', member_ids: [person.id] }, { name: 'closed' }],
    });
    const hidden = await world.team({ name: 'H', plan: 'pro', members: [{ user_id: person.id, role: 'guest', hidden: true }] });
    const answers = await Promise.all(
      [
        { team_id: 'absent' },
        { team_id: other.team.id },
        { team_id: hidden.id },
        { space_id: 'absent' },
        { space_id: other.team.channels['general'] },
        { space_id: person.team.channels['others'] },
        { space_id: second.channels['closed'] },
      ].map((scope) => create(person, scope)),
    );
    expect(answers.map(refusal)).toEqual(answers.map(() => FORBIDDEN));
    expect(new Set(answers.slice(0, 3).map(({ text }) => text)).size).toBe(1);
    expect(new Set(answers.slice(3).map(({ text }) => text)).size).toBe(1);
    expect(refusal(await create(person, { team_id: person.team.id, space_id: second.channels['open'] }))).toEqual(REFUSED);
    expect((await create(person, { team_id: second.id, space_id: second.channels['open'] })).status).toBe(201);
  });

  it.each(['free', 'guest', 'archived', 'none'])(
    '[HOOK-02] without paid-feature access (%s) nothing is said of what exists',
    async (kind) => {
      const person = await world.user();
      const team = { name: 'T', plan: kind === 'free' ? 'free' : 'pro', archived: kind === 'archived' };
      if (kind !== 'none') await world.team({ ...team, members: [{ user_id: person.id, role: kind === 'guest' ? 'guest' : 'admin' }] });
      const { id } = await made(await proUser());
      const answers = [
        await create(person),
        await call(person, 'GET'),
        await send(world.baseUrl, '/v1/webhooks', { method: 'POST', as: person.session_token, body: BODY }),
      ];
      for (const path of [`/${id}`, '/wh_absent']) {
        for (const method of ['GET', 'DELETE']) answers.push(await call(person, method, path));
        answers.push(
          await call(person, 'PATCH', path, {}),
          await call(person, 'POST', `${path}/test`),
          await call(person, 'GET', `${path}/deliveries`),
        );
      }
      expect(answers.map(refusal)).toEqual(answers.map(() => [403, 'pro_plan_required']));
    },
  );
});

describe('section 4, reading, changing and deleting', () => {
  it('[HOOK-04] list and single carry every field, newest first', async () => {
    const person = await proUser();
    const [first, second] = [await made(person), await made(person, { events: ['screen_recording.ready'] })];
    const { json } = await call(person, 'GET');
    expect(shapeFaults('WebhookSubscriptionList', json)).toEqual([]);
    expect(json.data).toEqual([without('secret', second), without('secret', first)]);
    const page = (await call(person, 'GET', '?limit=1')).json;
    expect(page).toEqual({ data: [without('secret', second)], has_more: true, next_cursor: expect.any(String) });
    const last = (await call(person, 'GET', `?cursor=${page.next_cursor}`)).json;
    expect(last).toEqual({ data: [without('secret', first)], has_more: false, next_cursor: null });
    const one = (await call(person, 'GET', `/${first.id}`)).json;
    expect(shapeFaults('WebhookSubscription', one)).toEqual([]);
    expect(one).toEqual(without('secret', first));
  });

  it('[HOOK-04] [HOOK-06] absent, another’s and deleted ones are one 404', async () => {
    const [person, other] = [await proUser(), await proUser()];
    const [theirs, gone] = [await made(other), await made(person)];
    const answer = await call(person, 'DELETE', `/${gone.id}`);
    expect([answer.status, answer.text]).toEqual([204, '']);
    for (const [method, below, body] of [
      ['GET', '', undefined],
      ['PATCH', '', {}],
      ['DELETE', '', undefined],
      ['POST', '/test', undefined],
      ['GET', '/deliveries', undefined],
      ['POST', '/deliveries/dlv_x/redeliver', undefined],
      ['GET', '/deliveries/dlv_x', undefined],
      ['POST', '/secret', {}],
      ['POST', '/replay', { since: '2026-01-01T00:00:00Z' }],
      ['GET', '/failures', undefined],
    ] as const) {
      const answers = await Promise.all(
        [theirs.id, gone.id, 'wh_absent', '__proto__', 'constructor', theirs.id.toUpperCase()].map((id) =>
          call(person, method, `/${id}${below}`, body),
        ),
      );
      expect(answers.map(refusal)).toEqual(answers.map(() => NOT_FOUND));
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    }
    expect((await call(person, 'GET')).json.data).toEqual([]);
    expect((await call(other, 'GET', `/${theirs.id}`)).json).toEqual(without('secret', theirs));
  });

  it('[HOOK-05] each field that is sent replaces the old one, the others stay', async () => {
    const person = await proUser();
    const before = await made(person, { filters: { bubble_types: ['custom_image'], only_my_bubbles: true } });
    const patch = async (body: unknown) => {
      const { status, json } = await call(person, 'PATCH', `/${before.id}`, body);
      expect([status, shapeFaults('WebhookSubscription', json)]).toEqual([200, []]);
      return json;
    };
    const known = without('secret', before);
    expect(await patch({})).toEqual(known);
    expect(await patch({ filters: { only_my_bubbles: true } })).toEqual({ ...known, filters: { only_my_bubbles: true } });
    expect(await patch({ filters: {} })).toEqual({ ...known, filters: null });
    expect(await patch({ url: 'https://other.example.com/' })).toEqual({ ...known, filters: null, url: 'https://other.example.com/' });
    const last = await patch({ events: ['meeting_recording.ready', 'bubble.ready'], status: 'active' });
    expect(last).toEqual({
      ...known,
      filters: null,
      url: 'https://other.example.com/',
      events: ['meeting_recording.ready', 'bubble.ready'],
    });
    expect((await call(person, 'GET', `/${before.id}`)).json).toEqual(last);
  });

  it.each<Fields>([
    { status: 'disabled' },
    { status: null },
    { status: true },
    { events: [] },
    { events: ['x'] },
    { url: 'http://receiver.example.com' },
    { url: null },
    { filters: null },
    { filters: { bubble_types: [] } },
  ])('[HOOK-05] the change %j is refused and changes nothing', async (body) => {
    const person = await proUser();
    const before = await made(person);
    const answer = await call(person, 'PATCH', `/${before.id}`, { events: ['screen_recording.ready'], ...body });
    expect([...refusal(answer), answer.json.error.message]).toEqual([...REFUSED, expect.stringContaining(Object.keys(body)[0] ?? '')]);
    expect((await call(person, 'GET', `/${before.id}`)).json).toEqual(without('secret', before));
  });

  it('[HOOK-05] [GEN-07] fields that may not be changed are ignored', async () => {
    const person = await proUser();
    const before = await made(person);
    const forged = {
      id: 'wh_x',
      secret: 'whsec_x',
      team_id: 'x',
      space_id: 'x',
      user_id: 'x',
      owner_id: 'x',
      created_at: 'x',
      disabled_at: 'x',
      fails: 9,
    };
    const { status, json } = await call(person, 'PATCH', `/${before.id}`, { ...forged, filters: { $where: '1', only_my_bubbles: true } });
    expect([status, json]).toEqual([200, { ...without('secret', before), filters: { only_my_bubbles: true } }]);
  });

  it('[HOOK-07] a test is queued', async () => {
    const person = await proUser();
    const { id } = await made(person);
    const { status, json } = await call(person, 'POST', `/${id}/test`);
    expect([status, json]).toEqual([202, { id: expect.stringMatching(/^dlv_/), type: 'webhook.test', status: 'queued' }]);
  });
});
