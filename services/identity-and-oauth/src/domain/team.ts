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
  /** What it is when no trial goes on; `teamAt` tells what counts. */
  readonly plan: Plan;
  /** It is pro until then. Null without a trial, absent in teams of an older release. */
  readonly trialEndsAt?: Date | null;
  readonly archived: boolean;
  /** The e-mail domain of its people. */
  readonly domain: string | null;
  /** People of its domain may find and join it. */
  readonly discoverable: boolean;
  readonly createdAt: Date;
  readonly channels: readonly Channel[];
}

/** The one rule of which plan counts: nothing is written when a trial ends. */
const planAt = ({ plan, trialEndsAt = null }: Team, at: Date): Plan => (trialEndsAt !== null && trialEndsAt > at ? 'pro' : plan);

/** A member of such a team has had a trial, so a workspace that they create gets none. */
export const hasHadTrial = ({ trialEndsAt = null }: Team): boolean => trialEndsAt !== null;

/** The team with the plan that applies at a time. */
export const teamAt = (team: Team, at: Date): Team => ({ ...team, plan: planAt(team, at) });

interface Viewer {
  readonly userId: string;
  readonly role: Role;
}

export const visibleChannels = (team: Team, { userId, role }: Viewer): readonly Channel[] =>
  team.channels.filter(({ memberIds }) => (memberIds ? memberIds.includes(userId) : role !== 'guest'));

/** Teams by id, as a store answers them. */
export type TeamsById = ReadonlyMap<string, Team>;

/** Admin or member of an unarchived team that is on plan pro at the time. */
export const hasPaidFeatures = (memberships: readonly Pick<Membership, 'teamId' | 'role'>[], teams: TeamsById, at: Date): boolean =>
  memberships.some(({ teamId, role }) => {
    const team = teams.get(teamId);
    return team !== undefined && planAt(team, at) === 'pro' && !team.archived && role !== 'guest';
  });

/** Whether people whose addresses are in these domains may find and join it. */
export const isJoinable = ({ archived, discoverable, domain }: Team, domains: readonly string[]): boolean =>
  domain !== null && domains.includes(domain) && discoverable && !archived;

/** The same team when it is open to the domain already; null when it may not be: an operator has said otherwise. */
export const openedTo = (team: Team, domain: string): Team | null => {
  if (isJoinable(team, [domain])) return team;
  return team.domain === null && !team.archived ? { ...team, domain, discoverable: true } : null;
};
