import { anyone } from '@bubbles/auth/guards.ts';
import { bubbleIdOf } from '@bubbles/bubbles-query/domain/short-id.ts';
import { BubbleType } from '@bubbles/contracts/api/bubble.ts';
import { TeamPlan, TeamRole } from '@bubbles/contracts/api/user.ts';
import { CreateTeam } from '@bubbles/contracts/internal/identity.ts';
import type { ErrorKind } from '@bubbles/kernel/errors.ts';
import { z } from 'zod';

/** A transcript of a long meeting must fit. */
const BODY_LIMIT_BYTES = 16 * 1024 * 1024;
const ERRORS: readonly ErrorKind[] = ['not_found', 'forbidden'];

/** Of every call: who may call the control plane at all is looked at before its routes. */
export const CALL = { guard: anyone, bodyLimitBytes: BODY_LIMIT_BYTES, errors: ERRORS };

export const Id = z.object({ id: z.string() });
/** A bubble is named here as on the public API: by its uuid in either case, or by its short id. */
export const BubblePath = z.object({ id: z.string().transform((text) => bubbleIdOf(text) ?? text) });
export const MemberPath = z.object({ id: z.string(), user_id: z.string() });
export const ServicePath = z.object({
  name: z.string().meta({ description: "The service's folder, e.g. `bubbles-query`; not the gateway" }),
});

export const Nothing = z.strictObject({});
const Name = z.string().max(200).nullable().optional();
const Email = z.email({ pattern: z.regexes.unicodeEmail, error: 'must be an e-mail address' }).max(254);
export const Profile = z
  .strictObject({ email: Email.nullable().optional(), name: Name, picture_url: z.string().nullable().optional() })
  .meta({ examples: [{ name: 'Ida Berg', email: 'ida@example.com' }] });
const Hidden = z.boolean().default(false).meta({ description: 'Joined through a public link' });
const NewMember = z.strictObject({ user_id: z.string(), role: TeamRole, hidden: Hidden });
const NewChannel = z.strictObject({
  name: z.string().max(200),
  member_ids: z
    .array(z.string())
    .nullable()
    .default(null)
    .meta({ description: 'Visible to these only; null or absent: to all members but guests' }),
});
export const NewTeam = CreateTeam.extend({
  members: z.array(NewMember).default([]),
  channels: z
    .array(NewChannel)
    .refine((channels) => new Set(channels.map(({ name }) => name)).size === channels.length, 'two have one name')
    .default([]),
})
  .strict()
  .meta({ examples: [{ name: 'Design', plan: 'pro', channels: [{ name: 'general' }] }] });
export type NewTeam = z.output<typeof NewTeam>;
export const TeamPatch = z
  .strictObject({ plan: TeamPlan.optional(), archived: z.boolean().optional(), name: Name })
  .meta({ examples: [{ plan: 'free' }] });
export const Membership = z.strictObject({ role: TeamRole, hidden: Hidden }).meta({ examples: [{ role: 'member' }] });
export const AccountState = z
  .strictObject({ state: z.enum(['active', 'disabled', 'deleted']) })
  .meta({ examples: [{ state: 'disabled' }] });
export const Step = z
  .strictObject({ advance_seconds: z.number().min(0).max(3_153_600_000) })
  .meta({ examples: [{ advance_seconds: 3600 }] });
export const ServiceState = z
  .strictObject({
    state: z.enum(['down', 'up', 'slow']),
    ms: z.int().min(0).max(60_000).default(1000).meta({ description: 'How long each answer waits when slow' }),
  })
  .meta({ examples: [{ state: 'down' }] });

export const User = z.object({
  id: z.string(),
  email: z.string().nullable(),
  name: z.string().nullable(),
  session_token: z.string().meta({ description: 'Manages API keys' }),
  pat: z.string().meta({ description: 'A personal access token; an ordinary key named `sandbox`' }),
});
export type SandboxUser = z.output<typeof User>;
export const ChangedUser = z.object({
  id: z.string(),
  email: z.string().nullable(),
  name: z.string().nullable(),
  picture_url: z.string().nullable(),
});
export const Team = z.object({
  id: z.string(),
  name: z.string().nullable(),
  plan: TeamPlan,
  channels: z.record(z.string(), z.string()).meta({ description: 'Ids by name' }),
});
export type SandboxTeam = z.output<typeof Team>;
export const Member = z.object({
  team_id: z.string(),
  user_id: z.string(),
  role: TeamRole.nullable().meta({ description: 'Null when ended' }),
});
export const Bubble = z.object({ id: z.string(), short_id: z.string() });
export type SandboxBubble = z.output<typeof Bubble>;
export const World = z.object({
  base_url: z.string(),
  now: z.string(),
  users: z.record(z.string(), User),
  teams: z.record(z.string(), Team),
  bubbles: z.record(z.string(), Bubble.extend({ type: BubbleType })),
});
export const Now = z.object({ now: z.string() });
