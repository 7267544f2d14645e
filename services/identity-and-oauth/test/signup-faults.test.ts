import type { AccountFacts } from '@bubbles/contracts/internal/identity.ts';
import { SIGNUP_CALLS } from '@bubbles/contracts/internal/identity-signup.ts';
import { failEverywhere, falteringWorld } from '@bubbles/testing/faltering-world.ts';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { dieEverywhere } from './crashing.ts';
import { type Answer, startIdentity, type TestIdentity } from './identity.ts';
import { openBrowser, signIn } from './sign-in-browser.ts';

const EVE = 'eve@acme.test';
const DOMAIN = 'acme.test';
const FLOW = 'flow-0000000000000001';
const OTHER_FLOW = 'flow-0000000000000002';
const AT_ONCE = 20;

const ask = (identity: TestIdentity, step: keyof typeof SIGNUP_CALLS, body: object): Promise<Answer> =>
  identity.service('signup')('POST', SIGNUP_CALLS[step].path, { email: EVE, flow_id: FLOW, ...body });
const create = (identity: TestIdentity, fields: object = {}) => ask(identity, 'create', { name: 'Eve Ltd', ...fields });
const join = (identity: TestIdentity, team_id: string, fields: object = {}) =>
  ask(identity, 'join', { domain: DOMAIN, team_id, ...fields });
const openDomain = (identity: TestIdentity) => ask(identity, 'domainJoin', { domain: DOMAIN });

const accountsAt = async ({ admin }: TestIdentity, email = EVE) => (await admin('GET', `accounts?email=${email}`)).body.accounts;
const allAccounts = async ({ admin }: TestIdentity): Promise<{ email: string }[]> => (await admin('GET', 'accounts')).body.accounts;
const teamsNamed = async ({ admin }: TestIdentity, name: string) =>
  (await admin('GET', 'teams')).body.teams.filter((team: { name: string }) => team.name === name);
const openTeam = (identity: TestIdentity) => identity.team({ name: 'Open', domain: DOMAIN, discoverable: true });
const distinct = (answers: readonly Answer[]) =>
  [...new Set(answers.map(({ status, body }) => JSON.stringify([status, body])))].map((text) => JSON.parse(text));

describe('sign-ups at once, on two replicas', () => {
  let replicas: readonly [TestIdentity, TestIdentity];
  beforeEach(async () => {
    const database = memoryDatabase();
    const first = await startIdentity({ database });
    replicas = [first, await startIdentity({ database, clock: first.clock })];
  });
  afterEach(() => Promise.all(replicas.map((replica) => replica.stop())));

  const atOnce = (one: (identity: TestIdentity, n: number) => Promise<Answer>) =>
    Promise.all(Array.from({ length: AT_ONCE }, (_, n) => one(replicas[n % 2 === 0 ? 0 : 1], n)));

  const expectOneAccount = async (memberships: readonly object[]) => {
    const [first] = replicas;
    const found = await accountsAt(first);
    expect(found).toHaveLength(1);
    expect(found[0].memberships.toSorted((a: { role: string }, b: { role: string }) => a.role.localeCompare(b.role))).toEqual(memberships);
    expect((await allAccounts(first)).filter(({ email }) => email === EVE)).toHaveLength(1);
    await Promise.all(replicas.map((replica) => replica.settle()));
    const told = replicas.flatMap(({ bus }) => bus.published.map(({ data }) => data as AccountFacts));
    expect(told.filter(({ email }) => email === EVE)).toHaveLength(1);
  };

  it('[SIGN-06] [SIGN-10] twenty creates of one flow make one workspace, one account and one membership', async () => {
    const [answer, ...others] = distinct(await atOnce((identity) => create(identity)));
    expect([answer[0], others]).toEqual([200, []]);
    expect(await teamsNamed(replicas[0], 'Eve Ltd')).toHaveLength(1);
    await expectOneAccount([{ team_id: answer[1].team_id, role: 'admin', hidden: false }]);
  });

  it('[SIGN-05] [SIGN-10] twenty joins of one address make one account and one membership', async () => {
    const id = await openTeam(replicas[0]);
    const answers = await atOnce((identity) => join(identity, id));
    expect(distinct(answers)).toEqual([[200, { user_id: expect.any(String), team_id: id }]]);
    await expectOneAccount([{ team_id: id, role: 'member', hidden: false }]);
  });

  it('[SIGN-10] creates and joins of two flows of one address make a workspace a flow, and one account', async () => {
    const id = await openTeam(replicas[0]);
    const flowOf = (n: number) => ({ flow_id: n % 4 < 2 ? FLOW : OTHER_FLOW });
    const answers = await atOnce((identity, n) => (n % 3 === 0 ? join(identity, id) : create(identity, flowOf(n))));
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.user_id}`)).size).toBe(1);
    const made = await teamsNamed(replicas[0], 'Eve Ltd');
    expect(made).toHaveLength(2);
    const [one, two] = (await accountsAt(replicas[0]))[0].memberships.filter(({ role }: { role: string }) => role === 'admin');
    expect([one.team_id, two.team_id].toSorted()).toEqual(made.map((team: { id: string }) => team.id));
    await expectOneAccount([one, two, { team_id: id, role: 'member', hidden: false }]);
  });

  it('[SIGN-11] [OAUTH-05] a browser and an operator beside them: one account, and what each was answered is true', async () => {
    const [first, second] = replicas;
    const browser = openBrowser(first);
    const namePage = await browser.get((await signIn(first, browser, EVE)).to ?? '');
    const operator = () => second.admin('POST', 'accounts', { name: 'Eve', email: EVE, picture_url: null, key_name: 'first' });
    const [shown, made, ...created] = await Promise.all([
      browser.submit(namePage, { name: 'Eve' }),
      operator(),
      ...Array.from({ length: 6 }, (_, n) => create(replicas[n % 2 === 0 ? 0 : 1])),
    ]);
    expect(created.map(({ status }) => status)).toEqual(created.map(() => 200));
    expect(shown.status).toBe(303);
    const [account, ...others] = await accountsAt(first);
    expect([account.user_id, others]).toEqual([created[0]?.body.user_id, []]);
    expect([201, 409]).toContain(made.status);
    if (made.status === 201) expect((await first.as(made.body.key.token)('GET', '/v1/me')).body.id).toBe(account.user_id);
    await expectOneAccount([{ team_id: created[0]?.body.team_id, role: 'admin', hidden: false }]);
  });
});

describe('dying between any two steps of the store while somebody signs up', () => {
  it('[SIGN-06] [SIGN-11] creating: asked again it is done, once; nobody has an account without the workspace meanwhile', async () => {
    const deaths = await dieEverywhere(
      ({ doomed }) => create(doomed),
      async ({ survivor }, answer) => {
        const before = await accountsAt(survivor);
        for (const { memberships } of before) expect(memberships).toHaveLength(1);
        const again = await create(survivor);
        expect(again.status).toBe(200);
        if (answer) expect(again.body).toEqual(answer.body);
        const [team, ...teams] = await teamsNamed(survivor, 'Eve Ltd');
        expect([team.id, team.plan, team.channels.length, teams]).toEqual([again.body.team_id, 'pro', 1, []]);
        const [account, ...accounts] = await accountsAt(survivor);
        expect([account.user_id, accounts]).toEqual([again.body.user_id, []]);
        expect(account.memberships).toEqual([{ team_id: team.id, role: 'admin', hidden: false }]);
        await survivor.settle();
        expect(survivor.bus.published.filter(({ data }) => (data as AccountFacts).user_id === account.user_id).length).toBeLessThan(2);
      },
    );
    expect(deaths).toBeGreaterThan(6);
  });

  it('[SIGN-11] creating: another flow of the address does not have to wait for the one that died', async () => {
    const deaths = await dieEverywhere(
      async ({ doomed, survivor }) => {
        await create(doomed);
        return create(survivor, { flow_id: OTHER_FLOW, name: 'Other' });
      },
      async ({ survivor }, answer) => {
        const [account, ...accounts] = await accountsAt(survivor);
        expect([account.user_id, accounts]).toEqual([answer?.body.user_id, []]);
        expect((await allAccounts(survivor)).filter(({ email }) => email === EVE)).toHaveLength(1);
      },
    );
    expect(deaths).toBeGreaterThan(6);
  });

  it('[SIGN-05] [SIGN-11] joining: an account comes with its membership or not at all, and asked again it is done', async () => {
    const deaths = await dieEverywhere(
      async ({ doomed, survivor }) => join(doomed, await openTeam(survivor)),
      async ({ survivor }, answer) => {
        for (const { memberships } of await accountsAt(survivor)) expect(memberships).toHaveLength(1);
        const [team] = await teamsNamed(survivor, 'Open');
        const again = await join(survivor, team.id);
        expect([again.status, again.body.team_id]).toEqual([200, team.id]);
        if (answer) expect(again.body).toEqual(answer.body);
        const [account, ...accounts] = await accountsAt(survivor);
        expect([account.memberships, accounts]).toEqual([[{ team_id: team.id, role: 'member', hidden: false }], []]);
      },
    );
    expect(deaths).toBeGreaterThan(5);
  });

  it('[SIGN-07] opening the domain: it is open or not, and asked again it is open', async () => {
    const deaths = await dieEverywhere(
      async ({ doomed, survivor }) => {
        await create(survivor);
        return openDomain(doomed);
      },
      async ({ survivor }, answer) => {
        const [before] = await teamsNamed(survivor, 'Eve Ltd');
        expect([before.domain, before.discoverable]).toEqual(before.discoverable ? [DOMAIN, true] : [null, false]);
        if (answer) expect(before.discoverable).toBe(true);
        expect((await openDomain(survivor)).body).toEqual({ team_id: before.id, domain: DOMAIN });
        expect((await teamsNamed(survivor, 'Eve Ltd'))[0]).toMatchObject({ domain: DOMAIN, discoverable: true });
      },
    );
    expect(deaths).toBeGreaterThan(3);
  });
});

describe('a store that is away for one step while somebody signs up', () => {
  it('[SIGN-11] whole sign-ups: each step is done or tried again, and nothing is there twice', async () => {
    const { database, failing } = falteringWorld();
    const identity = await startIdentity({ database: database(memoryDatabase()) });
    const open = await openTeam(identity);
    const failures = await failEverywhere(async (step) => {
      const who = { email: `eve-${step}@acme.test`, flow_id: `flow-of-number-${1000 + step}` };
      const steps = [
        () => create(identity, { ...who, name: `Acme ${step}` }),
        () => ask(identity, 'domainJoin', { ...who, domain: DOMAIN }),
        () => join(identity, open, who),
      ];
      const { hasFailed, outcome } = await failing(step, async () => {
        const answers: Answer[] = [];
        for (const one of steps) {
          const answer = await one();
          answers.push(answer.status === 500 ? await one() : answer);
        }
        return answers;
      });
      expect(outcome.map(({ status }) => status)).toEqual([200, 200, 200]);
      const [account, ...others] = await accountsAt(identity, who.email);
      expect([others, account.revision]).toEqual([[], 1]);
      expect(account.memberships).toEqual([
        { team_id: outcome[0]?.body.team_id, role: 'admin', hidden: false },
        { team_id: open, role: 'member', hidden: false },
      ]);
      expect((await teamsNamed(identity, `Acme ${step}`)).map(({ discoverable }: { discoverable: boolean }) => discoverable)).toEqual([
        true,
      ]);
      return hasFailed;
    });
    await identity.stop();
    expect(failures).toBeGreaterThan(20);
  });

  it('[SIGN-10] says when to ask again', async () => {
    const { database, failing } = falteringWorld();
    const identity = await startIdentity({ database: database(memoryDatabase()) });
    const { outcome } = await failing(1, () => create(identity));
    expect([outcome.status, outcome.headers.get('retry-after')]).toEqual([500, '1']);
    await identity.stop();
  });
});
