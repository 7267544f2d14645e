import type { Role } from '@bubbles/contracts/access.ts';
import type { Account } from '../domain/account.ts';
import { type Channel, type Team, visibleChannels } from '../domain/team.ts';
import type { TeamStore } from '../ports.ts';

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
