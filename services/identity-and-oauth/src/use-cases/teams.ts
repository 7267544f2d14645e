import type { Role } from '@bubbles/contracts/access.ts';
import type { Clock } from '@bubbles/kernel/clock.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import type { Changed } from '@bubbles/store/aggregates.ts';
import { type Account, type Membership, withMembership, withoutMembership } from '../domain/account.ts';
import { type Channel, type Team, teamAt, visibleChannels } from '../domain/team.ts';
import type { AccountStore, Page, TeamStore } from '../ports.ts';

type TeamFields = Pick<Team, 'name' | 'plan' | 'archived' | 'domain' | 'discoverable' | 'trialEndsAt'>;

interface TeamPorts {
  readonly teams: TeamStore;
  readonly clock: Clock;
}
interface MembershipPorts extends Pick<TeamPorts, 'teams'> {
  readonly accounts: AccountStore;
}

export const createTeam =
  ({ teams, clock, ids }: TeamPorts & { ids: Ids }) =>
  async (fields: TeamFields): Promise<Team> => {
    const team: Team = { ...fields, id: ids.uuid(), createdAt: clock.now(), channels: [] };
    await teams.insert(team);
    return teamAt(team, clock.now());
  };

/** A plan that is set counts from then on: it ends a trial that goes on, unless the trial is set with it. */
export const changeTeam =
  ({ teams, clock }: TeamPorts) =>
  async ({ teamId, fields }: { teamId: string; fields: Partial<TeamFields> }): Promise<Team> => {
    const withoutTrial = fields.plan === undefined ? {} : { trialEndsAt: null };
    return teamAt(known(await teams.update(teamId, (team) => ({ ...team, ...withoutTrial, ...fields }))), clock.now());
  };

export const getTeam =
  ({ teams, clock }: TeamPorts) =>
  async (teamId: string): Promise<Team> =>
    teamAt(known(await teams.get(teamId)), clock.now());

export const listTeams =
  ({ teams, clock }: TeamPorts) =>
  async (page: Page): Promise<Team[]> => {
    const listed = await teams.page(page);
    return listed.map((team) => teamAt(team, clock.now()));
  };

export const addChannel =
  ({ teams, ids }: Pick<TeamPorts, 'teams'> & { ids: Ids }) =>
  async ({ teamId, name, memberIds }: { teamId: string } & Omit<Channel, 'id'>): Promise<Channel> => {
    const channel: Channel = { id: ids.uuid(), name, memberIds };
    known(await teams.update(teamId, (team) => ({ ...team, channels: [...team.channels, channel] })));
    return channel;
  };

export const setMembership =
  ({ accounts, teams }: MembershipPorts) =>
  async ({ userId, membership }: { userId: string; membership: Membership }): Promise<Membership> => {
    known(await teams.get(membership.teamId));
    const account = await accounts.update(userId, (one) => withoutEvents(withMembership(one, membership)));
    if (!account) throw noSuchAccount();
    return membership;
  };

/** Ending what has ended already changes nothing. */
export const endMembership =
  ({ accounts, teams }: MembershipPorts) =>
  async ({ userId, teamId }: { userId: string; teamId: string }): Promise<void> => {
    known(await teams.get(teamId));
    const account = await accounts.update(userId, (one) => withoutEvents(withoutMembership(one, teamId)));
    if (!account) throw noSuchAccount();
  };

/** Projections do not hear of memberships. */
export const withoutEvents = (account: Account | null): Changed<Account> | null => account && { state: account, events: [] };

export interface TeamOfCaller {
  /** The current team. */
  readonly team: Team;
  readonly role: Role;
  readonly channels: readonly Channel[];
}

/** In order of joining; without archived teams and hidden memberships. */
export const teamsOfCaller =
  ({ teams, clock }: TeamPorts) =>
  async (caller: Account): Promise<TeamOfCaller[]> => {
    const shown = caller.memberships.filter(({ hidden }) => !hidden);
    const byId = await teams.byIds(shown.map(({ teamId }) => teamId));
    const now = clock.now();
    return shown.flatMap(({ teamId, role }) => {
      const team = byId.get(teamId);
      return team && !team.archived
        ? [{ team: teamAt(team, now), role, channels: visibleChannels(team, { userId: caller.id, role }) }]
        : [];
    });
  };

const known = (team: Team | null): Team => {
  if (!team) throw new DomainError('not_found', 'No such team.');
  return team;
};
const noSuchAccount = () => new DomainError('not_found', 'No such account.');
