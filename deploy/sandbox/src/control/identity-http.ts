import type { AccountState, Plan, Role } from '@bubbles/contracts/access.ts';
import { ApiKeyCreated } from '@bubbles/contracts/api/api-key.ts';
import {
  AdminAccount,
  AdminChannel,
  AdminClient,
  AdminMember,
  AdminTeam,
  CreatedAccount,
  type CreateTeam,
  IssuedGrant,
  IssuedSession,
  type IssueGrant,
} from '@bubbles/contracts/internal/identity.ts';
import { CallRefused, type InternalClient } from '@bubbles/http/client/internal-client.ts';
import { DomainError, isDomainError } from '@bubbles/kernel/errors.ts';
import { z } from 'zod';
import type { Directory } from '../pipeline/people.ts';

export interface NewProfile {
  readonly email: string | null;
  readonly name: string | null;
  readonly pictureUrl: string | null;
}
interface Profile extends NewProfile {
  readonly id: string;
}
interface Team {
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
  issueTokens(userId: string, keyName: string): Promise<{ readonly sessionToken: string; readonly pat: string }>;
  changeAccount(userId: string, profile: Partial<NewProfile>): Promise<Profile>;
  setState(userId: string, state: AccountState): Promise<void>;
  createTeam(team: TeamFields): Promise<string>;
  changeTeam(teamId: string, change: Partial<TeamFields>): Promise<void>;
  createChannel(teamId: string, name: string, memberIds: readonly string[] | null): Promise<string>;
  team(teamId: string): Promise<Team>;
  setMember(teamId: string, userId: string, membership: { readonly role: Role; readonly hidden: boolean }): Promise<void>;
  endMembership(teamId: string, userId: string): Promise<void>;
  /** Registers an app and answers its id. */
  addClient(name: string): Promise<string>;
  issueGrant(userId: string, grant: z.output<typeof IssueGrant>): Promise<z.output<typeof IssuedGrant>>;
}

const ADMIN = '/internal/v1/admin';
/** Any port: of an app that runs on this machine. */
const LOOPBACK_REDIRECT = 'http://127.0.0.1/callback';

/** What an operator is refused is the caller's own fault here: it is passed on as it was said. */
export async function passingOn<T>(call: Promise<T>, missing = 'There is no such user, team or app.'): Promise<T> {
  try {
    return await call;
  } catch (error) {
    const refused = isDomainError(error) ? error.cause : null;
    if (!(refused instanceof CallRefused)) throw error;
    if (refused.status === 404) throw new DomainError('not_found', missing, { cause: error });
    if (refused.status < 500 && refused.status !== 401) throw new DomainError('invalid', refused.message, { cause: error });
    throw error;
  }
}

const absentAsNull = async <T>(call: Promise<T>): Promise<T | null> => {
  try {
    return await passingOn(call);
  } catch (error) {
    if (isDomainError(error) && error.kind === 'not_found') return null;
    throw error;
  }
};

const toProfile = ({ user_id, name, email, picture_url }: z.infer<typeof AdminAccount>): Profile => ({
  id: user_id,
  name,
  email,
  pictureUrl: picture_url,
});
const fromProfile = ({ pictureUrl, ...profile }: Partial<NewProfile>) =>
  pictureUrl === undefined ? profile : { ...profile, picture_url: pictureUrl };
const segment = encodeURIComponent;

/** Identity's admin API over the wire, as an operator calls it. */
export function identityAdmin(client: InternalClient): IdentityAdmin {
  const account = (id: string) => client.get(`${ADMIN}/accounts/${segment(id)}`, { schema: AdminAccount });
  const team = (id: string) => client.get(`${ADMIN}/teams/${segment(id)}`, { schema: AdminTeam });
  return {
    async account(id) {
      const found = await absentAsNull(account(id));
      return found && { id, name: found.name, email: found.email, teamIds: found.memberships.map(({ team_id }) => team_id) };
    },
    teamExists: async (id) => (await absentAsNull(team(id))) !== null,
    async channelName(teamId, channelId) {
      const found = await absentAsNull(team(teamId));
      const channel = found?.channels.find(({ id }) => id === channelId);
      return channel ? (channel.name ?? '') : null;
    },
    async createAccount(profile) {
      const body = { ...fromProfile(profile), key_name: null };
      return toProfile((await passingOn(client.post(`${ADMIN}/accounts`, { body, schema: CreatedAccount }))).account);
    },
    async issueTokens(userId, keyName) {
      const path = `${ADMIN}/accounts/${segment(userId)}`;
      const session = await passingOn(client.post(`${path}/sessions`, { body: {}, schema: IssuedSession }));
      const key = await passingOn(client.post(`${path}/keys`, { body: { name: keyName }, schema: ApiKeyCreated }));
      return { sessionToken: session.session_token, pat: key.token };
    },
    changeAccount: async (userId, profile) =>
      toProfile(
        await passingOn(client.send('PATCH', `${ADMIN}/accounts/${segment(userId)}`, { body: fromProfile(profile), schema: AdminAccount })),
      ),
    async setState(userId, state) {
      await passingOn(client.send('PUT', `${ADMIN}/accounts/${segment(userId)}/state`, { body: { state }, schema: AdminAccount }));
    },
    createTeam: async (fields: TeamFields) => (await passingOn(client.post(`${ADMIN}/teams`, { body: fields, schema: AdminTeam }))).id,
    async changeTeam(teamId, change) {
      await passingOn(client.send('PATCH', `${ADMIN}/teams/${segment(teamId)}`, { body: change, schema: AdminTeam }));
    },
    createChannel: async (teamId, name, memberIds) =>
      (
        await passingOn(
          client.post(`${ADMIN}/teams/${segment(teamId)}/channels`, { body: { name, member_ids: memberIds }, schema: AdminChannel }),
        )
      ).id,
    team: (teamId) => passingOn(team(teamId)),
    async setMember(teamId, userId, membership) {
      const path = `${ADMIN}/teams/${segment(teamId)}/members/${segment(userId)}`;
      await passingOn(client.send('PUT', path, { body: membership, schema: AdminMember }));
    },
    async addClient(name) {
      const body = { client_name: name, redirect_uris: [LOOPBACK_REDIRECT] };
      return (await passingOn(client.post(`${ADMIN}/clients`, { body, schema: AdminClient }))).client_id;
    },
    issueGrant: (userId, grant) =>
      passingOn(client.post(`${ADMIN}/accounts/${segment(userId)}/grants`, { body: grant, schema: IssuedGrant })),
    async endMembership(teamId, userId) {
      await passingOn(client.send('DELETE', `${ADMIN}/teams/${segment(teamId)}/members/${segment(userId)}`, { schema: z.undefined() }));
    },
  };
}
