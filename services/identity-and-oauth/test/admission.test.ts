import { createAssertionAuthenticator, createAssertionKeys } from '@bubbles/auth/assertions.ts';
import type { Database, Doc } from '@bubbles/store/collection.ts';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { hashToken } from '../src/domain/token.ts';
import { type Answer, type Person, startIdentity, type TestIdentity } from './identity.ts';

const DAY_MS = 86_400_000;

/** A store that counts the reads of many. */
const countedFinds = () => {
  const database = memoryDatabase();
  let count = 0;
  const counted: Database = {
    ...database,
    collection: <T extends Doc>(name: string) => {
      const collection = database.collection<T>(name);
      const find: typeof collection.find = (...query) => {
        count += 1;
        return collection.find(...query);
      };
      return { ...collection, find };
    },
  };
  return { database: counted, finds: () => count };
};

describe('admission', () => {
  let identity: TestIdentity;
  let ada: Person;
  beforeEach(async () => {
    identity = await startIdentity();
    ada = await identity.person();
  });
  afterEach(() => identity.stop());

  const me = (token: string | null) => identity.as(token)('GET', '/v1/me');
  const keys = (token: string | null) => identity.as(token)('GET', '/v1/api-keys');
  const refusal = ({ status, body }: Answer) => [status, body.error?.type];
  const check = (token: string, fields: object = {}) => ({
    h: hashToken(token),
    jwt: null,
    aud: 'bubbles-query',
    accepts: ['pat', 'oauth'],
    ...fields,
  });
  const checks = async (...list: object[]) =>
    (await identity.service('gateway')('POST', '/internal/v1/checks', { checks: list })).body.answers;
  const setState = (state: string) => identity.admin('PUT', `accounts/${ada.id}/state`, { state });

  it('[AUTH-01] [ERR-04] no credential: 401 with the way to get one', async () => {
    const answer = await me(null);
    expect(refusal(answer)).toEqual([401, 'unauthorized']);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer resource_metadata="https://api.test/.well-known/oauth-protected-resource"');
  });

  it.each(['svc_pat_unknown', 'svc_session_unknown', 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.c2ln'])(
    '[AUTH-01] %s is unknown',
    async (token) => {
      expect(refusal(await me(token))).toEqual([401, 'unauthorized']);
    },
  );

  it('[AUTH-07] a session token is not taken on data endpoints, and is on key management', async () => {
    expect(refusal(await me(ada.session))).toEqual([401, 'unauthorized']);
    expect((await keys(ada.session)).status).toBe(200);
  });

  it('[AUTH-10] a session lives 14 days', async () => {
    await identity.clock.advance(14 * DAY_MS - 1);
    expect((await keys(ada.session)).status).toBe(200);
    await identity.clock.advance(1);
    expect(refusal(await keys(ada.session))).toEqual([401, 'unauthorized']);
  });

  it('[AUTH-10] a session ends at sign-out, once', async () => {
    expect((await identity.admin('DELETE', `sessions/${ada.sessionId}`)).status).toBe(204);
    expect(refusal(await keys(ada.session))).toEqual([401, 'unauthorized']);
    expect((await identity.admin('DELETE', `sessions/${ada.sessionId}`)).status).toBe(404);
  });

  it.each(['disabled', 'deleted'])('[AUTH-05] an account that is %s: 401 account_deleted for every credential', async (state) => {
    const { body: second } = await identity.admin('POST', `accounts/${ada.id}/keys`, { name: 'second' });
    await identity.as(ada.session)('DELETE', `/v1/api-keys/${second.id}`);
    expect(refusal(await me(second.token))).toEqual([401, 'token_revoked']);
    await setState(state);
    expect(refusal(await me(ada.pat))).toEqual([401, 'account_deleted']);
    expect(refusal(await me(second.token))).toEqual([401, 'account_deleted']);
    expect(refusal(await keys(ada.session))).toEqual([401, 'account_deleted']);
    expect(refusal(await keys(ada.pat))).toEqual([401, 'account_deleted']);
    await identity.clock.advance(15 * DAY_MS);
    expect(refusal(await keys(ada.session))).toEqual([401, 'account_deleted']);
  });

  it('[AUTH-05] what was open before works again when the account does, and what was revoked stays so', async () => {
    await identity.as(ada.session)('DELETE', `/v1/api-keys/${ada.patId}`);
    await setState('disabled');
    await setState('active');
    expect((await keys(ada.session)).status).toBe(200);
    expect(refusal(await me(ada.pat))).toEqual([401, 'token_revoked']);
  });

  it('[AUTH-05] an account that was deleted and is opened again has nothing of before: keys are revoked, sessions and memberships ended', async () => {
    const team = await identity.team();
    await identity.join(team, ada.id);
    await setState('deleted');
    expect([refusal(await me(ada.pat)), refusal(await keys(ada.session))]).toEqual(Array(2).fill([401, 'account_deleted']));
    const granted = await identity.admin('POST', `accounts/${ada.id}/keys`, { name: 'granted while it was deleted' });
    await setState('active');
    expect(refusal(await me(ada.pat))).toEqual([401, 'token_revoked']);
    expect(refusal(await me(granted.body.token))).toEqual([401, 'token_revoked']);
    expect(refusal(await keys(ada.session))).toEqual([401, 'unauthorized']);
    const { body } = await identity.admin('POST', `accounts/${ada.id}/sessions`);
    expect((await keys(body.session_token)).body).toEqual({ data: [] });
    const access = await identity.service('webhooks-dispatcher')('POST', '/internal/v1/access', { user_ids: [ada.id], team_ids: [] });
    expect(access.body.users).toEqual([{ id: ada.id, state: 'active', paid_features: false, life: 2, memberships: [] }]);
    await setState('deleted');
    await setState('active');
    expect(refusal(await keys(body.session_token))).toEqual([401, 'unauthorized']);
  });

  it('[RATE-01] [RATE-02] [RATE-03] the 121st request waits as long as it is told', async () => {
    for (let i = 0; i < 119; i += 1) await me(ada.pat);
    const last = await me(ada.pat);
    expect(last.headers.get('ratelimit-policy')).toBe('"default";q=120;w=60');
    expect(last.headers.get('ratelimit')).toBe('"default";r=0;t=60');
    await identity.clock.advance(12_500);
    const refused = await me(ada.pat);
    expect(refusal(refused)).toEqual([429, 'rate_limited']);
    expect(refused.headers.get('retry-after')).toBe('48');
    expect(refused.headers.get('cache-control')).toBe('no-store');
    await identity.clock.advance(47_000);
    expect((await me(ada.pat)).status).toBe(429);
    await identity.clock.advance(1000);
    expect((await me(ada.pat)).status).toBe(200);
  });

  it('[RATE-01] own routes and checks for others share one budget; [RATE-04] refused ones count only after authentication', async () => {
    await checks(...Array.from({ length: 60 }, () => check(ada.pat)));
    for (let i = 0; i < 60; i += 1) await identity.as(ada.pat)('GET', i % 2 ? '/v1/me' : '/v1/teams');
    expect(await checks(check(ada.pat))).toEqual([
      { h: hashToken(ada.pat), outcome: 'limited', retry_after_seconds: 60, limit: 120, remaining: 0, reset_seconds: 60 },
    ]);
    expect((await keys(ada.pat)).status).toBe(401);
    const bad = await identity.as(ada.session)('POST', '/v1/api-keys', { name: '' });
    expect([bad.status, bad.headers.get('ratelimit')]).toEqual([400, '"default";r=119;t=60']);
  });

  it('[RATE-01] 121 at once: 120 pass', async () => {
    const answers = await Promise.all(Array.from({ length: 121 }, () => me(ada.pat)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([...Array(120).fill(200), 429]);
  });

  it('[RATE-04] two credentials of one user have separate budgets', async () => {
    const { body: second } = await identity.admin('POST', `accounts/${ada.id}/keys`, { name: 'second' });
    await checks(...Array.from({ length: 120 }, () => check(ada.pat)));
    expect((await me(ada.pat)).status).toBe(429);
    expect((await me(second.token)).headers.get('ratelimit')).toBe('"default";r=119;t=60');
  });

  it('checks are answered by index with the hash they ask for, each for its own caller', async () => {
    const people = [ada, ...(await Promise.all([identity.person(), identity.person()]))];
    const order = Array.from({ length: 40 }, (_, i) => people[(i * 7) % 3] ?? ada);
    const verifier = createAssertionAuthenticator({
      audience: 'bubbles-query',
      clock: identity.clock,
      keys: createAssertionKeys({
        clock: identity.clock,
        fetchKeys: async () => (await identity.service('bubbles-query')('GET', '/internal/v1/assertion-keys')).body,
      }),
    });
    const answers: { h: string; assertion: string }[] = await checks(...order.map(({ pat }) => check(pat)));
    expect(answers.map(({ h }) => h)).toEqual(order.map(({ pat }) => hashToken(pat)));
    const admitted = await Promise.all(answers.map(({ assertion }) => verifier.callerOf(assertion)));
    expect(admitted.map(({ userId, credentialId }) => [userId, credentialId])).toEqual(order.map(({ id, patId }) => [id, patId]));
  });

  it('a full batch of long access tokens fits', async () => {
    const jwt = `eyJh.${'b'.repeat(8100)}.c`;
    const answers = await checks(...Array.from({ length: 256 }, () => check(jwt, { jwt })));
    expect(answers).toHaveLength(256);
  });

  it('[AUTH-05] checks tell unknown, closed and revoked credentials and kinds apart', async () => {
    const ben = await identity.person();
    const eve = await identity.person();
    await identity.as(ben.session)('DELETE', `/v1/api-keys/${ben.patId}`);
    await identity.admin('PUT', `accounts/${eve.id}/state`, { state: 'disabled' });
    const outcome = (answer: { outcome: string; type?: string }) => answer.type ?? answer.outcome;
    const answers = await checks(
      check('svc_pat_unknown'),
      check(eve.pat),
      check(ben.pat),
      check(ada.session),
      check(ada.session, { accepts: ['pat', 'oauth', 'session'] }),
      check('eyJh.b.c', { jwt: 'eyJh.b.c' }),
    );
    expect(answers.map(outcome)).toEqual(['unauthorized', 'account_deleted', 'token_revoked', 'unauthorized', 'allowed', 'unauthorized']);
  });

  it('[AUTH-01] live keys of one batch are one read, also when one of them comes again', async () => {
    const { database, finds } = countedFinds();
    const counted = await startIdentity({ database });
    const [one, other] = [await counted.person(), await counted.person()];
    const before = finds();
    const { body } = await counted.service('gateway')('POST', '/internal/v1/checks', {
      checks: [one, other, one].map(({ pat }) => check(pat)),
    });
    const reads = finds() - before;
    await counted.stop();
    expect(body.answers.map((answer: { outcome: string }) => answer.outcome)).toEqual(['allowed', 'allowed', 'allowed']);
    expect(reads).toBe(1);
  });

  it('[AUTH-01] a token that nobody has is looked for once in a while; a key made meanwhile is taken by every replica at once', async () => {
    const { database, finds } = countedFinds();
    const replicas = [await startIdentity({ database }), await startIdentity({ database })] as const;
    const person = await replicas[0].person();
    await replicas[0].join(await replicas[0].team(), person.id);
    const ask = (token: string, replica: 0 | 1) => replicas[replica].as(token)('GET', '/v1/me');
    expect((await ask('svc_pat_x', 1)).status).toBe(401);
    const before = finds();
    for (let n = 0; n < 20; n += 1) expect((await ask('svc_pat_x', 1)).status).toBe(401);
    expect(finds()).toBe(before);
    const { body } = await replicas[0].as(person.session)('POST', '/v1/api-keys', { name: 'new' });
    expect([(await ask(body.token, 1)).status, (await ask(body.token, 0)).status]).toEqual([200, 200]);
    await replicas[1].clock.advance(5000);
    await ask('svc_pat_x', 1);
    expect(finds()).toBeGreaterThan(before + 2);
    await Promise.all(replicas.map((replica) => replica.stop()));
  });

  it('[RATE-02] what another replica had counted is taken over', async () => {
    const counted_elsewhere = { requests: 118, first_ms_ago: 30_000, last_ms_ago: 0 };
    const answers = await checks(
      check(ada.pat, { counted_elsewhere, uncounted: true }),
      check(ada.pat, { counted_elsewhere }),
      check(ada.pat),
    );
    expect(answers.map(({ outcome }: { outcome: string }) => outcome)).toEqual(['allowed', 'allowed', 'allowed']);
    expect((await me(ada.pat)).headers.get('retry-after')).toBe('30');
  });

  it('an assertion is reused while the account stays as it is, and not over a change', async () => {
    const assertion = async () => (await checks(check(ada.pat)))[0].assertion;
    const first = await assertion();
    await identity.clock.advance(10_000);
    expect(await assertion()).toBe(first);
    await identity.join(await identity.team(), ada.id);
    expect(await assertion()).not.toBe(first);
  });

  it('[AUTH-08] no token is in the store', async () => {
    await keys(ada.session);
    await identity.settle();
    for (const name of ['accounts', 'sessions', 'revoked_keys', 'key_uses']) {
      const text = JSON.stringify(await identity.database.collection(name).find({}));
      expect(text.includes(ada.pat) || text.includes(ada.session)).toBe(false);
    }
  });

  it.each(['bubbles-query', 'operator', 'identity-and-oauth'])('checks are the gateway’s alone: %s is refused', async (name) => {
    expect((await identity.service(name)('POST', '/internal/v1/checks', { checks: [check(ada.pat)] })).status).toBe(401);
  });

  it('the job rotates the keys that verify assertions', async () => {
    const shown = async () => (await identity.service('bubbles-query')('GET', '/internal/v1/assertion-keys')).body.keys;
    expect(await shown()).toHaveLength(1);
    await identity.clock.advance(29 * DAY_MS + 1000);
    await identity.runJob('rotate-assertion-keys');
    expect(await shown()).toHaveLength(2);
  });

  it('[AUTH-04] a revoked key is known as that for a year; then it is forgotten with its uses', async () => {
    await me(ada.pat);
    await identity.settle();
    await identity.as(ada.session)('DELETE', `/v1/api-keys/${ada.patId}`);
    await identity.clock.advance(365 * DAY_MS);
    await identity.runJob('sweep-revoked-keys');
    expect(refusal(await me(ada.pat))).toEqual([401, 'token_revoked']);
    await identity.clock.advance(1);
    await identity.runJob('sweep-revoked-keys');
    expect(refusal(await me(ada.pat))).toEqual([401, 'unauthorized']);
    const left = ['revoked_keys', 'key_uses'].map((name) => identity.database.collection(name).count({}));
    expect(await Promise.all(left)).toEqual([0, 0]);
  });

  it('the sweep forgets sessions two weeks after they expired', async () => {
    const sessions = () => identity.database.collection('sessions').count({});
    await identity.clock.advance(28 * DAY_MS);
    await identity.runJob('sweep-sessions');
    expect(await sessions()).toBe(1);
    await identity.clock.advance(1);
    await identity.runJob('sweep-sessions');
    expect(await sessions()).toBe(0);
  });
});
