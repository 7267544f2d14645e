import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Person, startIdentity, type TestIdentity } from './identity.ts';

describe('personal access tokens', () => {
  let identity: TestIdentity;
  let ada: Person;
  beforeEach(async () => {
    identity = await startIdentity();
    ada = await identity.person();
    await identity.join(await identity.team(), ada.id);
  });
  afterEach(() => identity.stop());

  const create = (name: unknown = 'ci', token = ada.session) => identity.as(token)('POST', '/v1/api-keys', { name });
  const list = async () => (await identity.as(ada.session)('GET', '/v1/api-keys')).body.data;
  const revoke = (id: string, token = ada.session) => identity.as(token)('DELETE', `/v1/api-keys/${id}`);
  const me = async (token: string) => (await identity.as(token)('GET', '/v1/me')).status;

  it('[KEY-01] [KEY-03] creates a key that works', async () => {
    const { status, body, headers } = await create('  my key ');
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.any(String),
      name: 'my key',
      token: expect.stringMatching(/^svc_pat_[\w-]{43}$/),
      token_preview: `${body.token.slice(0, 12)}…`,
      created_at: '2026-03-01T10:00:00.000Z',
    });
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('pragma')).toBe('no-cache');
    expect(await me(body.token)).toBe(200);
  });

  it.each([
    ['1 character', 'a', 201],
    ['100 characters', 'a'.repeat(100), 201],
    ['100 emoji', '🔑'.repeat(100), 201],
    ['none', '', 400],
    ['only blanks', '   ', 400],
    ['nothing that is seen', '\u200b\u200d\u3164\u2800\u0301', 400],
    ['a letter among what is not seen', '\u200bа\u0301', 201],
    ['101 characters', 'a'.repeat(101), 400],
    ['a line break', 'a\nb', 400],
    ['NUL', 'a\0b', 400],
    ['a direction override', 'a\u202eb', 400],
    ['a lone surrogate', 'a\ud800', 400],
    ['an object', { $gt: '' }, 400],
    ['a list', ['a'], 400],
    ['a number', 1, 400],
    ['null', null, 400],
  ])('[KEY-01] a name of %s', async (_what, name, status) => {
    const answer = await create(name);
    expect(answer.status).toBe(status);
    if (status === 400) expect(answer.body.error).toMatchObject({ type: 'invalid_request', message: expect.stringContaining('name') });
  });

  it('[KEY-02] [KEY-06] lists active keys, newest first, with previews only', async () => {
    const { body: second } = await create('second');
    const { body: third } = await create('third');
    await revoke(second.id);
    expect(await list()).toEqual([
      { id: third.id, name: 'third', token_preview: third.token_preview, created_at: third.created_at, last_used_at: null },
      { id: ada.patId, name: 'first', token_preview: expect.any(String), created_at: '2026-03-01T10:00:00.000Z', last_used_at: null },
    ]);
    expect(JSON.stringify(await list())).not.toContain(third.token);
  });

  it.each([
    ['no team', null],
    ['a guest of a pro team', { role: 'guest' }],
  ])('[KEY-04] %s: 403 pro_plan_required', async (_who, member) => {
    const ben = await identity.person();
    if (member) await identity.join(await identity.team(), ben.id, member);
    const { status, body } = await create('ci', ben.session);
    expect([status, body.error.type]).toEqual([403, 'pro_plan_required']);
  });

  it.each([{ plan: 'free' }, { archived: true }])('[KEY-04] a team with %j gives no paid features', async (fields) => {
    const ben = await identity.person();
    await identity.join(await identity.team(fields), ben.id, { role: 'admin' });
    expect((await create('ci', ben.session)).status).toBe(403);
  });

  it('[KEY-04] existing keys go on working when the plan ends', async () => {
    const ben = await identity.person();
    const team = await identity.team();
    await identity.join(team, ben.id);
    const { body } = await create('ci', ben.session);
    await identity.admin('PATCH', `teams/${team}`, { plan: 'free' });
    expect(await me(body.token)).toBe(200);
    expect((await create('ci', ben.session)).body.error.type).toBe('pro_plan_required');
  });

  it('[ERR-08] a bad name is told before the plan, the plan before the cap', async () => {
    const ben = await identity.person();
    expect((await create('', ben.session)).status).toBe(400);
    for (let i = 1; i < 10; i += 1) expect((await identity.admin('POST', `accounts/${ben.id}/keys`, { name: 'k' })).status).toBe(201);
    expect((await create('ci', ben.session)).body.error.type).toBe('pro_plan_required');
  });

  it('[KEY-05] the eleventh active key is refused', async () => {
    for (let i = 1; i < 10; i += 1) expect((await create()).status).toBe(201);
    const { status, body } = await create();
    expect([status, body.error.type]).toEqual([409, 'invalid_request']);
    expect(await list()).toHaveLength(10);
  });

  it('[KEY-05] twenty creates at once over two replicas at nine keys: one passes', async () => {
    const other = await startIdentity({ database: identity.database, clock: identity.clock });
    for (let i = 1; i < 9; i += 1) await create();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => (i % 2 ? identity : other).as(ada.session)('POST', '/v1/api-keys', { name: 'race' })),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, ...Array(19).fill(409)]);
    expect(await list()).toHaveLength(10);
    await other.stop();
  });

  it('[KEY-07] [AUTH-04] a revoked key is told as such at once, on every replica', async () => {
    const other = await startIdentity({ database: identity.database, clock: identity.clock });
    expect((await other.as(ada.pat)('GET', '/v1/me')).status).toBe(200);
    const { status, body } = await revoke(ada.patId);
    expect([status, body]).toEqual([204, null]);
    for (const replica of [identity, other]) expect((await replica.as(ada.pat)('GET', '/v1/me')).body.error.type).toBe('token_revoked');
    await other.stop();
  });

  it('[KEY-07] an unknown id, one revoked before and one of another user give the same 404', async () => {
    const ben = await identity.person();
    await revoke(ada.patId);
    const answers = await Promise.all(['nowhere', ada.patId, ben.patId].map((id) => revoke(id)));
    expect(new Set(answers.map(({ status, body }) => JSON.stringify([status, body]))).size).toBe(1);
    expect(answers[0]).toMatchObject({ status: 404, body: { error: { type: 'not_found' } } });
    expect(await me(ben.pat)).toBe(200);
  });

  it('[KEY-07] two revocations at once: one is answered 204, the other 404', async () => {
    const answers = await Promise.all([revoke(ada.patId), revoke(ada.patId)]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([204, 404]);
  });

  it('[KEY-08] revoking frees a place', async () => {
    for (let i = 1; i < 10; i += 1) await create();
    expect((await create()).status).toBe(409);
    await revoke(ada.patId);
    expect((await create()).status).toBe(201);
  });

  it('[KEY-09] last_used_at follows use within a minute', async () => {
    await me(ada.pat);
    const usedAt = identity.clock.now().toISOString();
    await identity.clock.advance(60_000);
    expect(await list()).toMatchObject([{ id: ada.patId, last_used_at: usedAt }]);
  });

  it('[KEY-09] uses are stored when the service settles and when it stops', async () => {
    await me(ada.pat);
    await identity.settle();
    expect(await list()).toMatchObject([{ last_used_at: identity.clock.now().toISOString() }]);

    const other = await startIdentity({ database: identity.database, clock: identity.clock });
    await identity.clock.advance(5000);
    await other.as(ada.pat)('GET', '/v1/me');
    await other.stop();
    expect(await list()).toMatchObject([{ last_used_at: identity.clock.now().toISOString() }]);
  });

  it('[AUTH-02] a personal access token is not taken for key management', async () => {
    for (const [method, path] of [
      ['POST', '/v1/api-keys'],
      ['GET', '/v1/api-keys'],
      ['DELETE', `/v1/api-keys/${ada.patId}`],
    ] as const) {
      const { status, body } = await identity.as(ada.pat)(method, path, method === 'POST' ? { name: 'ci' } : undefined);
      expect([status, body.error.type]).toEqual([401, 'unauthorized']);
    }
  });
});
