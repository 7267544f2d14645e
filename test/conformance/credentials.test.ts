import { rawExchange } from '@bubbles/testing/raw-http.ts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { HOOK, hook, PAT_CALLS, SESSION_CALLS } from './support/authenticated-calls.ts';
import { type Answer, type Call, send } from './support/client.ts';
import { openWorld } from './support/open-world.ts';
import type { Person, World } from './support/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const call = (path: string, options: Call = {}) => send(world.baseUrl, path, options);
const refusal = ({ status, json }: Answer) => [status, json.error.type];
const proUser = async (): Promise<Person> => {
  const person = await world.user();
  await world.team({ name: 'Pro', plan: 'pro', members: [{ user_id: person.id, role: 'admin' }] });
  return person;
};
const named = (calls: typeof PAT_CALLS) => calls.map(([path, options]) => [options.method ?? 'GET', path, options] as const);

describe('section 5, which credential goes where', () => {
  it.each(named([...PAT_CALLS, ...SESSION_CALLS]))('[AUTH-01] [ERR-01] %s %s needs one', async (_method, path, options) => {
    for (const as of [undefined, 'svc_pat_unknown', 'svc_session_unknown', 'eyJhbGciOiJub25lIn0.e30.', 'x'.repeat(4000)]) {
      const answer = await call(path, { ...options, as });
      expect(refusal(answer)).toEqual([401, 'unauthorized']);
      expect(Object.keys(answer.json)).toEqual(['error']);
      expect(Object.keys(answer.json.error).toSorted()).toEqual(['message', 'type']);
    }
  });

  it('[AUTH-03] a personal access token reads and manages webhooks', async () => {
    const person = await proUser();
    for (const [path, options] of PAT_CALLS) expect([200, 201, 404]).toContain((await call(path, { ...options, as: person.pat })).status);
  });

  it.each(named(SESSION_CALLS))('[AUTH-02] %s %s takes no personal access token', async (_method, path, options) => {
    expect(refusal(await call(path, { ...options, as: (await proUser()).pat }))).toEqual([401, 'unauthorized']);
  });

  it('[AUTH-07] [HOOK-02] a session token is accepted where a subscription is made, and nowhere else on data endpoints', async () => {
    const person = await proUser();
    for (const [path, options] of PAT_CALLS) {
      const { status } = await call(path, { ...options, as: person.session_token });
      expect([path, options.method, status]).toEqual([path, options.method, path === '/v1/webhooks' && options === hook ? 201 : 401]);
    }
  });

  it.each(['disabled', 'deleted'] as const)('[AUTH-05] a %s account is refused on every endpoint with every credential', async (state) => {
    const person = await proUser();
    await world.setState(person.id, state);
    for (const [path, options] of PAT_CALLS)
      expect(refusal(await call(path, { ...options, as: person.pat }))).toEqual([401, 'account_deleted']);
    for (const [path, options] of [...SESSION_CALLS, ['/v1/webhooks', hook] as const])
      expect(refusal(await call(path, { ...options, as: person.session_token }))).toEqual([401, 'account_deleted']);
  });

  it('[AUTH-05] the kind of credential is judged last', async () => {
    const person = await proUser();
    await world.setState(person.id, 'disabled');
    expect(refusal(await call('/v1/api-keys', { as: person.pat }))).toEqual([401, 'account_deleted']);
    expect(refusal(await call('/v1/me', { as: person.session_token }))).toEqual([401, 'account_deleted']);
  });

  it('[AUTH-01] two Authorization headers are no credential, also the same one twice', async () => {
    const { pat } = await world.user();
    const line = `Authorization: Bearer ${pat}\r\n`;
    const host = `Host: ${new URL(world.baseUrl).host}\r\nConnection: close\r\n`;
    for (const path of ['/v1/me', '/v1/bubbles']) {
      const text = await rawExchange(world.baseUrl, `GET ${path} HTTP/1.1\r\n${host}${line}${line}\r\n`);
      expect(text).toMatch(/^HTTP\/1\.1 401 /);
      expect(await rawExchange(world.baseUrl, `GET ${path} HTTP/1.1\r\n${host}${line}\r\n`)).toMatch(/^HTTP\/1\.1 200 /);
    }
  });

  it('[AUTH-08] a token in a query or a cookie is none, and neither makes a good one bad', async () => {
    const person = await world.user();
    for (const name of ['access_token', 'token', 'authorization']) {
      expect((await call(`/v1/bubbles?${name}=${person.pat}`)).status).toBe(401);
      expect((await call('/v1/bubbles', { headers: { cookie: `${name}=${person.pat}` } })).status).toBe(401);
    }
    expect((await call('/v1/bubbles?access_token=x', { as: person.pat, headers: { cookie: 'a=b' } })).status).toBe(200);
  });

  it('[AUTH-09] [AUTH-01] headers that speak of an identity change nothing', async () => {
    const [person, other] = [await world.user(), await world.user()];
    const forged = { 'x-user-id': other.id, 'x-account': other.id, 'x-internal-assertion': 'x', 'x-forwarded-user': other.id };
    expect((await call('/v1/me', { as: person.pat, headers: forged })).json.id).toBe(person.id);
    expect((await call('/v1/bubbles', { headers: forged })).status).toBe(401);
  });
});

describe('section 8, the request rate', () => {
  const burst = async (as: string, count: number, path = '/v1/me') => {
    const answers = await Promise.all(Array.from({ length: count }, () => call(path, { as })));
    return { passed: answers.filter(({ status }) => status === 200).length, refused: answers.filter(({ status }) => status === 429) };
  };

  it('[RATE-01] [ERR-03] of 121 requests at once, over endpoints of different services, exactly 120 pass', async () => {
    const { pat } = await world.user();
    const [me, bubbles] = await Promise.all([burst(pat, 60), burst(pat, 61, '/v1/bubbles')]);
    expect(me.passed + bubbles.passed).toBe(120);
    const [refused] = [...me.refused, ...bubbles.refused];
    expect(refused?.json.error).toEqual({ type: 'rate_limited', message: expect.any(String) });
    expect(refused?.headers.get('retry-after')).toMatch(/^([1-9]|[1-5]\d|60)$/);
    expect(refused?.headers.get('cache-control')).toBe('no-store');
  });

  it('[RATE-04] two credentials of one user have budgets of their own', async () => {
    const person = await proUser();
    const second = (await call('/v1/api-keys', { method: 'POST', as: person.session_token, body: { name: 'second' } })).json.token;
    await burst(person.pat, 120);
    expect((await burst(person.pat, 1)).refused).toHaveLength(1);
    expect((await burst(second, 1)).passed).toBe(1);
    expect((await call('/v1/api-keys', { as: person.session_token })).status).toBe(200);
  });

  it('[RATE-04] what is refused after authentication counts, what is refused with 401 does not', async () => {
    const person = await world.user();
    const left = async () => (await call('/v1/me', { as: person.pat })).headers.get('ratelimit');
    expect(await left()).toMatch(/;r=119;/);
    for (const path of ['/v1/bubbles/x', '/v1/bubbles?limit=0', '/v1/webhooks']) await call(path, { as: person.pat });
    expect(await left()).toMatch(/;r=115;/);
    for (const [path, options] of SESSION_CALLS) await call(path, { ...options, as: person.pat });
    expect(await left()).toMatch(/;r=114;/);
    await call('/v1/nothing', { as: person.pat });
    await call('/v1/openapi.json', { as: person.pat });
    expect(await left()).toMatch(/;r=113;/);
  });

  it('[RATE-03] answers say how much is left', async () => {
    const { pat } = await world.user();
    for (const [path, left] of [
      ['/v1/me', 119],
      ['/v1/bubbles', 118],
      ['/v1/bubbles/x', 117],
    ] as const) {
      const { headers } = await call(path, { as: pat });
      expect(headers.get('ratelimit-policy')).toBe('"default";q=120;w=60');
      expect(headers.get('ratelimit')).toMatch(new RegExp(`^"default";r=${left};t=([1-9]|[1-5]\\d|60)$`));
    }
  });
});

describe('section 7, which refusal comes first', () => {
  it('[ERR-08] unknown path, credential, body, plan, resource', async () => {
    const free = await world.user();
    const pro = await proUser();
    const key = (as: string | undefined, name: unknown) => call('/v1/api-keys', { method: 'POST', as, body: { name } });
    expect(refusal(await call('/v1/nothing', { as: 'svc_pat_unknown' }))).toEqual([404, 'not_found']);
    expect(refusal(await key(undefined, 1))).toEqual([401, 'unauthorized']);
    expect(refusal(await key(free.session_token, 1))).toEqual([400, 'invalid_request']);
    expect(refusal(await key(free.session_token, 'a'))).toEqual([403, 'pro_plan_required']);
    const patch = (as: string, body: unknown) => call('/v1/webhooks/wh_absent', { method: 'PATCH', as, body });
    expect(refusal(await patch(free.pat, { status: 'off' }))).toEqual([400, 'invalid_request']);
    expect(refusal(await patch(free.pat, { status: 'active' }))).toEqual([403, 'pro_plan_required']);
    expect(refusal(await patch(pro.pat, { status: 'active' }))).toEqual([404, 'not_found']);
    const make = (as: string, fields: object) => call('/v1/webhooks', { method: 'POST', as, body: { ...HOOK, ...fields } });
    expect(refusal(await make(free.pat, { team_id: 'absent' }))).toEqual([403, 'pro_plan_required']);
    expect(refusal(await make(pro.pat, { team_id: 'absent' }))).toEqual([403, 'forbidden']);
    expect(refusal(await make(pro.pat, { team_id: 'absent', events: [] }))).toEqual([400, 'invalid_request']);
    expect(refusal(await call('/v1/bubbles/absent/comments?limit=0', { as: pro.pat }))).toEqual([400, 'invalid_request']);
  });

  it('[ERR-08] [ERR-02] too many requests come before everything but a bad path or credential', async () => {
    const person = await world.user();
    await Promise.all(Array.from({ length: 121 }, () => call('/v1/me', { as: person.pat })));
    for (const path of ['/v1/bubbles?limit=0', '/v1/bubbles/x', '/v1/webhooks'])
      expect(refusal(await call(path, { as: person.pat }))).toEqual([429, 'rate_limited']);
    expect(refusal(await call('/v1/nothing', { as: person.pat }))).toEqual([404, 'not_found']);
    expect(refusal(await call('/v1/api-keys', { as: person.pat }))).toEqual([401, 'unauthorized']);
  });
});
