import { MailFailure } from '@bubbles/mail/transport.ts';
import { failEverywhere, falteringWorld } from '@bubbles/testing/faltering-world.ts';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { mortalDatabase } from '@bubbles/testing/mortal-database.ts';
import { ABSENT_PEER } from '@bubbles/testing/service-under-test.ts';
import { afterEach, describe, expect, it } from '@jest/globals';
import { fakeIdentity } from './fake-identity.ts';
import { ADA, type Answer, startSignup, type TestSignup } from './signup.ts';

const running: TestSignup[] = [];
afterEach(async () => {
  for (const one of running.splice(0)) await one.stop();
});
const start = async (...options: Parameters<typeof startSignup>): Promise<TestSignup> => {
  const signup = await startSignup(...options);
  running.push(signup);
  return signup;
};

/** More than the flow has. */
const MOST_STEPS = 150;
const LEASE_SECONDS = 60;
const CREATE = { action: 'create', workspace_name: 'Acme' };
const OPEN = { action: 'enable_domain_join' };

describe('identity is away', () => {
  it('[SIGN-10] 500 with Retry-After, and the flow stays where it was', async () => {
    const signup = await start();
    const { identity, step } = signup;
    const team = identity.team('Acme', 'acme.example');
    const [signup_session, code] = [await signup.started(), await signup.codeFor(ADA)];
    const away = async (path: string, fields: object) => {
      identity.isAway = true;
      // More often than a code may be tried.
      for (let tries = 0; tries < 6; tries += 1) {
        const answer = await step(path, { signup_session, ...fields });
        expect([answer.status, answer.body.error.type]).toEqual([500, 'internal_error']);
        expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
      }
      identity.isAway = false;
      expect((await step(path, { signup_session, ...fields })).status).toBe(200);
    };
    await away('verify', { code });
    await away('workspaces', {});
    await away('workspace', { action: 'join', team_id: team.id });
    identity.isAway = true;
    expect((await step('calendar', { signup_session })).status).toBe(200);
    identity.isAway = false;
    const created = await signup.created('ben@other.example');
    identity.isAway = true;
    expect((await step('workspace', { signup_session: created, ...OPEN })).status).toBe(500);
    identity.isAway = false;
    expect((await step('workspace', { signup_session: created, ...OPEN })).status).toBe(200);
    expect([team.memberIds.size, identity.accounts.size, identity.teams.size]).toEqual([1, 2, 2]);
  });

  it('[SIGN-02] signups start all the same, since it is not asked', async () => {
    const signup = await start({ identity: { ...fakeIdentity(), client: ABSENT_PEER } });
    await signup.started();
    expect(await signup.codeFor(ADA)).toMatch(/^\d{6}$/);
  });
});

describe('an account that is disabled in the middle of a signup', () => {
  it('[SIGN-03] ends it at the next step that asks identity', async () => {
    const { identity, step, verified, listed, created } = await start();
    for (const [path, fields, session] of [
      ['workspaces', {}, await verified('a@acme.example')],
      ['workspace', CREATE, await listed('b@acme.example')],
      ['workspace', { action: 'join', team_id: identity.team('Acme', 'acme.example').id }, await listed('c@acme.example')],
      ['workspace', OPEN, await created('d@acme.example')],
    ] as const) {
      for (const address of ['a', 'b', 'c', 'd']) identity.accounts.set(`${address}@acme.example`, { id: address, state: 'disabled' });
      const refused = await step(path, { signup_session: session, ...fields });
      expect([refused.status, refused.body.error.type]).toEqual([401, 'account_deleted']);
      for (const address of ['a', 'b', 'c', 'd']) identity.accounts.delete(`${address}@acme.example`);
      expect((await step('calendar', { signup_session: session })).body.error.type).toBe('account_deleted');
    }
  });
});

describe('the mail server is away', () => {
  it('[SIGN-02] start answers as ever, and the code comes when it is back', async () => {
    const signup = await start();
    signup.mail.answers.push(
      () => Promise.reject(new MailFailure('unreachable')),
      () => Promise.reject(new MailFailure('timeout')),
    );
    const signup_session = await signup.started();
    await signup.settle();
    expect(signup.mail.accepted).toEqual([]);
    await signup.pass(30);
    await signup.pass(30);
    const code = await signup.codeFor(ADA);
    expect((await signup.step('verify', { signup_session, code })).status).toBe(200);
  });
});

/** What an agent does that sends each step again until it is answered. */
const persistent =
  (signup: () => TestSignup) =>
  async (path: string, fields: object, expected: readonly number[] = [200]): Promise<Answer> => {
    for (let tries = 0; tries < 4; tries += 1) {
      const answer = await signup().step(path, { ...fields });
      if (expected.includes(answer.status)) return answer;
      expect(answer.status).toBe(500);
    }
    throw new Error(`${path} was not answered`);
  };

/** From a mailed code to the end; the right code counts once, so that its answer may have been lost. */
const walk = async (signup: () => TestSignup, address: string): Promise<void> => {
  const step = persistent(signup);
  const { signup_session } = (await step('start', { email: address })).body;
  await signup().pass(LEASE_SECONDS);
  // A start that was not answered has mailed a code too, of another flow.
  for (const { to, text } of signup().mail.accepted) {
    const [code] = /\d{6}/.exec(text) ?? [];
    if (to === address) await step('verify', { signup_session, code }, [200, 401]);
  }
  await step('workspaces', { signup_session });
  await step('workspace', { signup_session, ...CREATE });
  // It counts once, too.
  await step('workspace', { signup_session, ...OPEN }, [200, 409]);
  await step('calendar', { signup_session });
};

describe('dying between any two steps of the store', () => {
  it('[SIGN-10][SIGN-11] the flow goes on, and there is one account with one workspace', async () => {
    let deaths = 0;
    for (let stepsBefore = 1; stepsBefore < MOST_STEPS; stepsBefore += 1) {
      const data = memoryDatabase();
      const database = mortalDatabase(data);
      const doomed = await start({ database });
      const survivor = await start({ database: data, clock: doomed.clock, identity: doomed.identity, mail: doomed.mail });
      database.dieAt(stepsBefore);
      const current = () => (database.isDead() ? survivor : doomed);
      await walk(current, ADA);
      const [team, ...others] = doomed.identity.teams.values();
      expect([others.length, team?.memberIds.size, doomed.identity.accounts.size, team?.domain]).toEqual([0, 1, 1, 'acme.example']);
      for (const one of running.splice(0)) await one.stop().catch(() => undefined);
      if (!database.isDead()) break;
      deaths += 1;
    }
    expect(deaths).toBeGreaterThan(30);
  });
});

describe('a store or identity that is away for one step', () => {
  it('[SIGN-10][SIGN-11] the flow goes on, and there is one account with one workspace', async () => {
    const { database, port, failing } = falteringWorld();
    const identity = fakeIdentity();
    const signup = await start({
      database: database(memoryDatabase()),
      identity: { ...identity, client: port(identity.client, ['post']) },
    });
    const failures = await failEverywhere(async (step) => {
      const address = `ada@acme-${step}.example`;
      const { hasFailed } = await failing(step, () => walk(() => signup, address));
      const made = [...identity.teams.values()].filter(({ domain }) => domain === `acme-${step}.example`);
      expect([made.length, made[0]?.memberIds.size, identity.accounts.size, identity.teams.size]).toEqual([1, 1, step, step]);
      return hasFailed;
    });
    expect(failures).toBeGreaterThan(30);
  });
});
