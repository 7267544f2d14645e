import { z } from 'zod';
import { ACCOUNT_STATES, CREDENTIAL_KINDS, CredentialRefusal, PLANS, ROLES, SCOPES } from '../access.ts';
import { ApiKeyCreated, ApiKeySummary, CreateApiKeyRequest } from '../api/api-key.ts';
import { CallerId, HttpsLink, isPrintable, isVisible, RecordedTime, Timestamp } from '../api/fields.ts';

/** `POST /internal/v1/access`, webhooks-dispatcher, meetings-bot-gateway and signup → identity: the live state of accounts and teams, in batches. */
export const AccessRequest = z.object({
  user_ids: z.array(z.string()).max(500),
  team_ids: z.array(z.string()).max(500),
  /** E-mail addresses in any spelling. */
  emails: z.array(z.string()).max(500).default([]),
});

const Membership = z.object({
  team_id: z.string(),
  role: z.enum(ROLES),
  /** Joined through a public link. */
  hidden: z.boolean(),
  visible_channel_ids: z.array(z.string()),
});
export const UserAccess = z.object({
  id: z.string(),
  state: z.enum([...ACCOUNT_STATES, 'unknown']),
  /** Admin or member of an unarchived team on plan pro. */
  paid_features: z.boolean(),
  /** Rises when a deleted account is opened again: what belonged to an earlier life has ended. Absent from identity of an older release. */
  life: z.int().positive().optional(),
  memberships: z.array(Membership),
});
export const TeamAccess = z.object({
  id: z.string(),
  known: z.boolean(),
  plan: z.enum(PLANS),
  archived: z.boolean(),
  channel_ids: z.array(z.string()),
});
/** Answered in the order asked. An unknown team is `known: false`, free and archived. */
export const AccessResponse = z.object({
  users: z.array(UserAccess),
  teams: z.array(TeamAccess),
  /** The account of each address, as it was asked, that has one. Absent from identity of an older release. */
  by_email: z.array(z.object({ email: z.string(), user: UserAccess })).optional(),
});
export type UserAccess = z.infer<typeof UserAccess>;
export type TeamAccess = z.infer<typeof TeamAccess>;

/** The public face of an account, in the snapshot and in `identity.account.changed.v1`. A deleted account has no name, e-mail or picture. */
export const AccountFacts = z.object({
  user_id: z.string(),
  state: z.enum(ACCOUNT_STATES),
  name: z.string().nullable(),
  email: z.string().nullable(),
  picture_url: HttpsLink,
  /** Rises with every change of the account; the newest wins. */
  revision: z.int().positive(),
});
export type AccountFacts = z.infer<typeof AccountFacts>;

/** `GET /internal/v1/accounts?after=<user id>&limit=`, projections → identity: every account in order of id, to fill a projection again. */
export const AccountsSnapshot = z.object({ version: z.literal(1), accounts: z.array(AccountFacts), next_after: z.string().nullable() });

/** `POST /internal/v1/checks`, gateway → identity: at most 256 credentials a call, answered by index. */
export const CredentialCheck = z.object({
  /** Lower-case hex SHA-256 of the token. Opaque tokens cross the wire in this form only. */
  h: z.string().regex(/^[0-9a-f]{64}$/),
  /** The token itself when it has the form of a JWT (an OAuth access token, which only its signature proves), else null. */
  jwt: z.string().max(8192).nullable(),
  /** The service that the assertion is for. */
  aud: z.string(),
  /** The kinds that the route takes; another kind is refused and not counted. */
  accepts: z.array(z.enum(CREDENTIAL_KINDS)).min(1),
  /** The request is counted elsewhere, or was when its head came: no part of the rate window is taken, and a full one does not refuse it. */
  uncounted: z.literal(true).optional(),
  /** What another replica had counted of the credential when it answered last, within the window: one that has counted less takes it over. */
  counted_elsewhere: z.object({ requests: z.int().min(0), first_ms_ago: z.int().min(0), last_ms_ago: z.int().min(0) }).optional(),
});
export type CredentialCheck = z.infer<typeof CredentialCheck>;
export type CountedElsewhere = NonNullable<CredentialCheck['counted_elsewhere']>;
export const ChecksRequest = z.object({ checks: z.array(CredentialCheck).min(1).max(256) });

const Budget = { limit: z.int(), remaining: z.int(), reset_seconds: z.int() };
export const CheckResult = z.discriminatedUnion('outcome', [
  z.object({ h: z.string(), outcome: z.literal('allowed'), assertion: z.string(), ...Budget }),
  z.object({ h: z.string(), outcome: z.literal('limited'), retry_after_seconds: z.int(), ...Budget }),
  z.object({ h: z.string(), outcome: z.literal('refused'), type: CredentialRefusal }),
]);
export type CheckResult = z.infer<typeof CheckResult>;
export const ChecksResponse = z.object({ answers: z.array(CheckResult) });

/** `GET /internal/v1/assertion-keys`, every service → identity: the public keys that prove assertions, at least ten minutes before the first use of each. */
export const AssertionKeySet = z.object({
  keys: z.array(z.object({ kty: z.literal('OKP'), crv: z.literal('Ed25519'), x: z.string(), kid: z.string() })),
});
export type AssertionKeySet = z.infer<typeof AssertionKeySet>;

/**
 * `/internal/v1/admin/*`, operator → identity: what only an operator may do to accounts, teams and credentials. Paths:
 *
 * - `POST accounts` CreateAccount → 201 CreatedAccount; `GET accounts` AdminAccountsQuery → AdminAccounts; `GET accounts/{id}`; `PATCH accounts/{id}` PatchAccount; `PUT accounts/{id}/state` SetAccountState → AdminAccount; `DELETE accounts/{id}/credentials`
 * - `POST accounts/{id}/sessions` → 201 IssuedSession; `DELETE sessions/{id}` → 204
 * - `POST accounts/{id}/keys` CreateApiKeyRequest → 201 ApiKeyCreated, whatever the plan; the cap of active keys holds
 * - `POST accounts/{id}/grants` IssueGrant → 201 IssuedGrant, as if the user had consented; `GET accounts/{id}/grants` → AdminGrants, newest first; `DELETE grants/{id}` → 204
 * - `POST clients` NewClient → 201 AdminClient, public; `GET clients` AdminPageQuery → AdminClients; `DELETE clients/{id}` → 204, with all that was granted to it
 * - `POST teams` CreateTeam → 201 AdminTeam; `GET teams` AdminPageQuery → AdminTeams; `GET teams/{id}`; `PATCH teams/{id}` PatchTeam → AdminTeam
 * - `PUT teams/{id}/members/{user_id}` SetMember → AdminMember; `DELETE` the same → 204, also when there is no such membership
 * - `POST teams/{id}/channels` CreateChannel → 201 AdminChannel
 */
const Text = z
  .string()
  .trim()
  .min(1, 'must not be empty')
  .max(320, 'must have at most 320 characters')
  .refine((text) => isPrintable(text), 'must not hold control characters')
  .refine((text) => isVisible(text), 'must have a visible character');
const Url = z.url().max(2048);
const Plan = z.enum(PLANS);
const Role = z.enum(ROLES);
/** A lower-case host name of two labels or more. */
const Domain = z.string().regex(/^(?=.{4,253}$)[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})+$/, 'must be a lower-case domain name');

// The keys of a literal, which `Object.keys` tells as text.
const SCOPE_NAMES = Object.keys(SCOPES) as (keyof typeof SCOPES)[];

export const AdminPageQuery = z.object({
  after: CallerId.exactOptional(),
  limit: z
    .string()
    .regex(/^[1-9]\d{0,2}$/, 'must be a whole number from 1 to 999')
    .exactOptional(),
});

/** With an address: the one account that has it, or none. */
export const AdminAccountsQuery = AdminPageQuery.extend({ email: Text.exactOptional() });

const Profile = { name: Text.nullable(), email: Text.nullable(), picture_url: Url.nullable() };
/** With `key_name` the account begins with one personal access token of that name. */
export const CreateAccount = z.object({ ...Profile, key_name: CreateApiKeyRequest.shape.name.nullable() });
export const PatchAccount = z.object(Profile).exactPartial();
export const SetAccountState = z.object({ state: AccountFacts.shape.state });

export const IssuedSession = z.object({ id: z.string(), session_token: z.string(), expires_at: Timestamp });

const Scopes = z.array(z.enum(SCOPE_NAMES)).min(1, 'must not be empty');
/** All scopes when absent. */
export const IssueGrant = z.object({ client_id: CallerId, scopes: Scopes.default(SCOPE_NAMES) });
export const AdminGrant = z.object({
  id: z.string(),
  user_id: z.string(),
  client_id: z.string(),
  client_name: z.string(),
  scopes: z.array(z.string()),
  created_at: Timestamp,
  expires_at: Timestamp,
  last_used_at: Timestamp.nullable(),
});
export const AdminGrants = z.object({ grants: z.array(AdminGrant) });
/** The tokens are as `POST /oauth/token` answers them. */
export const IssuedGrant = z.object({
  grant: AdminGrant,
  access_token: z.string(),
  refresh_token: z.string(),
  expires_in: z.int(),
  scope: z.string(),
});

/** The server itself checks the rules for names and redirect URIs. */
export const NewClient = z.object({ client_name: z.string(), redirect_uris: z.array(z.string()).min(1, 'must not be empty') });
export const AdminClient = z.object({
  client_id: z.string(),
  client_name: z.string(),
  redirect_uris: z.array(z.string()),
  token_endpoint_auth_method: z.string(),
  scopes: z.array(z.string()),
  created_at: Timestamp,
});
export const AdminClients = z.object({ clients: z.array(AdminClient), next_after: z.string().nullable() });

export const AdminMember = z.object({ team_id: z.string(), user_id: z.string(), role: Role, hidden: z.boolean() });
export const AdminAccount = AccountFacts.extend({
  created_at: Timestamp,
  memberships: z.array(AdminMember.omit({ user_id: true })),
  active_keys: z.array(ApiKeySummary.omit({ last_used_at: true })),
});
export const AdminAccounts = z.object({ accounts: z.array(AdminAccount), next_after: z.string().nullable() });
export const CreatedAccount = z.object({ account: AdminAccount, session: IssuedSession, key: ApiKeyCreated.nullable() });

/** `member_ids` null: visible to admins and members, not to guests. */
export const CreateChannel = z.object({ name: Text, member_ids: z.array(CallerId).max(500).nullable() });
export const AdminChannel = z.object({ id: z.string(), name: z.string().nullable(), member_ids: z.array(z.string()).nullable() });

const TeamFields = { name: Text.nullable(), plan: Plan, archived: z.boolean(), domain: Domain.nullable(), discoverable: z.boolean() };
/** The team is pro until then; a `plan` that is set without it ends the trial. */
const TrialEnd = RecordedTime.nullable();
export const CreateTeam = z.object({
  ...TeamFields,
  archived: TeamFields.archived.default(false),
  domain: TeamFields.domain.default(null),
  discoverable: TeamFields.discoverable.default(false),
  trial_ends_at: TrialEnd.default(null),
});
export const PatchTeam = z.object({ ...TeamFields, trial_ends_at: TrialEnd }).exactPartial();
export const SetMember = z.object({ role: Role, hidden: z.boolean().default(false) });
/** `plan`: what counts now, which is pro while a trial goes on. `trial_ends_at` is absent from identity of an older release. */
export const AdminTeam = z.object({
  id: z.string(),
  ...TeamFields,
  trial_ends_at: Timestamp.nullable().default(null),
  created_at: Timestamp,
  channels: z.array(AdminChannel),
});
export const AdminTeams = z.object({ teams: z.array(AdminTeam), next_after: z.string().nullable() });
