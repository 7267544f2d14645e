import { bubbleIdOf } from '@bubbles/bubbles-query/domain/short-id.ts';
import { BubbleType } from '@bubbles/contracts/api/bubble.ts';
import { TeamPlan, TeamRole } from '@bubbles/contracts/api/team.ts';
import { CreateTeam } from '@bubbles/contracts/internal/admin.ts';
import { defineRoute } from '@bubbles/http/routes/define-route.ts';
import type { RouteSpec } from '@bubbles/http/routes/route.ts';
import { z } from 'zod';
import { BubblePatch, NewBubble, NewComment, StageMove } from '../pipeline/fields.ts';

/** A transcript of a long meeting must fit. */
const BODY_LIMIT_BYTES = 16 * 1024 * 1024;

const Id = z.object({ id: z.string() });
/** A bubble is named here as on the public API: by its uuid in either case, or by its short id. */
const BubblePath = z.object({ id: z.string().transform((text) => bubbleIdOf(text) ?? text) });
const MemberPath = z.object({ id: z.string(), user_id: z.string() });
const ServicePath = z.object({ name: z.string().meta({ description: "The service's folder, e.g. `bubbles-query`; not the gateway" }) });

const Nothing = z.strictObject({});
const Name = z.string().max(200).nullable().optional();
const Email = z.email({ pattern: z.regexes.unicodeEmail, error: 'must be an e-mail address' }).max(254);
const Profile = z
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
const NewTeam = CreateTeam.extend({
  members: z.array(NewMember).default([]),
  channels: z
    .array(NewChannel)
    .refine((channels) => new Set(channels.map(({ name }) => name)).size === channels.length, 'two have one name')
    .default([]),
})
  .strict()
  .meta({ examples: [{ name: 'Design', plan: 'pro', channels: [{ name: 'general' }] }] });
export type NewTeam = z.output<typeof NewTeam>;
const TeamPatch = z
  .strictObject({ plan: TeamPlan.optional(), archived: z.boolean().optional(), name: Name })
  .meta({ examples: [{ plan: 'free' }] });
const Membership = z.strictObject({ role: TeamRole, hidden: Hidden }).meta({ examples: [{ role: 'member' }] });
const AccountState = z.strictObject({ state: z.enum(['active', 'disabled', 'deleted']) }).meta({ examples: [{ state: 'disabled' }] });
const Step = z.strictObject({ advance_seconds: z.number().min(0).max(3_153_600_000) }).meta({ examples: [{ advance_seconds: 3600 }] });
const ServiceState = z
  .strictObject({
    state: z.enum(['down', 'up', 'slow']),
    ms: z.int().min(0).max(60_000).default(1000).meta({ description: 'How long each answer waits when slow' }),
  })
  .meta({ examples: [{ state: 'down' }] });

const User = z.object({
  id: z.string(),
  email: z.string().nullable(),
  name: z.string().nullable(),
  session_token: z.string().meta({ description: 'Manages API keys' }),
  pat: z.string().meta({ description: 'A personal access token; an ordinary key named `sandbox`' }),
});
export type SandboxUser = z.output<typeof User>;
const ChangedUser = z.object({
  id: z.string(),
  email: z.string().nullable(),
  name: z.string().nullable(),
  picture_url: z.string().nullable(),
});
const Team = z.object({
  id: z.string(),
  name: z.string().nullable(),
  plan: TeamPlan,
  channels: z.record(z.string(), z.string()).meta({ description: 'Ids by name' }),
});
export type SandboxTeam = z.output<typeof Team>;
const Member = z.object({ team_id: z.string(), user_id: z.string(), role: TeamRole.nullable().meta({ description: 'Null when ended' }) });
const Bubble = z.object({ id: z.string(), short_id: z.string() });
export type SandboxBubble = z.output<typeof Bubble>;
const World = z.object({
  base_url: z.string(),
  now: z.string(),
  users: z.record(z.string(), User),
  teams: z.record(z.string(), Team),
  bubbles: z.record(z.string(), Bubble.extend({ type: BubbleType })),
});
const Now = z.object({ now: z.string() });

const call = <P, Q, B, R>(
  spec: Omit<RouteSpec<P, Q, B, R>, 'auth' | 'errors' | 'success'> & {
    readonly answer: RouteSpec<P, Q, B, R>['success']['schema'];
  },
) => {
  const { answer, ...rest } = spec;
  const plain = { auth: { kind: 'none' }, bodyLimitBytes: BODY_LIMIT_BYTES } as const;
  return defineRoute<P, Q, B, R, typeof plain.auth>({
    ...rest,
    ...plain,
    errors: ['not_found', 'forbidden'],
    success: { status: 200, schema: answer },
  });
};

/** The control plane. It exists in the sandbox only and is in no public document. */
export const SPECS = {
  document: call({
    method: 'GET',
    path: '/_sandbox/openapi.json',
    operationId: 'getControlDocument',
    summary: 'Read this document',
    tag: 'World',
    answer: z.looseObject({ openapi: z.string() }),
  }),
  world: call({
    tag: 'World',
    method: 'GET',
    path: '/_sandbox/world',
    operationId: 'getWorld',
    summary: 'Read the seeded world',
    description: 'People with their tokens, teams and bubbles, each by the handle that the README names it by.',
    answer: World,
  }),
  reset: call({
    tag: 'World',
    method: 'POST',
    path: '/_sandbox/reset',
    operationId: 'reset',
    summary: 'Start fresh with the seeded world',
    description: 'All stores are emptied, the clock goes back to real time, all services are up.',
    body: Nothing,
    answer: World,
  }),
  createUser: call({
    tag: 'People',
    method: 'POST',
    path: '/_sandbox/users',
    operationId: 'createUser',
    summary: 'Make an account, with tokens',
    description: 'Absent fields are made up, null is kept.',
    body: Profile,
    answer: User,
  }),
  changeUser: call({
    tag: 'People',
    method: 'PATCH',
    path: '/_sandbox/users/{id}',
    operationId: 'changeUser',
    summary: 'Change an account',
    params: Id,
    body: Profile,
    answer: ChangedUser,
  }),
  setState: call({
    tag: 'People',
    method: 'POST',
    path: '/_sandbox/users/{id}/state',
    operationId: 'setUserState',
    summary: 'Disable, delete or enable an account',
    params: Id,
    body: AccountState,
    answer: z.object({ id: z.string(), state: z.string() }),
  }),
  createTeam: call({
    tag: 'People',
    method: 'POST',
    path: '/_sandbox/teams',
    operationId: 'createTeam',
    summary: 'Make a team with members and channels',
    body: NewTeam,
    answer: Team,
  }),
  changeTeam: call({
    tag: 'People',
    method: 'PATCH',
    path: '/_sandbox/teams/{id}',
    operationId: 'changeTeam',
    summary: 'Change a team',
    params: Id,
    body: TeamPatch,
    answer: Team,
  }),
  setMember: call({
    tag: 'People',
    method: 'PUT',
    path: '/_sandbox/teams/{id}/members/{user_id}',
    operationId: 'setMember',
    summary: 'Set a membership',
    params: MemberPath,
    body: Membership,
    answer: Member,
  }),
  endMember: call({
    tag: 'People',
    method: 'DELETE',
    path: '/_sandbox/teams/{id}/members/{user_id}',
    operationId: 'endMember',
    summary: 'End a membership',
    params: MemberPath,
    answer: Member,
  }),
  createBubble: call({
    tag: 'Recordings',
    method: 'POST',
    path: '/_sandbox/bubbles',
    operationId: 'createBubble',
    summary: 'Play the recording pipeline',
    description: 'Up to `stage`. Absent fields get plausible values by the type, null stays null. Answers when lists and search show it.',
    body: NewBubble,
    answer: Bubble,
  }),
  moveBubble: call({
    tag: 'Recordings',
    method: 'POST',
    path: '/_sandbox/bubbles/{id}/stage',
    operationId: 'moveBubble',
    summary: 'Move a recording on to a stage',
    params: BubblePath,
    body: StageMove,
    answer: Bubble,
  }),
  changeBubble: call({
    tag: 'Recordings',
    method: 'PATCH',
    path: '/_sandbox/bubbles/{id}',
    operationId: 'changeBubble',
    summary: 'Change a recording',
    description: 'Any of its fields; arrays wholesale.',
    params: BubblePath,
    body: BubblePatch,
    answer: Bubble,
  }),
  removeBubble: call({
    tag: 'Recordings',
    method: 'DELETE',
    path: '/_sandbox/bubbles/{id}',
    operationId: 'removeBubble',
    summary: 'Remove a recording',
    params: BubblePath,
    answer: Id,
  }),
  comment: call({
    tag: 'Recordings',
    method: 'POST',
    path: '/_sandbox/bubbles/{id}/comments',
    operationId: 'comment',
    summary: 'Post a comment',
    description: 'Without `thread_id` it opens a thread.',
    params: BubblePath,
    body: NewComment,
    answer: z.object({ id: z.string(), thread_id: z.string() }),
  }),
  clock: call({
    tag: 'Time and faults',
    method: 'GET',
    path: '/_sandbox/clock',
    operationId: 'getClock',
    summary: 'Read the clock',
    answer: Now,
  }),
  advance: call({
    tag: 'Time and faults',
    method: 'POST',
    path: '/_sandbox/clock',
    operationId: 'advanceClock',
    summary: 'Move the clock on',
    description:
      'Steps from due time to due time (retries, expiries, rate windows, jobs) and answers when all that fell due is done. A receiver that hangs takes its 15 seconds for each attempt.',
    body: Step,
    answer: Now,
  }),
  settle: call({
    tag: 'Time and faults',
    method: 'POST',
    path: '/_sandbox/settle',
    operationId: 'settle',
    summary: 'Wait until nothing is in flight',
    description: 'Outboxes empty, events consumed, due deliveries attempted. 500 after 30 seconds, or when an event can never leave.',
    body: Nothing,
    answer: z.object({ settled: z.literal(true) }),
  }),
  setService: call({
    tag: 'Time and faults',
    method: 'POST',
    path: '/_sandbox/services/{name}',
    operationId: 'setService',
    summary: 'Stop, start or slow down a service',
    params: ServicePath,
    body: ServiceState,
    answer: z.object({ name: z.string(), state: z.string() }),
  }),
} as const;
