import { anyone } from '@bubbles/auth/guards.ts';
import { TeamPlan, TeamRole } from '@bubbles/contracts/api/user.ts';
import { CreateTeam, IssueGrant } from '@bubbles/contracts/internal/identity.ts';
import type { ErrorKind } from '@bubbles/kernel/errors.ts';
import { z } from 'zod';

/** A transcript of a long meeting must fit. */
const BODY_LIMIT_BYTES = 16 * 1024 * 1024;
const ERRORS: readonly ErrorKind[] = ['not_found', 'forbidden'];

/** Shared spec of all calls; access to the control plane is checked before its routes. */
export const CALL = { guard: anyone, isAskedDirectly: true, bodyLimitBytes: BODY_LIMIT_BYTES, errors: ERRORS };

export const Id = z.object({ id: z.string() });
export const Hidden = z.boolean().default(false).meta({ description: 'Joined through a public link' });
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
export const User = z.object({
  id: z.string(),
  email: z.string().nullable(),
  name: z.string().nullable(),
  session_token: z.string().meta({ description: 'Manages API keys' }),
  pat: z.string().meta({ description: 'A personal access token; an ordinary key named `sandbox`' }),
});
export type SandboxUser = z.output<typeof User>;
export const Team = z.object({
  id: z.string(),
  name: z.string().nullable(),
  plan: TeamPlan,
  channels: z.record(z.string(), z.string()).meta({ description: 'Ids by name' }),
});
export type SandboxTeam = z.output<typeof Team>;
export const Bubble = z.object({ id: z.string(), short_id: z.string() });
export type SandboxBubble = z.output<typeof Bubble>;

export const NewOAuthTokens = z
  .strictObject({
    user_id: z.string(),
    scopes: IssueGrant.shape.scopes.meta({ description: 'All when absent' }),
    client_name: z.string().default('Sandbox app'),
    client_id: z.string().optional().meta({ description: 'Of an earlier answer: another grant for the same app; absent: a new app' }),
  })
  .meta({ examples: [{ user_id: 'a6a4f86e-4ad2-4bd8-8d0f-7a4c1f4d2c0e', scopes: ['bubbles:read'] }] });
export type NewOAuthTokens = z.output<typeof NewOAuthTokens>;
export const OAuthTokens = z.object({
  client_id: z.string(),
  access_token: z.string(),
  refresh_token: z.string(),
  expires_in: z.int(),
  scope: z.string(),
});
export type SandboxOAuthTokens = z.output<typeof OAuthTokens>;
