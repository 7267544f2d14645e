import type { AccountState, Plan, Role } from '@bubbles/contracts/access.ts';
import type { CreateTeam } from '@bubbles/contracts/internal/identity.ts';
import type { z } from 'zod';
import type { Directory } from '../pipeline/people.ts';

export interface Profile {
  readonly id: string;
  readonly email: string | null;
  readonly name: string | null;
  readonly pictureUrl: string | null;
}
export interface NewProfile {
  readonly email: string | null;
  readonly name: string | null;
  readonly pictureUrl: string | null;
}
export interface Tokens {
  readonly sessionToken: string;
  readonly pat: string;
}
export interface Team {
  readonly id: string;
  readonly name: string | null;
  readonly plan: Plan;
  /** In the order they were made. */
  readonly channels: readonly { readonly id: string; readonly name: string | null }[];
}
export type TeamFields = z.output<typeof CreateTeam>;

/** Identity's admin API as the control plane uses it. Unknown ids reject with `not_found`, bad values with `invalid`. */
export interface IdentityAdmin extends Directory {
  createAccount(profile: NewProfile): Promise<Profile>;
  /** A session and an ordinary key of that name. */
  issueTokens(userId: string, keyName: string): Promise<Tokens>;
  changeAccount(userId: string, profile: Partial<NewProfile>): Promise<Profile>;
  setState(userId: string, state: AccountState): Promise<void>;
  createTeam(team: TeamFields): Promise<string>;
  changeTeam(teamId: string, change: Partial<TeamFields>): Promise<void>;
  createChannel(teamId: string, name: string, memberIds: readonly string[] | null): Promise<string>;
  team(teamId: string): Promise<Team>;
  setMember(teamId: string, userId: string, membership: { readonly role: Role; readonly hidden: boolean }): Promise<void>;
  endMembership(teamId: string, userId: string): Promise<void>;
}
