import { describe, expect, it } from '@jest/globals';
import { aTeam } from '../../test/builders.ts';
import { hasPaidFeatures, visibleChannels } from './team.ts';

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
    expect(hasPaidFeatures([{ teamId: team.id, role }], new Map([[team.id, team]]))).toBe(paid);
  });

  it('[KEY-04] one such team among several is enough, an unknown one is none', () => {
    const teams = new Map([
      ['free', aTeam({ id: 'free', plan: 'free' })],
      ['pro', aTeam({ id: 'pro' })],
    ]);
    const free = { teamId: 'free', role: 'admin' } as const;
    expect(hasPaidFeatures([free, { teamId: 'pro', role: 'member' }], teams)).toBe(true);
    expect(hasPaidFeatures([free, { teamId: 'gone', role: 'admin' }], teams)).toBe(false);
  });
});
