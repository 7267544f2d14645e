import type { Plan, Role } from '@bubbles/contracts/access.ts';
import type { Membership } from './account.ts';

export interface Channel {
  readonly id: string;
  readonly name: string | null;
  /** The users who see it; null: every admin and member of the team. */
  readonly memberIds: readonly string[] | null;
}

export interface Team {
  readonly id: string;
  readonly name: string | null;
  readonly plan: Plan;
  readonly archived: boolean;
  /** The e-mail domain of its people. */
  readonly domain: string | null;
  /** People of its domain may find and join it. */
  readonly discoverable: boolean;
  readonly createdAt: Date;
  readonly channels: readonly Channel[];
}

interface Viewer {
  readonly userId: string;
  readonly role: Role;
}

export const visibleChannels = (team: Team, { userId, role }: Viewer): readonly Channel[] =>
  team.channels.filter(({ memberIds }) => (memberIds ? memberIds.includes(userId) : role !== 'guest'));

/** Teams by id, as a store answers them. */
export type TeamsById = ReadonlyMap<string, Team>;

/** Admin or member of an unarchived team on plan pro. */
export const hasPaidFeatures = (memberships: readonly Pick<Membership, 'teamId' | 'role'>[], teams: TeamsById): boolean =>
  memberships.some(({ teamId, role }) => {
    const team = teams.get(teamId);
    return team !== undefined && team.plan === 'pro' && !team.archived && role !== 'guest';
  });
