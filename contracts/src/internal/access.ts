import { z } from 'zod';
import { ACCOUNT_STATES, PLANS, ROLES } from '../access.ts';

/** `POST /internal/v1/access`, webhooks-dispatcher and meetings-bot-gateway → identity: the live state of accounts and teams, in batches. */
export const AccessRequest = z.object({ user_ids: z.array(z.string()).max(500), team_ids: z.array(z.string()).max(500) });

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
export const AccessResponse = z.object({ users: z.array(UserAccess), teams: z.array(TeamAccess) });
export type UserAccess = z.infer<typeof UserAccess>;
export type TeamAccess = z.infer<typeof TeamAccess>;
