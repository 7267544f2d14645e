import type { Account, Membership } from '../domain/account.ts';
import { hasPaidFeatures, type Team, type TeamsById, visibleChannels } from '../domain/team.ts';
import type { AccountStore, TeamStore } from '../ports.ts';

interface MembershipAccess extends Membership {
  readonly visibleChannelIds: readonly string[];
}

export interface AccountAccess {
  readonly id: string;
  /** Null when there is no such account. */
  readonly account: Account | null;
  readonly paidFeatures: boolean;
  readonly memberships: readonly MembershipAccess[];
}

export interface TeamAccess {
  readonly id: string;
  /** Null when there is no such team. */
  readonly team: Team | null;
}

interface Access {
  readonly accounts: readonly AccountAccess[];
  readonly teams: readonly TeamAccess[];
}

/** The live state of accounts and teams, in the order asked. */
export const readAccess =
  ({ accounts, teams }: { accounts: AccountStore; teams: TeamStore }) =>
  async ({ accountIds, teamIds }: { accountIds: readonly string[]; teamIds: readonly string[] }): Promise<Access> => {
    const accountsById = await accounts.byIds(accountIds);
    const joined = accountsById.values().flatMap(({ memberships }) => memberships.map(({ teamId }) => teamId));
    const teamsById = await teams.byIds([...new Set([...teamIds, ...joined])]);
    return {
      accounts: accountIds.map((id) => accountAccess(id, accountsById.get(id) ?? null, teamsById)),
      teams: teamIds.map((id) => ({ id, team: teamsById.get(id) ?? null })),
    };
  };

const accountAccess = (id: string, account: Account | null, teams: TeamsById): AccountAccess => {
  if (!account) return { id, account, paidFeatures: false, memberships: [] };
  return {
    id,
    account,
    paidFeatures: hasPaidFeatures(account.memberships, teams),
    memberships: account.memberships.map((membership) => ({ ...membership, visibleChannelIds: visibleIds(account.id, membership, teams) })),
  };
};

const visibleIds = (userId: string, { teamId, role }: Membership, teams: TeamsById): readonly string[] => {
  const team = teams.get(teamId);
  return team ? visibleChannels(team, { userId, role }).map(({ id }) => id) : [];
};
