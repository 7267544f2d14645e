import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { send } from './support/client.ts';
import { control, type Sandbox, startSandbox, worldAt } from './support/sandbox-world.ts';
import { secretsIn } from './support/security/logs.ts';
import { creating, freshDomain, joining, openTeam, refusalOf, type SignupAgent, signupAgent, teamsOf } from './support/signup.ts';
import { freshAddress, type World } from './support/world.ts';

let sandbox: Sandbox;
let world: World;
let agent: SignupAgent;
beforeAll(async () => {
  sandbox = await startSandbox(['--data', ':memory:'], { LOG_LEVEL: 'debug' });
  world = worldAt(sandbox.url, () => sandbox.stop());
  agent = signupAgent(world);
});
afterAll(() => world.close());

const MINUTE = 60;
const DAY = 24 * 60 * MINUTE;
const advance = (seconds: number) => control(sandbox.url, 'POST /clock', { advance_seconds: seconds });
const setService = (name: string, state: object) => control(sandbox.url, `POST /services/${name}`, state);

describe('what time does to a signup', () => {
  it('[SIGN-03] a code is good for ten minutes', async () => {
    const [early, late] = [freshAddress('ada'), freshAddress('ben')];
    const [first, second] = [await agent.started(early), await agent.started(late)];
    await advance(9 * MINUTE);
    expect((await agent.step('verify', { signup_session: first, code: await agent.code(early) })).status).toBe(200);
    await advance(2 * MINUTE);
    const over = await agent.step('verify', { signup_session: second, code: await agent.code(late) }, 'GET');
    expect(refusalOf(over)).toEqual([401, 'unauthorized']);
  });

  it('[SIGN-10] a session is good for an hour, and what was given up leaves nothing', async () => {
    const address = freshAddress('ada', freshDomain());
    const signup_session = await agent.listed(address);
    await advance(61 * MINUTE);
    for (const [path, fields] of [
      ['workspaces', {}],
      ['workspace', creating('')],
      ['calendar', {}],
    ] as const)
      expect(refusalOf(await agent.step(path, { ...fields, signup_session }))).toEqual([401, 'unauthorized']);
    // Nobody has the address.
    expect((await world.user({ email: address })).email).toBe(address);
  });

  it('[SIGN-02] an hour later a client may start again', async () => {
    for (let n = 0; n < 10; n += 1) await agent.step('start', { email: freshAddress('ada') });
    const refused = await agent.step('start', { email: freshAddress('ada') });
    expect(refused.status).toBe(429);
    const wait = Number(refused.headers.get('retry-after'));
    await advance(wait - 5);
    expect((await agent.step('start', { email: freshAddress('ada') })).status).toBe(429);
    await advance(5);
    expect((await agent.step('start', { email: freshAddress('ada') })).status).toBe(200);
  });

  it('[SIGN-06] the workspace is pro for fourteen days, for keys and in every answer, and free afterwards', async () => {
    const person = await world.user({ email: freshAddress('ada', freshDomain()) });
    await agent.created(person.email ?? '', 'On trial');
    const create = (name: string) => send(sandbox.url, '/v1/api-keys', { method: 'POST', as: person.session_token, body: { name } });
    await advance(14 * DAY - 2 * 60 * MINUTE);
    expect((await teamsOf(world, person)).map(({ plan }: { plan: string }) => plan)).toEqual(['pro']);
    expect((await create('in time')).status).toBe(201);
    await advance(3 * 60 * MINUTE);
    expect((await teamsOf(world, person)).map(({ plan }: { plan: string }) => plan)).toEqual(['free']);
  });
});

describe('identity in trouble', () => {
  it('[SIGN-10] is waited for: 500 with Retry-After, and the flow stays where it was', async () => {
    const domain = freshDomain();
    const team = await openTeam(world, domain);
    const address = freshAddress('ada', domain);
    const [signup_session, code] = [await agent.started(address), await agent.code(address)];
    const steps = [
      ['verify', { code }],
      ['workspaces', {}],
      ['workspace', joining('', team.id)],
    ] as const;
    for (const [path, fields] of steps) {
      await setService('identity-and-oauth', { state: 'down' });
      for (const method of ['POST', 'GET', 'POST', 'GET', 'POST', 'GET'] as const) {
        const answer = await agent.step(path, { ...fields, signup_session }, method);
        expect(refusalOf(answer)).toEqual([500, 'internal_error']);
        expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
      }
      // Nobody is asked of at start and at the end.
      expect((await agent.step('calendar', { signup_session })).status).toBe(409);
      await agent.started(freshAddress('eve'));
      await setService('identity-and-oauth', { state: 'up' });
      expect((await agent.step(path, { ...fields, signup_session })).status).toBe(200);
    }
    await setService('identity-and-oauth', { state: 'slow', ms: 300 });
    const slow = await agent.created(freshAddress('ben', freshDomain()));
    await setService('identity-and-oauth', { state: 'up' });
    expect((await agent.step('calendar', { signup_session: slow })).status).toBe(200);
  });
});

describe('what the services write', () => {
  it('[GEN-10] [SIGN-09] is free of sessions, codes and addresses, also of those in queries', async () => {
    const address = freshAddress('ada', freshDomain());
    const { signup_session } = (await agent.step('start', { email: address }, 'GET')).json ?? {
      signup_session: await agent.started(address),
    };
    const code = await agent.code(address);
    await agent.step('verify', { signup_session, code }, 'GET');
    await agent.step('verify', { signup_session, code }, 'GET');
    await agent.step('workspaces', { signup_session }, 'GET');
    await agent.step('workspace', creating(signup_session), 'GET');
    await agent.step('calendar', { signup_session }, 'GET');
    await agent.ask(`/v1/signup/nothing?signup_session=${signup_session}&code=${code}&email=${address}`);
    await agent.ask(`/v1/signup/verify/?signup_session=${signup_session}&code=${code}`);
    const lines = sandbox.errors().split('\n');
    expect(lines.filter((line) => line.includes('/v1/signup/')).length).toBeGreaterThan(10);
    expect(secretsIn(lines)).toEqual([]);
    for (const secret of [signup_session, address, `"${code}"`]) expect(sandbox.errors()).not.toContain(secret);
  });
});
