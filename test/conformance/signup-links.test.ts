import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PAT_CALLS, SESSION_CALLS } from './support/authenticated-calls.ts';
import { type Answer, send } from './support/client.ts';
import { openWorld } from './support/open-world.ts';
import {
  creating,
  freshDomain,
  joining,
  type Method,
  openTeam,
  refusalOf,
  type SignupAgent,
  signupAgent,
  teamsOf,
  withoutTokens,
  wrongFor,
} from './support/signup.ts';
import { freshAddress, type World } from './support/world.ts';

let world: World;
let agent: SignupAgent;
beforeAll(async () => {
  world = await openWorld();
  agent = signupAgent(world);
});
afterAll(() => world.close());

const METHODS: readonly Method[] = ['POST', 'GET'];

describe('start', () => {
  it('[SIGN-02] does not tell an address with an account from one with a closed account or with none', async () => {
    const [known, closed] = [await world.user({ email: freshAddress('ada') }), await world.user({ email: freshAddress('ada') })];
    await world.setState(closed.id, 'disabled');
    const answers = await Promise.all([known.email, closed.email, freshAddress('ada')].map((email) => agent.step('start', { email })));
    const seen = answers.map((answer) => [answer.status, withoutTokens(answer), [...answer.headers.keys()].toSorted()]);
    expect(seen).toEqual([seen[0], seen[0], seen[0]]);
    expect(seen[0]?.[0]).toBe(200);
    const signup_session = answers[1]?.json.signup_session;
    const code = await agent.code(closed.email ?? '');
    expect(refusalOf(await agent.step('verify', { signup_session, code: wrongFor(code) }))).toEqual([401, 'unauthorized']);
    const told = await agent.step('verify', { signup_session, code });
    expect(refusalOf(told)).toEqual([401, 'account_deleted']);
  });

  it('[SIGN-02] may be called ten times an hour from one client, and says when again', async () => {
    const eager = signupAgent(world);
    const answers: Answer[] = [];
    for (let n = 0; n < 12; n += 1) answers.push(await eager.step('start', { email: freshAddress('ada') }, METHODS[n % 2]));
    expect(answers.map(({ status }) => status)).toEqual([...Array(10).fill(200), 429, 429]);
    const refused = answers[11];
    expect(refused?.json.error.type).toBe('rate_limited');
    const wait = Number(refused?.headers.get('retry-after'));
    expect(wait > 3500 && wait <= 3600).toBe(true);
    expect((await signupAgent(world).step('start', { email: freshAddress('ada') })).status).toBe(200);
  });

  it('[SIGN-02] mails as many codes in an hour to one mailbox', async () => {
    const address = freshAddress('ada');
    const answers: Answer[] = [];
    for (let n = 0; n < 11; n += 1) answers.push(await signupAgent(world).step('start', { email: address }));
    expect(answers.map(({ status }) => status)).toEqual([...Array(10).fill(200), 429]);
  });
});

describe('links that something fetches unasked', () => {
  const links = (signup_session: string): readonly string[] =>
    ['workspaces?', 'workspace?action=create&workspace_name=Acme&', 'workspace?action=enable_domain_join&', 'calendar?'].map(
      (path) => `/v1/signup/${path}signup_session=${signup_session}`,
    );

  it('[SIGN-09] change nothing twice', async () => {
    const domain = freshDomain();
    const person = await world.user({ email: freshAddress('ada', domain) });
    const signup_session = await agent.verified(person.email ?? '');
    const statuses: number[][] = [];
    for (const link of links(signup_session)) statuses.push([(await agent.ask(link)).status, (await agent.ask(link)).status]);
    expect(statuses).toEqual([
      [200, 200],
      [200, 200],
      [200, 409],
      [200, 200],
    ]);
    expect(await teamsOf(world, person)).toHaveLength(1);
  });

  it('[SIGN-09] do nothing at all when HEAD asks', async () => {
    const address = freshAddress('ada', freshDomain());
    const person = await world.user({ email: address });
    const signup_session = await agent.listed(address);
    const mails = await world.mails(address);
    for (const link of [
      ...links(signup_session),
      `/v1/signup/start?email=${address}`,
      `/v1/signup/verify?signup_session=${signup_session}&code=1`,
    ]) {
      const head = await agent.ask(link, 'HEAD');
      expect([head.status, head.headers.get('allow'), head.text]).toEqual([405, 'GET, OPTIONS, POST', '']);
    }
    expect(await teamsOf(world, person)).toEqual([]);
    expect(await world.mails(address)).toEqual(mails);
  });

  it('[SIGN-09] take every field once', async () => {
    for (const query of ['start?email=a@acme.example&email=b@acme.example', 'verify?signup_session=a&code=1&code=1', 'start?email='])
      expect(refusalOf(await agent.ask(`/v1/signup/${query}`))).toEqual([400, 'invalid_request']);
  });
});

describe('the signup session', () => {
  it('[SIGN-10] is a credential nowhere else', async () => {
    const as = await agent.created(freshAddress('ada', freshDomain()));
    for (const [path, call] of [...PAT_CALLS, ...SESSION_CALLS, ['/v1/meetings/join', { method: 'POST', body: {} }] as const]) {
      const answer = await send(world.baseUrl, path, { ...call, as });
      expect([path, ...refusalOf(answer)]).toEqual([path, 401, 'unauthorized']);
    }
  });

  it('[SIGN-10] of several requests at once comes to one workspace and one membership', async () => {
    const domain = freshDomain();
    const open = await openTeam(world, domain);
    const person = await world.user({ email: freshAddress('ada', domain) });
    const sessions = [await agent.listed(person.email ?? ''), await agent.listed(person.email ?? '')];
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => agent.step('workspace', creating(sessions[n % 2] ?? '', `Acme ${n}`), METHODS[n % 2])),
    );
    expect(new Set(answers.map(({ status, json }) => `${status} ${json.team_id}`)).size).toBe(1);
    const joins = signupAgent(world);
    const session = await joins.listed(person.email ?? '');
    const joined = await Promise.all(Array.from({ length: 20 }, () => joins.step('workspace', joining(session, open.id))));
    expect(new Set(joined.map(({ status }) => status))).toEqual(new Set([200]));
    expect((await teamsOf(world, person)).map(({ role }: { role: string }) => role).toSorted()).toEqual(['admin', 'member']);
  });
});
