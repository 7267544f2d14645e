import { describe, expect, it } from '@jest/globals';
import { type Flow, isAllowed, isSameChoice, newFlow, SESSION_BYTES, type Step } from './flow.ts';
import { REFUSALS, TEXTS } from './texts.ts';

const AT = new Date('2026-03-01T12:00:00.000Z');
const begun = newFlow({ id: 'flow-1', random: Buffer.alloc(SESSION_BYTES, 7), address: 'ada@acme.example', at: AT });
const inState = (state: Flow['state'], openedTo: string | null = null): Flow => ({ ...begun.flow, state, openedTo });

describe('a flow', () => {
  it('[SIGN-10] has a session of 32 random bytes for an hour, a code for ten minutes, and keeps the hash alone', () => {
    expect(begun.session).toBe(`svc_signup_${Buffer.alloc(SESSION_BYTES, 7).toString('base64url')}`);
    expect(JSON.stringify(begun.flow)).not.toContain(begun.session.slice(11));
    expect(begun.flow.sessionHash).toMatch(/^[0-9a-f]{64}$/);
    expect([begun.flow.expiresAt.toISOString(), begun.codeUntil.toISOString()]).toEqual([
      '2026-03-01T13:00:00.000Z',
      '2026-03-01T12:10:00.000Z',
    ]);
  });

  it.each<[Flow['state'], readonly Step[]]>([
    ['started', ['verify']],
    ['verified', ['workspaces']],
    ['listed', ['workspaces', 'join', 'create']],
    ['joined', ['workspaces', 'join', 'calendar']],
    ['created', ['workspaces', 'create', 'open', 'calendar']],
    ['done', ['workspaces', 'join', 'create', 'calendar']],
    ['closed', []],
  ])('[SIGN-10] %s allows %j', (state, steps) => {
    const all: readonly Step[] = ['verify', 'workspaces', 'join', 'create', 'open', 'calendar'];
    expect(all.filter((step) => isAllowed(step, inState(state)))).toEqual(steps);
  });

  it('[SIGN-07] opens its workspace once', () => {
    expect(isAllowed('open', inState('created', 'acme.example'))).toBe(false);
  });

  it('[SIGN-10] stays with its choice: one team, or one creation whatever its name', () => {
    const join = { action: 'join', teamId: 'one' } as const;
    const create = { action: 'create', name: 'Acme' } as const;
    expect([isSameChoice(join, { ...join }), isSameChoice(join, { ...join, teamId: 'other' }), isSameChoice(join, create)]).toEqual([
      true,
      false,
      false,
    ]);
    expect([isSameChoice(create, { ...create, name: 'Other' }), isSameChoice(create, join)]).toEqual([true, false]);
  });
});

describe('what agents are told', () => {
  it('[SIGN-06] names the day on which the trial ends, and offers the domain where it is a company of its own', () => {
    const created = { name: 'Acme', trialEndsAt: new Date('2026-03-15T12:00:00.000Z'), flowId: 'flow-1' };
    const { agent, user } = TEXTS.created(created, 'acme.example');
    expect([agent, user]).toEqual([expect.stringContaining('until 2026-03-15'), expect.stringContaining('until 2026-03-15')]);
    expect(agent).toContain('enable_domain_join');
    expect(TEXTS.created({ ...created, trialEndsAt: null }, null).agent).not.toMatch(/trial|enable_domain_join/);
  });

  it('[SIGN-01] says with every refusal what comes next', () => {
    const flow = inState('listed');
    const refused = [
      REFUSALS.outOfOrder('calendar', flow),
      REFUSALS.codeUsed(flow),
      REFUSALS.unknownSession(),
      REFUSALS.codeOver(),
      REFUSALS.otherChoice(),
      REFUSALS.notJoinable(),
    ];
    for (const { message } of refused) expect(message).toMatch(/\/v1\/signup\/\w+/);
    expect([REFUSALS.wrongCode().kind, REFUSALS.accountClosed().type, REFUSALS.tooManyStarts(9).retryAfterSeconds]).toEqual([
      'unauthorized',
      'account_deleted',
      9,
    ]);
  });
});
