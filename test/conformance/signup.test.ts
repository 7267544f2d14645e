import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Answer } from './support/client.ts';
import { openWorld } from './support/open-world.ts';
import { shapeFaults } from './support/shape.ts';
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
const COMPONENTS = {
  start: 'SignupStartResponse',
  verify: 'SignupVerifyResponse',
  workspaces: 'SignupWorkspacesResponse',
  workspace: 'SignupWorkspaceResponse',
  calendar: 'SignupCalendarResponse',
} as const;
type StepPath = keyof typeof COMPONENTS;

const opening = (signup_session: string) => ({ signup_session, action: 'enable_domain_join' });

describe.each(METHODS)('signup by %s', (method) => {
  const step = async (path: StepPath, fields: object): Promise<Answer> => {
    const answer = await agent.step(path, { ...fields }, method);
    if (answer.status === 200) expect(shapeFaults(COMPONENTS[path], answer.json)).toEqual([]);
    expect([answer.headers.get('cache-control'), answer.headers.get('referrer-policy')]).toEqual(['no-store', 'no-referrer']);
    return answer;
  };
  beforeAll(() => {
    agent = signupAgent(world);
  });

  it('[SIGN-01] [SIGN-06] [SIGN-08] creates a workspace on a trial of pro, and names every next step', async () => {
    const address = freshAddress('ada', freshDomain());
    const started = await step('start', { email: address.toUpperCase() });
    expect(started.json.next_step).toBe('verify');
    const { signup_session } = started.json;
    const verified = await step('verify', { signup_session, code: await agent.code(address) });
    const listed = await step('workspaces', { signup_session });
    expect([verified.json.next_step, listed.json.next_step, listed.json.workspaces]).toEqual(['workspaces', 'workspace', []]);
    const created = await step('workspace', creating(signup_session, 'Acme of Ada'));
    expect(created.json).toMatchObject({
      next_step: 'calendar',
      team_id: expect.any(String),
      pro_trial: { active: true, plan: 'pro', benefits: expect.arrayContaining([expect.any(String)]) },
      domain_join: { available: true, domain: address.slice(address.indexOf('@') + 1) },
    });
    const done = await step('calendar', { signup_session });
    expect(done.json).toMatchObject({ next_step: 'done', skip: true, mcp: { endpoint: expect.stringMatching(/\/mcp$/) } });
    expect((await fetch(done.json.mcp.oauth_protected_resource)).status).toBe(200);
    for (const { json } of [started, verified, listed, created, done]) {
      expect(json.signup_session).toBe(signup_session);
      expect([json.agent_context, json.relay_to_user]).toEqual([expect.stringMatching(/.{20}/), expect.stringMatching(/.{10}/)]);
    }
  });

  it('[SIGN-03] takes the code of this flow alone, once, and refuses wrong ones', async () => {
    const address = freshAddress('ada');
    const [other, foreign] = [await agent.started(address), await agent.code(address)];
    const signup_session = (await step('start', { email: address })).json.signup_session;
    const [code = ''] = await agent.codes(address, 2);
    const verify = async (session: string, tried: string) => refusalOf(await step('verify', { signup_session: session, code: tried }));
    if (foreign !== code) expect(await verify(signup_session, foreign)).toEqual([401, 'unauthorized']);
    expect(await verify(signup_session, code)).toEqual([200, undefined]);
    expect(await verify(signup_session, code)).toEqual([401, 'unauthorized']);
    if (foreign !== code) expect(await verify(other, code)).toEqual([401, 'unauthorized']);
  });

  it('[SIGN-03] a code is over after five tries', async () => {
    const address = freshAddress('ada');
    const [signup_session, code] = [await agent.started(address), await agent.code(address)];
    for (let tries = 0; tries < 10; tries += 1)
      expect(refusalOf(await step('verify', { signup_session, code: wrongFor(code) }))).toEqual([401, 'unauthorized']);
    expect(refusalOf(await step('verify', { signup_session, code }))).toEqual([401, 'unauthorized']);
    expect(refusalOf(await step('workspaces', { signup_session }))).toEqual([409, 'invalid_request']);
  });

  it('[SIGN-04] [SIGN-05] lists and joins what the domain may join, and nothing else', async () => {
    const domain = freshDomain();
    const open = await openTeam(world, domain);
    const closed = [
      await openTeam(world, domain, { discoverable: false }),
      await openTeam(world, domain, { archived: true }),
      await openTeam(world, freshDomain()),
    ];
    const person = await world.user({ email: freshAddress('ada', `mail.${domain}`) });
    const signup_session = await agent.verified(person.email ?? '');
    const listed = await step('workspaces', { signup_session });
    expect(listed.json.workspaces).toEqual([{ id: open.id, name: 'Acme' }]);
    for (const { id } of [...closed, { id: 'nothing' }])
      expect(refusalOf(await step('workspace', joining(signup_session, id)))).toEqual([403, 'forbidden']);
    const joined = await step('workspace', joining(signup_session, open.id));
    expect(joined.json).toMatchObject({ next_step: 'calendar', team_id: open.id });
    expect([joined.json.pro_trial, joined.json.domain_join]).toEqual([undefined, undefined]);
    expect(await teamsOf(world, person)).toEqual([expect.objectContaining({ id: open.id, role: 'member' })]);
  });

  it('[SIGN-07] opens the created workspace to the domain once, after create and before the calendar', async () => {
    const domain = freshDomain();
    const signup_session = await agent.listed(freshAddress('ada', domain));
    expect(refusalOf(await step('workspace', opening(signup_session)))).toEqual([409, 'invalid_request']);
    const { team_id } = (await step('workspace', creating(signup_session))).json;
    const opened = await step('workspace', opening(signup_session));
    expect(opened.json).toMatchObject({ next_step: 'calendar', domain_join_enabled: true, domain });
    expect(refusalOf(await step('workspace', opening(signup_session)))).toEqual([409, 'invalid_request']);
    const colleague = await agent.listed(freshAddress('ben', domain));
    expect((await step('workspace', joining(colleague, team_id))).status).toBe(200);
    expect(refusalOf(await step('workspace', opening(colleague)))).toEqual([409, 'invalid_request']);
    const late = await agent.created(freshAddress('ada', freshDomain()));
    await step('calendar', { signup_session: late });
    expect(refusalOf(await step('workspace', opening(late)))).toEqual([409, 'invalid_request']);
  });

  it('[SIGN-10] answers a step that is sent again the same, and does nothing twice', async () => {
    const person = await world.user({ email: freshAddress('ada', freshDomain()) });
    const signup_session = await agent.verified(person.email ?? '');
    for (const [path, fields] of [
      ['workspaces', { signup_session }],
      ['workspace', creating(signup_session)],
      ['calendar', { signup_session }],
      ['workspace', creating(signup_session)],
    ] as const) {
      const [first, second] = [await step(path, fields), await step(path, fields)];
      expect([first.status, withoutTokens(second)]).toEqual([200, withoutTokens(first)]);
    }
    expect(await teamsOf(world, person)).toEqual([
      expect.objectContaining({ name: 'Acme', plan: 'pro', role: 'admin', channels: [expect.objectContaining({ name: 'general' })] }),
    ]);
  });

  it('[SIGN-04] [SIGN-10] refuses steps out of order and sessions that are none', async () => {
    const [started, verified] = [await agent.started(freshAddress('ada')), await agent.verified(freshAddress('ada'))];
    for (const fields of [creating(started), joining(started, 'x'), opening(started), creating(verified)])
      expect(refusalOf(await step('workspace', fields))).toEqual([409, 'invalid_request']);
    for (const [path, signup_session] of [
      ['workspaces', started],
      ['calendar', started],
      ['calendar', verified],
    ] as const)
      expect(refusalOf(await step(path, { signup_session }))).toEqual([409, 'invalid_request']);
    const { pat, session_token } = await world.user();
    for (const signup_session of [pat, session_token, `${started}x`, 'nothing'])
      for (const [path, fields] of [
        ['verify', { code: '123456' }],
        ['workspaces', {}],
        ['workspace', creating('')],
        ['calendar', {}],
      ] as const)
        expect(refusalOf(await step(path, { ...fields, signup_session }))).toEqual([401, 'unauthorized']);
  });

  it.each([
    ['start', {}, 'email'],
    ['start', { email: 'ada' }, 'email'],
    ['start', { email: 'ada@acme.example\r\nBcc: eve@acme.example' }, 'email'],
    ['start', { email: 'ada@mailinator.com' }, 'email'],
    ['verify', { signup_session: 'x' }, 'code'],
    ['workspaces', {}, 'signup_session'],
    ['workspace', { signup_session: 'x', action: 'own' }, 'action'],
    ['workspace', { signup_session: 'x', action: 'join' }, 'team_id'],
    ['workspace', { signup_session: 'x', action: 'create', workspace_name: '' }, 'workspace_name'],
    ['calendar', { signup_session: '' }, 'signup_session'],
  ] as const)('[SIGN-02] [SIGN-09] names the field of %s that is wrong in %j', async (path, fields, name) => {
    const answer = await step(path, fields);
    expect([...refusalOf(answer), answer.json.error.message]).toEqual([
      400,
      'invalid_request',
      expect.stringMatching(new RegExp(`^${name}: `)),
    ]);
  });
});
