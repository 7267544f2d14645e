import { SIGNUP_CALLS } from '@bubbles/contracts/internal/identity-signup.ts';
import type { InternalClient } from '@bubbles/http/client/internal-client.ts';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { afterEach, describe, expect, it } from '@jest/globals';
import { fakeIdentity } from './fake-identity.ts';
import { ADA, type Answer, startSignup, type TestSignup, wrongFor } from './signup.ts';

const running: TestSignup[] = [];
afterEach(async () => {
  for (const one of running.splice(0)) await one.stop();
});
const start = async (...options: Parameters<typeof startSignup>): Promise<TestSignup> => {
  const signup = await startSignup(...options);
  running.push(signup);
  return signup;
};
/** Two processes on one store, with one identity. */
const twoReplicas = async (): Promise<readonly [TestSignup, TestSignup]> => {
  const database = memoryDatabase();
  const one = await start({ database });
  return [one, await start({ database, clock: one.clock, identity: one.identity, mail: one.mail })];
};
const times = <T>(count: number, make: (n: number) => T): readonly T[] => Array.from({ length: count }, (_, n) => make(n));
const counted = (answers: readonly Answer[]): Readonly<Record<number, number>> =>
  Object.fromEntries([200, 401, 403, 409, 429].map((status) => [status, answers.filter((answer) => answer.status === status).length]));
const CREATE = { action: 'create', workspace_name: 'Acme' };

/** An identity that lets each join wait for the test. */
const joinsOnCommand = () => {
  const identity = fakeIdentity();
  const waiting: ((letGo: () => void) => void)[] = [];
  const client: InternalClient = {
    ...identity.client,
    async post(path, call) {
      if (path === SIGNUP_CALLS.join.path) await new Promise<void>((letGo) => waiting.shift()?.(letGo));
      return identity.client.post(path, call);
    },
  };
  return { identity, client, nextJoin: () => new Promise<() => void>((asked) => waiting.push(asked)) };
};

describe('many requests at once', () => {
  it('[SIGN-03] five of fifty wrong codes are tried, and the right one is refused afterwards', async () => {
    const [one, other] = await twoReplicas();
    const [signup_session, code] = [await one.started(), await one.codeFor(ADA)];
    const answers = await Promise.all(
      times(50, (n) => (n % 2 ? one : other).step('verify', { signup_session, code: wrongFor(code) }, { method: n % 3 ? 'POST' : 'GET' })),
    );
    expect(counted(answers)[401]).toBe(50);
    expect(answers.filter(({ text }) => text.includes('this is not the code')).length).toBe(5);
    expect((await one.step('verify', { signup_session, code })).status).toBe(401);
  });

  it('[SIGN-03] one of twenty right codes proves the address', async () => {
    const [one, other] = await twoReplicas();
    const [signup_session, code] = [await one.started(), await one.codeFor(ADA)];
    // Five tries count, also of the right code: the others come too late.
    const answers = await Promise.all(times(20, (n) => (n % 2 ? one : other).step('verify', { signup_session, code })));
    expect(counted(answers)).toMatchObject({ 200: 1, 401: 19 });
    expect((await one.step('workspaces', { signup_session })).status).toBe(200);
  });

  it('[SIGN-10] twenty creates of one flow make one workspace', async () => {
    const [one, other] = await twoReplicas();
    const signup_session = await one.listed();
    const answers = await Promise.all(
      times(20, (n) => (n % 2 ? one : other).step('workspace', { signup_session, action: 'create', workspace_name: `Acme ${n}` })),
    );
    expect(counted(answers)[200]).toBe(20);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect([one.identity.teams.size, one.identity.accounts.size]).toEqual([1, 1]);
  });

  it('[SIGN-10] a late refusal of one team does not take back the choice of another one', async () => {
    const { identity, client, nextJoin } = joinsOnCommand();
    const { listed, step } = await start({ identity: { ...identity, client } });
    const [open, closed] = [identity.team('Open', 'acme.example'), identity.team('Closed', 'other.example')];
    const signup_session = await listed();
    const join = async (team_id: string) => {
      const asked = nextJoin();
      const answer = step('workspace', { signup_session, action: 'join', team_id });
      return { answer, letGo: await asked };
    };
    const [early, late] = [await join(closed.id), await join(closed.id)];
    early.letGo();
    expect((await early.answer).status).toBe(403);
    const chosen = await join(open.id);
    late.letGo();
    expect((await late.answer).status).toBe(403);
    expect((await step('workspace', { signup_session, ...CREATE })).status).toBe(409);
    chosen.letGo();
    expect((await chosen.answer).status).toBe(200);
    expect([open.memberIds.size, identity.teams.size]).toEqual([1, 2]);
  });

  it('[SIGN-10] twenty joins and creates of one flow come to one workspace', async () => {
    const [one, other] = await twoReplicas();
    const teams = [one.identity.team('One', 'acme.example'), one.identity.team('Other', 'acme.example')];
    const signup_session = await one.listed();
    const choices = [CREATE, ...teams.map(({ id }) => ({ action: 'join', team_id: id }))];
    const answers = await Promise.all(times(21, (n) => (n % 2 ? one : other).step('workspace', { signup_session, ...choices[n % 3] })));
    expect(counted(answers)).toMatchObject({ 200: 7, 409: 14 });
    const memberships = [...one.identity.teams.values()].flatMap(({ memberIds }) => [...memberIds]);
    expect([memberships.length, one.identity.accounts.size]).toEqual([1, 1]);
  });

  it('[SIGN-11] twenty creates of two flows of one address make one account with one workspace, which either opens', async () => {
    const [one, other] = await twoReplicas();
    const sessions = [await one.listed(), await other.listed()];
    const answers = await Promise.all(
      times(20, (n) => (n % 2 ? one : other).step('workspace', { signup_session: sessions[n % 2], ...CREATE })),
    );
    expect(counted(answers)[200]).toBe(20);
    expect(new Set(answers.map(({ body }) => body.team_id)).size).toBe(1);
    expect([one.identity.teams.size, one.identity.accounts.size]).toEqual([1, 1]);
    const opened = await Promise.all(
      sessions.map((signup_session) => one.step('workspace', { signup_session, action: 'enable_domain_join' })),
    );
    expect(counted(opened)[200]).toBe(2);
    await one.pass(3600);
    await one.created();
    expect(one.identity.teams.size).toBe(2);
  });

  it('[SIGN-07] one of twenty requests to open the workspace is accepted', async () => {
    const [one, other] = await twoReplicas();
    const signup_session = await one.created();
    const answers = await Promise.all(
      times(20, (n) => (n % 2 ? one : other).step('workspace', { signup_session, action: 'enable_domain_join' })),
    );
    expect(counted(answers)).toMatchObject({ 200: 1, 409: 19 });
  });
});

describe('the limits of starts', () => {
  const startsFrom = (signup: TestSignup, from: string, email: string) => signup.step('start', { email }, { from });

  it('[SIGN-02] ten an hour from one client, over all replicas, an IPv6 /64 being one; Retry-After is exact', async () => {
    const database = memoryDatabase();
    const environment = { SIGNUP_STARTS_PER_CLIENT: '10' };
    const one = await start({ database, environment });
    const other = await start({ database, clock: one.clock, environment });
    await startsFrom(one, '2001:db8::1', 'first@acme.example');
    await one.pass(60);
    const answers = await Promise.all(times(20, (n) => startsFrom(n % 2 ? one : other, `2001:db8::${n}:1`, `ada-${n}@acme.example`)));
    expect(counted(answers)).toMatchObject({ 200: 9, 429: 11 });
    const refused = answers.find(({ status }) => status === 429);
    expect([refused?.body.error.type, refused?.headers.get('retry-after')]).toEqual(['rate_limited', '3540']);
    expect((await startsFrom(one, '2001:db8:0:1::1', ADA)).status).toBe(200);
    expect((await startsFrom(one, '2001:db8::1', 'nonsense')).status).toBe(400);
    await one.pass(3540);
    expect((await startsFrom(other, '2001:db8::1', 'last@acme.example')).status).toBe(200);
  });

  it('[SIGN-02] ten an hour to one mailbox, whatever its spelling and whether or not it has an account', async () => {
    const signup = await start();
    signup.identity.accounts.set('a.da@gmail.com', { id: 'ada', state: 'active' });
    const spellings = ['ada@gmail.com', 'a.da@gmail.com', 'A.D.A+tag@googlemail.com'];
    const answers = await Promise.all(times(12, (n) => startsFrom(signup, `198.51.100.${n}`, spellings[n % 3] ?? '')));
    expect(counted(answers)).toMatchObject({ 200: 10, 429: 2 });
    for (const email of ['ada+one@acme.example', 'ada@acme.example', 'a.da@acme.example'])
      expect((await startsFrom(signup, '198.51.100.1', email)).status).toBe(200);
    await signup.settle();
    expect(new Set(signup.mail.accepted.map(({ to }) => to)).has('a.d.a+tag@googlemail.com')).toBe(true);
  });

  it('[SIGN-02] three an hour and ten a day of one client to one mailbox, so that its owner can start beside a stranger', async () => {
    const signup = await start({ environment: { SIGNUP_STARTS_PER_CLIENT: '100' } });
    const [stranger, owner] = ['2001:db8::1', '198.51.100.7'];
    const floods = async () => counted(await Promise.all(times(20, () => startsFrom(signup, stranger, ADA))));
    for (const allowed of [3, 3, 3, 1]) {
      expect(await floods()).toMatchObject({ 200: allowed, 429: 20 - allowed });
      expect((await startsFrom(signup, owner, ADA)).status).toBe(200);
      expect((await startsFrom(signup, stranger, `ben-${signup.clock.now().getTime()}@acme.example`)).status).toBe(200);
      await signup.pass(3600);
    }
    expect(await floods()).toMatchObject({ 200: 0, 429: 20 });
    expect((await startsFrom(signup, owner, ADA)).status).toBe(200);
  });
});

describe('signups that nobody ends', () => {
  it('[SIGN-11] 10,000 of them leave nothing', async () => {
    const signup = await start();
    const flows = 10_000;
    for (let made = 0; made < flows; made += 100)
      await Promise.all(
        times(100, (n) => signup.step('start', { email: `ada@acme-${made + n}.example` }, { from: `198.51.${n}.${(made / 100) % 250}` })),
      );
    const sizes = () =>
      Promise.all(['flows', 'mailed_codes', 'throttles', 'mails', 'creations'].map((name) => signup.database.collection(name).count({})));
    expect((await sizes())[0]).toBe(flows);
    await signup.pass(24 * 3600);
    for (const job of ['sweep-signups', 'sweep-signup-creations', 'sweep-mailed-codes', 'sweep-throttles']) await signup.runJob(job);
    await signup.pass(60);
    expect(await sizes()).toEqual([0, 0, 0, 0, 0]);
    expect(signup.identity.asked).toEqual([]);
  });
});

describe('what is written down', () => {
  it('[GEN-10] no code, session or address is in a log line, in clear in the store, or in an id', async () => {
    const signup = await start();
    const session = await signup.created();
    const code = await signup.codeFor(ADA);
    await signup.step('verify', { signup_session: session, code }, { method: 'GET' });
    signup.identity.isAway = true;
    await signup.step('workspaces', { signup_session: session }, { method: 'GET' });
    const secrets = [session, code, ADA, 'acme.example'];
    for (const secret of secrets) expect(signup.log.text()).not.toContain(secret);
    const stored = await Promise.all(
      ['flows', 'mailed_codes', 'throttles', 'mails', 'creations'].map(async (name) =>
        JSON.stringify(await signup.database.collection(name).find({})),
      ),
    );
    for (const secret of [session, code]) expect(stored.join('\n')).not.toContain(secret);
  });
});
