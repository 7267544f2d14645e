import { expect } from '@jest/globals';
import type { Answer } from '../client.ts';
import { control } from '../sandbox-world.ts';
import { creating, freshDomain, joining, openTeam, refusalOf, signupAgent, teamsOf, wrongFor } from '../signup.ts';
import { freshAddress } from '../world.ts';
import { type Checks, expectRefusal, type Lab, REFUSED, UNAUTHORIZED } from './lab.ts';
import { linesOf, secretsIn } from './logs.ts';

const CONFLICT = [409, 'invalid_request'] as const;
const FORBIDDEN = [403, 'forbidden'] as const;
const FIVE_MINUTES = 300;

const agentOf = ({ world }: Lab) => signupAgent(world);
const start = (lab: Lab, email: string): Promise<Answer> => agentOf(lab).step('start', { email });
const opening = (signup_session: string) => ({ signup_session, action: 'enable_domain_join' });
const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

export const SIGNUP_CHECKS: Checks = {
  'SESSIONTOKENCONFUSION-02': async (lab) => {
    const { pat, session_token, id } = await lab.proUser();
    const { access_token } = await lab.world.oauthToken(id);
    for (const signup_session of [pat, session_token, access_token])
      for (const [path, fields] of [
        ['verify', { code: '123456' }],
        ['workspaces', {}],
        ['workspace', creating('')],
        ['calendar', {}],
      ] as const)
        expectRefusal(await agentOf(lab).step(path, { ...fields, signup_session }), UNAUTHORIZED);
  },
  'SESSIONTOKENCONFUSION-05': async (lab) => {
    const agent = agentOf(lab);
    const [ada, ben] = [freshAddress('ada'), freshAddress('ben')];
    const [ofAda, ofBen] = [await agent.started(ada), await agent.started(ben)];
    const [codeOfAda, codeOfBen] = [await agent.code(ada), await agent.code(ben)];
    if (codeOfAda !== codeOfBen) expectRefusal(await agent.step('verify', { signup_session: ofAda, code: codeOfBen }), UNAUTHORIZED);
    expect((await agent.step('verify', { signup_session: ofBen, code: codeOfBen })).status).toBe(200);
    expectRefusal(await agent.step('workspaces', { signup_session: ofAda }), CONFLICT);
  },
  'NOSQLINJECTION-04': async (lab) => {
    const agent = agentOf(lab);
    for (const email of [{ $gt: '' }, [], 1, null]) expectRefusal(await agent.step('start', { email }), REFUSED);
    const signup_session = await agent.started(freshAddress('ada'));
    for (const code of [{ $regex: '.*' }, { $ne: null }, 123_456])
      expectRefusal(await agent.step('verify', { signup_session, code }), REFUSED);
    for (const path of ['workspaces', 'workspace', 'calendar'])
      expectRefusal(await agent.step(path, { ...creating(''), signup_session: { $ne: null } }), REFUSED);
    expectRefusal(await agent.step('workspace', { signup_session, action: 'join', team_id: { $exists: true } }), REFUSED);
  },
  'JSONBODY-14': async ({ call }) => {
    const answer = await call('/v1/signup/calendar', { method: 'POST' });
    expectRefusal(answer, REFUSED);
    expect(answer.json.error.message).toContain('signup_session');
  },
  'SIGNUP-01': async (lab) => {
    const { email } = await lab.world.user({ email: freshAddress('ada') });
    const took: Record<'known' | 'unknown', number[]> = { known: [], unknown: [] };
    const seen = new Set<string>();
    // Ten an hour go to one mailbox: as many of it and of nobody's, in turn; `npm run bench -- signup` compares a thousand.
    for (let n = 0; n < 10; n += 1)
      for (const [kind, address] of [
        ['known', email ?? ''],
        ['unknown', freshAddress('ada')],
      ] as const) {
        const before = performance.now();
        const answer = await start(lab, address);
        took[kind].push(performance.now() - before);
        seen.add(`${answer.status} ${Object.keys(answer.json)} ${[...answer.headers.keys()]}`);
      }
    expect(seen.size).toBe(1);
    expect(median(took.known) / median(took.unknown)).toBeLessThan(2);
    expect(median(took.unknown) / median(took.known)).toBeLessThan(2);
  },
  'SIGNUP-03': async (lab) => {
    const [agent, address] = [agentOf(lab), freshAddress('ada')];
    const [signup_session, code] = [await agent.started(address), await agent.code(address)];
    const wrong = await Promise.all(Array.from({ length: 10 }, () => agent.step('verify', { signup_session, code: wrongFor(code) })));
    for (const answer of wrong) expectRefusal(answer, UNAUTHORIZED);
    expectRefusal(await agent.step('verify', { signup_session, code }), UNAUTHORIZED);
  },
  'SIGNUP-05': async (lab) => {
    const [agent, address] = [agentOf(lab), freshAddress('ada')];
    const [signup_session, code] = [await agent.started(address), await agent.code(address)];
    expect((await agent.step('verify', { signup_session, code })).status).toBe(200);
    expectRefusal(await agent.step('verify', { signup_session, code }), UNAUTHORIZED);
  },
  'SIGNUP-06': async (lab) => {
    const [agent, address] = [agentOf(lab), freshAddress('ada')];
    const [signup_session, code] = [await agent.started(address), await agent.code(address)];
    for (let passed = 0; passed < 2; passed += 1) await control(lab.sandbox.url, 'POST /clock', { advance_seconds: FIVE_MINUTES });
    expectRefusal(await agent.step('verify', { signup_session, code }), UNAUTHORIZED);
  },
  'SIGNUP-08': async (lab) => {
    const [agent, address] = [agentOf(lab), freshAddress('ada')];
    const [first, code] = [await agent.started(address), await agent.code(address)];
    const second = await agent.started(address);
    if ((await agent.code(address)) !== code) expectRefusal(await agent.step('verify', { signup_session: second, code }), UNAUTHORIZED);
    expect((await agent.step('verify', { signup_session: first, code })).status).toBe(200);
  },
  'SIGNUP-10': async (lab) => {
    for (const email of ['x@mailinator.com', 'x@sub.mailinator.com', 'X@MAILINATOR.COM', 'x@yopmail.fr'])
      expectRefusal(await start(lab, email), REFUSED);
  },
  'SIGNUP-11': async (lab) => {
    const domain = freshDomain();
    for (const email of [`user+tag@${domain}`, `user@${domain}`]) expect((await start(lab, email)).status).toBe(200);
    const tagged = await lab.world.mails(`user+tag@${domain}`);
    expect(tagged.map(({ to }) => to)).toEqual([`user+tag@${domain}`]);
    expect(await lab.world.mails(`user@${domain}`)).toHaveLength(1);
  },
  'SIGNUP-13': async (lab) => {
    const agent = agentOf(lab);
    for (const email of ['a@müller.de', 'a@xn--mller-kva.de']) {
      const session = await agent.started(email);
      const code = await agent.code('a@xn--mller-kva.de');
      expect((await agent.step('verify', { signup_session: session, code })).status).toBe(200);
    }
  },
  'SIGNUP-15': async (lab) => {
    const label = 'b'.repeat(61);
    const whole = (length: number): string => {
      const domain = `@${label}.${label}.${label}.example`;
      return 'a'.repeat(length - domain.length) + domain;
    };
    for (const email of [`${'a'.repeat(65)}@acme.example`, `a@${'b'.repeat(64)}.example`, whole(255)])
      expectRefusal(await start(lab, email), REFUSED);
    for (const email of [`${'a'.repeat(64)}@acme.example`, `a@${'b'.repeat(63)}.example`, whole(254)])
      expect((await start(lab, email)).status).toBe(200);
  },
  'SIGNUP-16': async (lab) => {
    const agent = agentOf(lab);
    for (const email of ['a@corp.example\r\nBcc: victim@x.y', 'a@corp.example\nBcc: victim@x.y', 'a\r\n@corp.example'])
      expectRefusal(await agent.step('start', { email }), REFUSED);
    expectRefusal(await agent.ask('/v1/signup/start?email=a@corp.example%0d%0aBcc:%20victim@x.y'), REFUSED);
    expect(await lab.world.mails('victim@x.y')).toEqual([]);
  },
  'SIGNUP-18': async (lab) => {
    const [agent, domain] = [agentOf(lab), freshDomain()];
    await openTeam(lab.world, domain);
    const answer = await agent.step('workspaces', { signup_session: await agent.started(freshAddress('ada', domain)) });
    expectRefusal(answer, CONFLICT);
  },
  'SIGNUP-20': async (lab) => {
    const [agent, domain] = [agentOf(lab), freshDomain()];
    const team = await openTeam(lab.world, domain);
    const [joiner, creator] = [
      await lab.world.user({ email: freshAddress('ada', domain) }),
      await lab.world.user({ email: freshAddress('ben', domain) }),
    ];
    const [joined, created] = [await agent.listed(joiner.email ?? ''), await agent.listed(creator.email ?? '')];
    const answers = await Promise.all(
      [1, 2].flatMap(() => [agent.step('workspace', joining(joined, team.id)), agent.step('workspace', creating(created))]),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    for (const person of [joiner, creator]) expect(await teamsOf(lab.world, person)).toHaveLength(1);
  },
  'SIGNUP-21': async (lab) => {
    const [agent, domain] = [agentOf(lab), freshDomain()];
    const open = (signup_session: string) => agent.step('workspace', opening(signup_session));
    expectRefusal(await open(await agent.listed(freshAddress('ada', domain))), CONFLICT);
    const created = await agent.created(freshAddress('ben', domain));
    expect((await open(created)).status).toBe(200);
    expectRefusal(await open(created), CONFLICT);
    const listed = await agent.verified(freshAddress('eve', domain));
    const { workspaces } = (await agent.step('workspaces', { signup_session: listed })).json;
    await agent.step('workspace', joining(listed, workspaces[0].id));
    expectRefusal(await open(listed), CONFLICT);
    const done = await agent.created(freshAddress('fay', freshDomain()));
    await agent.step('calendar', { signup_session: done });
    expectRefusal(await open(done), CONFLICT);
  },
  'SIGNUP-23': async (lab) => {
    const agent = agentOf(lab);
    const open = async (domain: string) => agent.step('workspace', opening(await agent.created(freshAddress('ada', domain))));
    for (const domain of ['mail.gmail.com', 'co.uk', 'github.io']) expectRefusal(await open(domain), FORBIDDEN);
    const [company, site] = [`${freshDomain().split('.')[0]}.co.uk`, `${freshDomain().split('.')[0]}.github.io`];
    expect((await open(`sub.${company}`)).json.domain).toBe(company);
    expect((await open(site)).json.domain).toBe(site);
  },
  'SIGNUP-25': async (lab) => {
    const [agent, address] = [agentOf(lab), freshAddress('ada')];
    const signup_session = await agent.verified(address);
    const answer = await agent.ask(`/v1/signup/workspaces?signup_session=${signup_session}`);
    expect([answer.status, answer.headers.get('referrer-policy'), answer.headers.get('cache-control')]).toEqual([
      200,
      'no-referrer',
      'no-store',
    ]);
    await agent.ask(`/v1/signup/verify?signup_session=${signup_session}&code=987654`);
    const lines = linesOf(lab);
    expect(secretsIn(lines)).toEqual([]);
    for (const secret of [signup_session, address]) expect(lines.join('\n')).not.toContain(secret);
  },
  'SIGNUP-26': async (lab) => {
    const [agent, address] = [agentOf(lab), freshAddress('ada')];
    const statuses: number[] = [];
    for (let n = 0; n < 12; n += 1) statuses.push((await agent.ask(`/v1/signup/start?email=${address}`)).status);
    // What one client of the network may take of a mailbox's ten.
    expect(statuses).toEqual([...Array(3).fill(200), ...Array(9).fill(429)]);
    expect(await lab.world.mails(address)).toHaveLength(3);
    const session = await agent.listed(freshAddress('ben', freshDomain()));
    const link = `/v1/signup/workspace?signup_session=${session}&action=create&workspace_name=Acme`;
    const [first, second] = [await agent.ask(link), await agent.ask(link)];
    expect([first.status, second.text]).toEqual([200, first.text]);
    expect(refusalOf(await agent.ask(link, 'HEAD'))).toEqual([405, undefined]);
  },
};
