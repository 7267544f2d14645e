import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { send } from './support/client.ts';
import { openWorld } from './support/open-world.ts';
import type { Person, World } from './support/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const proUser = async (): Promise<Person> => {
  const person = await world.user();
  await world.team({ name: 'Pro', plan: 'pro', members: [{ user_id: person.id, role: 'member' }] });
  return person;
};
const create = (person: Person, name: unknown = 'a key') =>
  send(world.baseUrl, '/v1/api-keys', { method: 'POST', as: person.session_token, body: { name } });
const list = async (person: Person) => (await send(world.baseUrl, '/v1/api-keys', { as: person.session_token })).json.data;
const revoke = (person: Person, id: string) => send(world.baseUrl, `/v1/api-keys/${id}`, { method: 'DELETE', as: person.session_token });

describe('section 4, API keys', () => {
  it('[KEY-01] [KEY-02] [KEY-03] [GEN-10] a created key shows its token once', async () => {
    const person = await proUser();
    const answer = await create(person, '  my key  ');
    expect(answer.status).toBe(201);
    expect(Object.keys(answer.json).toSorted()).toEqual(['created_at', 'id', 'name', 'token', 'token_preview']);
    expect(answer.json.name).toBe('my key');
    expect(answer.json.token).toMatch(/^svc_pat_[A-Za-z0-9_-]{43,}$/);
    expect(answer.json.token_preview).toBe(`${answer.json.token.slice(0, 12)}…`);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(JSON.stringify(await list(person))).not.toContain(answer.json.token);
    expect((await send(world.baseUrl, '/v1/me', { as: answer.json.token })).json.id).toBe(person.id);
  });

  it.each(['', '   ', 'x'.repeat(101), 'a\nb', 'a\u0000b', { $gt: '' }, ['a'], 1, true, null])(
    '[KEY-01] [GEN-07] the name %j is refused',
    async (name) => {
      const answer = await create(await proUser(), name);
      expect(answer.status).toBe(400);
      expect(answer.json.error).toMatchObject({ type: 'invalid_request', message: expect.stringContaining('name') });
    },
  );

  it.each(['x', 'x'.repeat(100), '🎈'.repeat(100)])('[KEY-01] the name %s is taken', async (name) => {
    expect((await create(await proUser(), name)).status).toBe(201);
  });

  it.each(['free', 'guest', 'archived', 'none'])('[KEY-04] no paid-feature access (%s) is pro_plan_required', async (kind) => {
    const person = await world.user();
    const team = { name: 'T', plan: kind === 'free' ? 'free' : 'pro', archived: kind === 'archived' };
    if (kind !== 'none') await world.team({ ...team, members: [{ user_id: person.id, role: kind === 'guest' ? 'guest' : 'admin' }] });
    const answer = await create(person);
    expect([answer.status, answer.json.error.type]).toEqual([403, 'pro_plan_required']);
    expect((await send(world.baseUrl, '/v1/me', { as: person.pat })).status).toBe(200);
  });

  it('[KEY-05] [KEY-08] the cap of ten holds under twenty concurrent creates, and revoking frees a place', async () => {
    const person = await proUser();
    const answers = await Promise.all(Array.from({ length: 20 }, () => create(person)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(9);
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused.map(({ status, json }) => [status, json.error.type])).toEqual(Array(11).fill([409, 'invalid_request']));
    const keys = await list(person);
    expect(keys).toHaveLength(10);
    expect((await revoke(person, keys[0].id)).status).toBe(204);
    expect((await create(person)).status).toBe(201);
    expect((await create(person)).status).toBe(409);
  });

  it('[KEY-06] lists active keys only, newest first', async () => {
    const person = await proUser();
    const first = (await create(person, 'first')).json;
    const second = (await create(person, 'second')).json;
    await revoke(person, first.id);
    const keys = await list(person);
    expect(keys.map(({ name }: { name: string }) => name)).toEqual(['second', 'sandbox']);
    expect(Object.keys(keys[0]).toSorted()).toEqual(['created_at', 'id', 'last_used_at', 'name', 'token_preview']);
    expect(keys[0]).toMatchObject({ id: second.id, last_used_at: null });
  });

  it('[KEY-07] [AUTH-04] a revoked key is refused at once as token_revoked', async () => {
    const person = await proUser();
    const { id, token } = (await create(person)).json;
    expect((await send(world.baseUrl, '/v1/me', { as: token })).status).toBe(200);
    const answer = await revoke(person, id);
    expect([answer.status, answer.text]).toEqual([204, '']);
    const after = await send(world.baseUrl, '/v1/me', { as: token });
    expect([after.status, after.json.error.type]).toEqual([401, 'token_revoked']);
  });

  it('[KEY-07] unknown, revoked before and another user’s id are one 404', async () => {
    const person = await proUser();
    const other = (await create(await proUser())).json;
    const { id } = (await create(person)).json;
    await revoke(person, id);
    const answers = await Promise.all([
      revoke(person, id),
      revoke(person, other.id),
      revoke(person, 'no-such-key'),
      revoke(person, '__proto__'),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect((await send(world.baseUrl, '/v1/me', { as: other.token })).status).toBe(200);
  });

  it('[AUTH-02] [KEY-01] a personal access token is not accepted on key management', async () => {
    const person = await proUser();
    for (const method of ['GET', 'POST']) {
      const answer = await send(world.baseUrl, '/v1/api-keys', {
        method,
        as: person.pat,
        ...(method === 'POST' ? { body: { name: 'x' } } : {}),
      });
      expect([answer.status, answer.json.error.type]).toEqual([401, 'unauthorized']);
    }
    expect((await send(world.baseUrl, '/v1/api-keys/x', { method: 'DELETE', as: person.pat })).status).toBe(401);
  });
});
