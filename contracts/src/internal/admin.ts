import { z } from 'zod';
import { PLANS, ROLES } from '../access.ts';
import { ApiKeyCreated, ApiKeySummary, CreateApiKeyRequest } from '../api/api-key.ts';
import { CallerId, isPrintable, isVisible } from '../api/text.ts';
import { Timestamp } from '../api/timestamp.ts';
import { AccountFacts } from './accounts.ts';

/**
 * `/internal/v1/admin/*`, operator → identity: what only an operator may do to accounts, teams and credentials. Paths:
 *
 * - `POST accounts` CreateAccount → 201 CreatedAccount; `GET accounts` AdminPageQuery → AdminAccounts; `GET accounts/{id}`; `PATCH accounts/{id}` PatchAccount; `PUT accounts/{id}/state` SetAccountState → AdminAccount
 * - `POST accounts/{id}/sessions` → 201 IssuedSession; `DELETE sessions/{id}` → 204
 * - `POST accounts/{id}/keys` CreateApiKeyRequest → 201 ApiKeyCreated, whatever the plan; the cap of active keys holds
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

export const AdminPageQuery = z.object({
  after: CallerId.exactOptional(),
  limit: z
    .string()
    .regex(/^[1-9]\d{0,2}$/, 'must be a whole number from 1 to 999')
    .exactOptional(),
});

const Profile = { name: Text.nullable(), email: Text.nullable(), picture_url: Url.nullable() };
/** With `key_name` the account begins with one personal access token of that name. */
export const CreateAccount = z.object({ ...Profile, key_name: CreateApiKeyRequest.shape.name.nullable() });
export const PatchAccount = z.object(Profile).exactPartial();
export const SetAccountState = z.object({ state: AccountFacts.shape.state });

export const IssuedSession = z.object({ id: z.string(), session_token: z.string(), expires_at: Timestamp });

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
export const CreateTeam = z.object({
  ...TeamFields,
  archived: TeamFields.archived.default(false),
  domain: TeamFields.domain.default(null),
  discoverable: TeamFields.discoverable.default(false),
});
export const PatchTeam = z.object(TeamFields).exactPartial();
export const SetMember = z.object({ role: Role, hidden: z.boolean().default(false) });
export const AdminTeam = z.object({ id: z.string(), ...TeamFields, created_at: Timestamp, channels: z.array(AdminChannel) });
export const AdminTeams = z.object({ teams: z.array(AdminTeam), next_after: z.string().nullable() });
