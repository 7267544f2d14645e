import { expect } from '@jest/globals';
import { type Checks, expectRawRefusal, expectRefusal, type Lab, NOT_FOUND, REFUSED, request, UNAUTHORIZED } from './lab.ts';

const refusedWith = (headers: (lab: Lab) => Promise<Readonly<Record<string, string>>>) => async (lab: Lab) => {
  for (const path of ['/v1/me', '/v1/bubbles']) expectRefusal(await lab.call(path, { headers: await headers(lab) }), UNAUTHORIZED);
};
const pat = async ({ world }: Lab) => (await world.user()).pat;
const keys = async (lab: Lab, as: string, method = 'GET', id = '') =>
  lab.call(`/v1/api-keys${id}`, { method, as, ...(method === 'POST' ? { body: { name: 'a key' } } : {}) });
const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Tokens in the form of a JWT that nobody of ours signed. */
const forgedJwts = (): string[] => {
  const now = Math.floor(Date.now() / 1000);
  const claims = [{ exp: now - 1 }, { nbf: now + 60 }, { iat: now + 9999 }, {}, { exp: now + 60, aud: 'other' }].map((more) => ({
    sub: 'x',
    ...more,
  }));
  return claims.flatMap((claim) => ['none', 'HS256', 'EdDSA'].map((alg) => `${base64({ alg, typ: 'at+jwt' })}.${base64(claim)}.AAAA`));
};

export const CREDENTIAL_CHECKS: Checks = {
  'AUTHNHEADER-01': async ({ call }) => {
    const answer = await call('/v1/me');
    expectRefusal(answer, UNAUTHORIZED);
    expect(answer.headers.get('www-authenticate')).toMatch(
      /^Bearer .*resource_metadata="http[^"]*\/\.well-known\/oauth-protected-resource"/,
    );
  },
  'AUTHNHEADER-03': refusedWith(async (lab) => ({ authorization: `Bearer${await pat(lab)}` })),
  'AUTHNHEADER-05': refusedWith(() => Promise.resolve({ authorization: 'Bearer ' })),
  'AUTHNHEADER-06': refusedWith(async (lab) => ({ authorization: `Basic ${Buffer.from(`user:${await pat(lab)}`).toString('base64')}` })),
  'AUTHNHEADER-08': refusedWith(async (lab) => ({ authorization: `Bearer ${await pat(lab)}, Bearer ${await pat(lab)}` })),
  'AUTHNHEADER-10': async (lab) => {
    const { head } = await expectRawRefusal(lab, request('GET /v1/me HTTP/1.1', [`Authorization: Bearer ${'x'.repeat(20_000)}`]));
    expect(head).toMatch(/^connection: close/im);
  },
  'AUTHNHEADER-11': async (lab) => {
    const token = await pat(lab);
    const bytes = request('GET /v1/me HTTP/1.1', [`Authorization: Bearer ${token}   `]);
    const statuses = await Promise.all([1, 2, 3].map(async () => (await lab.raw(bytes)).split(' ')[1]));
    expect(new Set(statuses)).toEqual(new Set(['200']));
  },
  'AUTHNHEADER-13': async (lab) => {
    const bytes = Buffer.from(request('GET /v1/me HTTP/1.1', ['Authorization: Bearer svc_pat_\xe9']), 'latin1');
    await expectRawRefusal(lab, bytes, 401);
  },
  'AUTHNHEADER-15': refusedWith(async ({ world }) => ({ cookie: `session=${(await world.user()).session_token}` })),
  'AUTHNHEADER-16': refusedWith(async (lab) => ({ 'x-api-key': await pat(lab) })),
  'AUTHNHEADER-18': refusedWith(async (lab) => ({ 'proxy-authorization': `Bearer ${await pat(lab)}` })),
  'AUTHNHEADER-20': async ({ call }) => {
    for (const as of forgedJwts()) for (const path of ['/v1/me', '/v1/bubbles']) expectRefusal(await call(path, { as }), UNAUTHORIZED);
  },
  'AUTHNHEADER-23': async (lab) => {
    const token = await pat(lab);
    for (let wave = 0; wave < 4; wave++) {
      const unknown = Array.from({ length: 250 }, (_, n) =>
        lab.call('/v1/me', { as: `svc_pat_${String(wave * 250 + n).padStart(43, 'A')}` }),
      );
      expect((await lab.call('/v1/me', { as: token })).status).toBe(200);
      expect(new Set((await Promise.all(unknown)).map(({ status }) => status))).toEqual(new Set([401]));
    }
  },
  'PAT-02': async (lab) => {
    const { session_token: as } = await lab.proUser();
    const { json } = await keys(lab, as, 'POST');
    expect(Buffer.from(json.token.slice('svc_pat_'.length), 'base64url').length).toBeGreaterThanOrEqual(32);
    expect(json.token_preview).toBe(`${json.token.slice(0, 12)}…`);
  },
  'PAT-03': async (lab) => {
    const { session_token: as } = await lab.proUser();
    const made = await keys(lab, as, 'POST');
    expect([made.headers.get('cache-control'), made.headers.get('pragma')]).toEqual(['no-store', 'no-cache']);
    for (const path of ['/v1/api-keys', '/v1/me']) expect((await lab.call(path, { as })).text).not.toContain(made.json.token.slice(12));
    expect(lab.sandbox.errors()).not.toContain(made.json.token.slice(12));
  },
  'PAT-05': async (lab) => {
    const { pat: as } = await lab.proUser();
    for (const [method, id] of [
      ['GET', ''],
      ['POST', ''],
      ['DELETE', '/x'],
    ] as const)
      expectRefusal(await keys(lab, as, method, id), UNAUTHORIZED);
  },
  'PAT-07': async (lab) => {
    const [mine, theirs] = [await lab.proUser(), await lab.proUser()];
    const { id, token } = (await keys(lab, theirs.session_token, 'POST')).json;
    const [other, absent] = [
      await keys(lab, mine.session_token, 'DELETE', `/${id}`),
      await keys(lab, mine.session_token, 'DELETE', '/absent'),
    ];
    expectRefusal(other, NOT_FOUND);
    expect(other.text).toBe(absent.text);
    expect((await lab.call('/v1/me', { as: token })).status).toBe(200);
  },
  'PAT-08': async (lab) => {
    const { session_token: as } = await lab.proUser();
    const { id } = (await keys(lab, as, 'POST')).json;
    expect((await keys(lab, as, 'DELETE', `/${id}`)).status).toBe(204);
    expectRefusal(await keys(lab, as, 'DELETE', `/${id}`), NOT_FOUND);
  },
  'PAT-10': async (lab) => {
    const { session_token: as } = await lab.proUser();
    for (let n = 1; n < 9; n++) expect((await keys(lab, as, 'POST')).status).toBe(201);
    const answers = await Promise.all(Array.from({ length: 20 }, () => keys(lab, as, 'POST')));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, ...Array(19).fill(409)]);
    for (const answer of answers.filter(({ status }) => status === 409)) expectRefusal(answer, [409, 'invalid_request']);
  },
  'PAT-12': async (lab) => {
    const { session_token: as } = await lab.proUser();
    const create = (name: string) => lab.call('/v1/api-keys', { method: 'POST', as, body: { name } });
    for (const name of ['x', 'x'.repeat(100), '🎈'.repeat(100)]) expect((await create(name)).status).toBe(201);
    for (const name of ['', 'x'.repeat(101), '🎈'.repeat(101), '   ', 'a\nb', 'a\u0000', '\ud800', 'a\u202eb'])
      expectRefusal(await create(name), REFUSED);
  },
  'PAT-13': async (lab) => {
    const { session_token: as } = await lab.proUser();
    for (const name of [{ $gt: '' }, ['a'], 1, true, null])
      expectRefusal(await lab.call('/v1/api-keys', { method: 'POST', as, body: { name } }), REFUSED);
  },
  'PAT-15': async (lab) => {
    const person = await lab.world.user();
    const answers = await Promise.all(Array.from({ length: 50 }, () => lab.call('/v1/me', { as: person.pat })));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const { json } = await keys(lab, person.session_token);
    expect(Math.abs(new Date(json.data[0].last_used_at ?? Date.now()).getTime() - Date.now())).toBeLessThan(60_000);
  },
  'SESSIONTOKENCONFUSION-03': async (lab) => {
    const { session_token: as } = await lab.proUser();
    expectRefusal(await lab.call('/v1/bubbles', { as }), UNAUTHORIZED);
    const body = { url: 'https://receiver.example.com/', events: ['bubble.ready'] };
    expect((await lab.call('/v1/webhooks', { method: 'POST', as, body })).status).toBe(201);
  },
  'SESSIONTOKENCONFUSION-07': async (lab) => {
    const { id } = await lab.world.user();
    const headers = { 'x-user-id': id, 'x-account': id, 'x-internal-assertion': 'x', x_internal_assertion: 'x', 'x-forwarded-user': id };
    for (const path of ['/v1/me', '/v1/bubbles']) expectRefusal(await lab.call(path, { headers }), UNAUTHORIZED);
  },
  'ACCOUNTSTATE-02': async (lab) => {
    const person = await lab.proUser();
    await lab.world.setState(person.id, 'disabled');
    for (const path of ['/v1/me', '/v1/bubbles', '/v1/webhooks', '/v1/meetings/join'])
      expectRefusal(await lab.call(path, { as: person.pat }), [401, 'account_deleted']);
    expectRefusal(await keys(lab, person.session_token), [401, 'account_deleted']);
  },
  'ACCOUNTSTATE-03': async (lab) => {
    const person = await lab.proUser();
    const { id, token } = (await keys(lab, person.session_token, 'POST')).json;
    await keys(lab, person.session_token, 'DELETE', `/${id}`);
    await lab.world.setState(person.id, 'disabled');
    await lab.world.setState(person.id, 'active');
    expect((await lab.call('/v1/me', { as: person.pat })).status).toBe(200);
    expectRefusal(await lab.call('/v1/me', { as: token }), [401, 'token_revoked']);
  },
};
