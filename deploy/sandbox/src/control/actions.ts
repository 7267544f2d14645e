import { shortIdOf } from '@bubbles/bubbles-query/domain/short-id.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import type { Comments } from '../pipeline/comments.ts';
import type { Recordings } from '../pipeline/recordings.ts';
import type { NewOAuthTokens, NewTeam, SandboxBubble, SandboxOAuthTokens, SandboxTeam, SandboxUser } from './bodies.ts';
import type { IdentityAdmin, NewProfile, TeamFields } from './identity-http.ts';
import type { MeetingsAdmin } from './meetings-http.ts';
import { notetakerActions } from './notetaker-actions.ts';

interface Ports {
  readonly identity: IdentityAdmin;
  readonly meetings: MeetingsAdmin;
  readonly recordings: Recordings;
  readonly comments: Comments;
  readonly ids: Ids;
}

const KEY_NAME = 'sandbox';

/** What the control plane can do to the world; the seeded world is made of the same calls. */
export function actions({ identity, meetings, recordings, comments, ids }: Ports) {
  const team = async (id: string): Promise<SandboxTeam> => {
    const { name, plan, channels } = await identity.team(id);
    return { id, name, plan, channels: Object.fromEntries(channels.map((channel) => [channel.name ?? '', channel.id])) };
  };
  const known = async (field: string, userId: string): Promise<void> => {
    if ((await identity.account(userId)) === null) throw new DomainError('invalid', `${field}: no such user.`);
  };
  const bubble = (id: string): SandboxBubble => ({ id, short_id: shortIdOf(id) });
  const madeUp = (): NewProfile => {
    const handle = ids.uuid().slice(0, 8);
    return { email: `user-${handle}@example.com`, name: `User ${handle}`, pictureUrl: null };
  };

  return {
    async createUser(given: Partial<NewProfile>): Promise<SandboxUser> {
      const { id, email, name } = await identity.createAccount({ ...madeUp(), ...given });
      const { sessionToken, pat } = await identity.issueTokens(id, KEY_NAME);
      return { id, email, name, session_token: sessionToken, pat };
    },
    changeUser: identity.changeAccount,
    setState: identity.setState,
    async createTeam({ members, channels, ...given }: NewTeam): Promise<SandboxTeam> {
      for (const { user_id } of members) await known('members', user_id);
      for (const userId of channels.flatMap(({ member_ids }) => member_ids ?? [])) await known('channels', userId);
      const id = await identity.createTeam(given);
      for (const { user_id, role, hidden } of members) await identity.setMember(id, user_id, { role, hidden });
      for (const { name, member_ids } of channels) await identity.createChannel(id, name, member_ids);
      return team(id);
    },
    async changeTeam(id: string, change: Partial<TeamFields>): Promise<SandboxTeam> {
      await identity.changeTeam(id, change);
      return team(id);
    },
    setMember: identity.setMember,
    endMembership: identity.endMembership,
    async issueOAuthTokens({ user_id, scopes, client_name, client_id }: NewOAuthTokens): Promise<SandboxOAuthTokens> {
      await known('user_id', user_id);
      const clientId = client_id ?? (await identity.addClient(client_name));
      const { access_token, refresh_token, expires_in, scope } = await identity.issueGrant(user_id, { client_id: clientId, scopes });
      return { client_id: clientId, access_token, refresh_token, expires_in, scope };
    },
    async createBubble(body: Parameters<Recordings['create']>[0]): Promise<SandboxBubble> {
      return bubble(await recordings.create(body));
    },
    async moveBubble(id: string, body: Parameters<Recordings['move']>[1]): Promise<SandboxBubble> {
      await recordings.move(id, body);
      return bubble(id);
    },
    async changeBubble(id: string, body: Parameters<Recordings['patch']>[1]): Promise<SandboxBubble> {
      await recordings.patch(id, body);
      return bubble(id);
    },
    removeBubble: recordings.remove,
    ...notetakerActions({ identity, meetings, recordings }),
    async comment(bubbleId: string, body: Parameters<Comments['post']>[1]) {
      if (!(await recordings.exists(bubbleId))) throw new DomainError('not_found', 'No such bubble.');
      return comments.post(bubbleId, body);
    },
  };
}
export type Actions = ReturnType<typeof actions>;

/** Lets work on the world in, and waits for its effects. */
export type Act = <T>(work: (actions: Actions) => Promise<T>) => Promise<T>;
