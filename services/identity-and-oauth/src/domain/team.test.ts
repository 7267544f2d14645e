import { describe, expect, it } from '@jest/globals';
import { AT, aTeam } from '../../test/builders.ts';
import { hasPaidFeatures, isJoinable, openedTo, type Team, teamAt, visibleChannels } from './team.ts';

const general = { id: 'general', name: 'general', memberIds: null };
const leads = { id: 'leads', name: 'leads', memberIds: ['ada'] };
const empty = { id: 'empty', name: 'empty', memberIds: [] };

describe('visible channels', () => {
  const team = aTeam({ channels: [general, leads, empty] });

  it.each([
    ['ada', 'admin', ['general', 'leads']],
    ['ben', 'admin', ['general']],
    ['ben', 'member', ['general']],
    ['gus', 'guest', []],
    ['ada', 'guest', ['leads']],
  ] as const)('[TEAM-03] %s as %s sees %j', (userId, role, seen) => {
    expect(visibleChannels(team, { userId, role }).map(({ id }) => id)).toEqual(seen);
  });
});

describe('paid features', () => {
  it.each([
    { who: 'an admin of a pro team', team: aTeam(), role: 'admin', paid: true },
    { who: 'a member of a pro team', team: aTeam(), role: 'member', paid: true },
    { who: 'a guest of a pro team', team: aTeam(), role: 'guest', paid: false },
    { who: 'a member of a free team', team: aTeam({ plan: 'free' }), role: 'member', paid: false },
    { who: 'an admin of an archived pro team', team: aTeam({ archived: true }), role: 'admin', paid: false },
  ] as const)('[KEY-04] $who: $paid', ({ team, role, paid }) => {
    expect(hasPaidFeatures([{ teamId: team.id, role }], new Map([[team.id, team]]), AT)).toBe(paid);
  });

  it('[KEY-04] one such team among several is enough, an unknown one is none', () => {
    const teams = new Map([
      ['free', aTeam({ id: 'free', plan: 'free' })],
      ['pro', aTeam({ id: 'pro' })],
    ]);
    const free = { teamId: 'free', role: 'admin' } as const;
    expect(hasPaidFeatures([free, { teamId: 'pro', role: 'member' }], teams, AT)).toBe(true);
    expect(hasPaidFeatures([free, { teamId: 'gone', role: 'admin' }], teams, AT)).toBe(false);
  });
});

describe('a trial', () => {
  const end = new Date(AT.getTime() + 1000);
  const before = new Date(end.getTime() - 1);
  const plans = (team: Team) => [before, end].map((at) => teamAt(team, at).plan);

  it('[SIGN-06] makes the team pro until its end, to the millisecond', () => {
    expect(plans(aTeam({ plan: 'free', trialEndsAt: end }))).toEqual(['pro', 'free']);
    expect(plans(aTeam({ plan: 'pro', trialEndsAt: end }))).toEqual(['pro', 'pro']);
    expect(plans(aTeam({ plan: 'free', trialEndsAt: null }))).toEqual(['free', 'free']);
  });

  it('[SIGN-06] is none of a team that an older release made', () => {
    expect([plans(aTeam({ plan: 'free' })), plans(aTeam({ plan: 'pro' }))]).toEqual([
      ['free', 'free'],
      ['pro', 'pro'],
    ]);
  });

  it('[SIGN-06] gives its admins and members paid features until its end, but no guest', () => {
    const teams = new Map([['team-1', aTeam({ plan: 'free', trialEndsAt: end })]]);
    const paid = (role: 'admin' | 'member' | 'guest', at: Date) => hasPaidFeatures([{ teamId: 'team-1', role }], teams, at);
    expect([paid('admin', before), paid('member', before), paid('guest', before), paid('admin', end)]).toEqual([true, true, false, false]);
  });
});

describe('a workspace of a domain', () => {
  const open = aTeam({ domain: 'acme.test', discoverable: true });

  it.each<{ what: string; team: Team; domain: string | null; joinable: boolean }>([
    { what: 'of its domain', team: open, domain: 'acme.test', joinable: true },
    { what: 'of another domain', team: open, domain: 'other.test', joinable: false },
    { what: 'without a domain, asked by somebody without one', team: aTeam({ discoverable: true }), domain: null, joinable: false },
    { what: 'that is not discoverable', team: { ...open, discoverable: false }, domain: 'acme.test', joinable: false },
    { what: 'that is archived', team: { ...open, archived: true }, domain: 'acme.test', joinable: false },
  ])('[SIGN-05] $what is joinable: $joinable', ({ team, domain, joinable }) => {
    expect(isJoinable(team, domain === null ? [] : [domain])).toBe(joinable);
  });

  it('[SIGN-07] is opened to one domain, and again changes nothing', () => {
    const opened = openedTo(aTeam(), 'acme.test');
    expect(opened).toEqual(open);
    expect(openedTo(open, 'acme.test')).toBe(open);
  });

  it.each<{ what: string; team: Team }>([
    { what: 'has another domain', team: aTeam({ domain: 'other.test' }) },
    { what: 'was closed to its domain', team: { ...open, discoverable: false } },
    { what: 'is archived', team: aTeam({ archived: true }) },
  ])('[SIGN-07] is not opened when it $what', ({ team }) => {
    expect(openedTo(team, 'acme.test')).toBeNull();
  });
});
