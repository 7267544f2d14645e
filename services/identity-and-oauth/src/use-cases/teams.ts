import type { Role } from '@bubbles/contracts/access.ts';
import type { Clock } from '@bubbles/kernel/clock.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import type { Changed } from '@bubbles/store/aggregates.ts';
import { type Account, type Membership, withMembership, withoutMembership } from '../domain/account.ts';
import { type Channel, type Team, visibleChannels } from '../domain/team.ts';
import type { AccountStore, Page, TeamStore } from '../ports.ts';

type TeamFields = Pick<Team, 'name' | 'plan' | 'archived' | 'domain' | 'discoverable'>;

interface TeamPorts {
  readonly teams: TeamStore;
}
interface MembershipPorts extends TeamPorts {
  readonly accounts: AccountStore;
}

export const createTeam =
  ({ teams, clock, ids }: TeamPorts & { clock: Clock; ids: Ids }) =>
  async (fields: TeamFields): Promise<Team> => {
    const team: Team = { ...fields, id: ids.uuid(), createdAt: clock.now(), channels: [] };
    await teams.insert(team);
    return team;
  };

export const changeTeam =
  ({ teams }: TeamPorts) =>
  async ({ teamId, fields }: { teamId: string; fields: Partial<TeamFields> }): Promise<Team> =>
    known(await teams.update(teamId, (team) => ({ ...team, ...fields })));

export const getTeam =
  ({ teams }: TeamPorts) =>
  async (teamId: string): Promise<Team> =>
    known(await teams.get(teamId));

export const listTeams =
  ({ teams }: TeamPorts) =>
  (page: Page): Promise<Team[]> =>
    teams.page(page);

export const addChannel =
  ({ teams, ids }: TeamPorts & { ids: Ids }) =>
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
const withoutEvents = (account: Account | null): Changed<Account> | null => account && { state: account, events: [] };

export interface TeamOfCaller {
  readonly team: Team;
  readonly role: Role;
  readonly channels: readonly Channel[];
}

/** In order of joining; without archived teams and hidden memberships. */
export const teamsOfCaller =
  ({ teams }: { teams: TeamStore }) =>
  async (caller: Account): Promise<TeamOfCaller[]> => {
    const shown = caller.memberships.filter(({ hidden }) => !hidden);
    const byId = await teams.byIds(shown.map(({ teamId }) => teamId));
    return shown.flatMap(({ teamId, role }) => {
      const team = byId.get(teamId);
      return team && !team.archived ? [{ team, role, channels: visibleChannels(team, { userId: caller.id, role }) }] : [];
    });
  };

const known = (team: Team | null): Team => {
  if (!team) throw new DomainError('not_found', 'No such team.');
  return team;
};
const noSuchAccount = () => new DomainError('not_found', 'No such account.');
