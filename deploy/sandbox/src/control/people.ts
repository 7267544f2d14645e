import { TeamRole } from '@bubbles/contracts/api/user.ts';
import { PatchTeam } from '@bubbles/contracts/internal/identity.ts';
import { json } from '@bubbles/http/routes/content.ts';
import { route } from '@bubbles/http/routes/route.ts';
import { z } from 'zod';
import type { Act } from './actions.ts';
import { CALL, Hidden, Id, NewOAuthTokens, NewTeam, OAuthTokens, Team, User } from './bodies.ts';
import type { NewProfile } from './identity-http.ts';

const Name = z.string().max(200).nullable().optional();
const Email = z.email({ pattern: z.regexes.unicodeEmail, error: 'must be an e-mail address' }).max(254);
const MemberPath = z.object({ id: z.string(), user_id: z.string() });
const Profile = z
  .strictObject({ email: Email.nullable().optional(), name: Name, picture_url: z.string().nullable().optional() })
  .meta({ examples: [{ name: 'Ida Berg', email: 'ida@example.com' }] });
const TeamPatch = PatchTeam.extend({ name: Name })
  .strict()
  .meta({ examples: [{ plan: 'free' }] });
const Membership = z.strictObject({ role: TeamRole, hidden: Hidden }).meta({ examples: [{ role: 'member' }] });
const AccountState = z.strictObject({ state: z.enum(['active', 'disabled', 'deleted']) }).meta({ examples: [{ state: 'disabled' }] });
const ChangedUser = z.object({
  id: z.string(),
  email: z.string().nullable(),
  name: z.string().nullable(),
  picture_url: z.string().nullable(),
});
const Member = z.object({
  team_id: z.string(),
  user_id: z.string(),
  role: TeamRole.nullable().meta({ description: 'Null when ended' }),
});

interface WireProfile {
  readonly email?: string | null | undefined;
  readonly name?: string | null | undefined;
  readonly picture_url?: string | null | undefined;
}

/** Only what was given: absent is not null. */
const profileOf = ({ email, name, picture_url }: WireProfile): Partial<NewProfile> => ({
  ...(email === undefined ? {} : { email }),
  ...(name === undefined ? {} : { name }),
  ...(picture_url === undefined ? {} : { pictureUrl: picture_url }),
});

/** Drops keys that are present with the value undefined, which a schema's optional fields are when the caller left them out. */
const given = <T extends object>(fields: T) =>
  // The result has T's keys less those without a value.
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as { [K in keyof T]: Exclude<T[K], undefined> };

const createUser = (act: Act) =>
  route(
    {
      ...CALL,
      tag: 'People',
      method: 'POST',
      path: '/_sandbox/users',
      operationId: 'createUser',
      summary: 'Make an account, with tokens',
      description: 'Absent fields are made up, null is kept.',
      body: Profile,
      answers: { 200: json(User) },
    },
    ({ body }) => act((actions) => actions.createUser(profileOf(body))),
  );

const changeUser = (act: Act) =>
  route(
    {
      ...CALL,
      tag: 'People',
      method: 'PATCH',
      path: '/_sandbox/users/{id}',
      operationId: 'changeUser',
      summary: 'Change an account',
      params: Id,
      body: Profile,
      answers: { 200: json(ChangedUser) },
    },
    ({ params, body }) =>
      act(async (actions) => {
        const { id, email, name, pictureUrl } = await actions.changeUser(params.id, profileOf(body));
        return { id, email, name, picture_url: pictureUrl };
      }),
  );

const setState = (act: Act) =>
  route(
    {
      ...CALL,
      tag: 'People',
      method: 'POST',
      path: '/_sandbox/users/{id}/state',
      operationId: 'setUserState',
      summary: 'Disable, delete or enable an account',
      params: Id,
      body: AccountState,
      answers: { 200: json(z.object({ id: z.string(), state: z.string() })) },
    },
    ({ params, body }) =>
      act(async (actions) => {
        await actions.setState(params.id, body.state);
        return { id: params.id, state: body.state };
      }),
  );

const createTeam = (act: Act) =>
  route(
    {
      ...CALL,
      tag: 'People',
      method: 'POST',
      path: '/_sandbox/teams',
      operationId: 'createTeam',
      summary: 'Make a team with members and channels',
      body: NewTeam,
      answers: { 200: json(Team) },
    },
    ({ body }) => act((actions) => actions.createTeam(body)),
  );

const changeTeam = (act: Act) =>
  route(
    {
      ...CALL,
      tag: 'People',
      method: 'PATCH',
      path: '/_sandbox/teams/{id}',
      operationId: 'changeTeam',
      summary: 'Change a team',
      params: Id,
      body: TeamPatch,
      answers: { 200: json(Team) },
    },
    ({ params, body }) => act((actions) => actions.changeTeam(params.id, given(body))),
  );

const setMember = (act: Act) =>
  route(
    {
      ...CALL,
      tag: 'People',
      method: 'PUT',
      path: '/_sandbox/teams/{id}/members/{user_id}',
      operationId: 'setMember',
      summary: 'Set a membership',
      params: MemberPath,
      body: Membership,
      answers: { 200: json(Member) },
    },
    ({ params, body }) =>
      act(async (actions) => {
        await actions.setMember(params.id, params.user_id, body);
        return { team_id: params.id, user_id: params.user_id, role: body.role };
      }),
  );

const endMember = (act: Act) =>
  route(
    {
      ...CALL,
      tag: 'People',
      method: 'DELETE',
      path: '/_sandbox/teams/{id}/members/{user_id}',
      operationId: 'endMember',
      summary: 'End a membership',
      params: MemberPath,
      answers: { 200: json(Member) },
    },
    ({ params }) =>
      act(async (actions) => {
        await actions.endMembership(params.id, params.user_id);
        return { team_id: params.id, user_id: params.user_id, role: null };
      }),
  );

const issueOAuthTokens = (act: Act) =>
  route(
    {
      ...CALL,
      tag: 'People',
      method: 'POST',
      path: '/_sandbox/oauth-tokens',
      operationId: 'issueOAuthTokens',
      summary: 'Grant an app access, as if the user had consented',
      description: 'The tokens are refreshed and revoked at `/oauth/token` and `/oauth/revoke` with the `client_id` of the answer alone.',
      body: NewOAuthTokens,
      answers: { 200: json(OAuthTokens) },
    },
    ({ body }) => act((actions) => actions.issueOAuthTokens(body)),
  );

export const peopleRoutes = (act: Act) => [
  createUser(act),
  changeUser(act),
  setState(act),
  createTeam(act),
  changeTeam(act),
  setMember(act),
  endMember(act),
  issueOAuthTokens(act),
];
