import { bubbleIdOf } from '@bubbles/bubbles-query/domain/short-id.ts';
import { BubbleSummary } from '@bubbles/contracts/api/bubble-summary.ts';
import { CreateTeam } from '@bubbles/contracts/internal/admin.ts';
import { defineRoute } from '@bubbles/shared/http/define-route.ts';
import type { RouteSpec } from '@bubbles/shared/http/route.ts';
import { z } from 'zod';
import { BubblePatch, NewBubble, NewComment, StageMove } from '../pipeline/fields.ts';

/** A transcript of a long meeting must fit. */
const BODY_LIMIT_BYTES = 16 * 1024 * 1024;

const Id = z.object({ id: z.string() });
/** A bubble is named here as on the public API: by its uuid in either case, or by its short id. */
const BubblePath = z.object({ id: z.string().transform((text) => bubbleIdOf(text) ?? text) });
const MemberPath = z.object({ id: z.string(), user_id: z.string() });
const ServicePath = z.object({ name: z.string() });

const Name = z.string().max(200).nullable().optional();
const Email = z.email({ pattern: z.regexes.unicodeEmail, error: 'must be an e-mail address' }).max(254);
const Profile = z.object({ email: Email.nullable().optional(), name: Name, picture_url: z.string().nullable().optional() });
const Role = z.enum(['admin', 'member', 'guest']);
const Plan = z.enum(['free', 'pro']);
const NewTeam = CreateTeam.extend({
  members: z.array(z.object({ user_id: z.string(), role: Role, hidden: z.boolean().default(false) })).default([]),
  channels: z
    .array(z.object({ name: z.string().max(200), member_ids: z.array(z.string()).nullable().default(null) }))
    .refine((channels) => new Set(channels.map(({ name }) => name)).size === channels.length, 'two have one name')
    .default([]),
});
export type NewTeam = z.output<typeof NewTeam>;
const TeamPatch = z.object({ plan: Plan.optional(), archived: z.boolean().optional(), name: Name });
const Membership = z.object({ role: Role, hidden: z.boolean().default(false) });
const ServiceState = z
  .object({ state: z.enum(['down', 'up', 'slow']), ms: z.int().min(0).max(60_000).default(1000) })
  .describe('`ms` is how long each answer waits when slow.');

const User = z.object({
  id: z.string(),
  email: z.string().nullable(),
  name: z.string().nullable(),
  session_token: z.string(),
  pat: z.string(),
});
export type SandboxUser = z.output<typeof User>;
const ChangedUser = z.object({
  id: z.string(),
  email: z.string().nullable(),
  name: z.string().nullable(),
  picture_url: z.string().nullable(),
});
const Team = z.object({ id: z.string(), name: z.string().nullable(), plan: Plan, channels: z.record(z.string(), z.string()) });
export type SandboxTeam = z.output<typeof Team>;
const Member = z.object({ team_id: z.string(), user_id: z.string(), role: Role.nullable() });
const Bubble = z.object({ id: z.string(), short_id: z.string() });
export type SandboxBubble = z.output<typeof Bubble>;
const World = z.object({
  base_url: z.string(),
  now: z.string(),
  users: z.record(z.string(), User),
  teams: z.record(z.string(), Team),
  bubbles: z.record(z.string(), Bubble.extend({ type: BubbleSummary.shape.type })),
});
const Now = z.object({ now: z.string() });

const call = <P, Q, B, R>(
  spec: Omit<RouteSpec<P, Q, B, R>, 'auth' | 'tag' | 'errors' | 'success' | 'summary'> & {
    readonly answer: RouteSpec<P, Q, B, R>['success']['schema'];
  },
) => {
  const { answer, ...rest } = spec;
  const plain = { auth: { kind: 'none' }, tag: 'Sandbox', summary: spec.operationId, bodyLimitBytes: BODY_LIMIT_BYTES } as const;
  return defineRoute<P, Q, B, R, typeof plain.auth>({
    ...rest,
    ...plain,
    errors: ['not_found'],
    success: { status: 200, schema: answer },
  });
};

/** The control plane. It exists in the sandbox only and is in no document. */
export const SPECS = {
  world: call({ method: 'GET', path: '/_sandbox/world', operationId: 'getWorld', answer: World }),
  reset: call({ method: 'POST', path: '/_sandbox/reset', operationId: 'reset', answer: World }),
  createUser: call({ method: 'POST', path: '/_sandbox/users', operationId: 'createUser', body: Profile, answer: User }),
  changeUser: call({
    method: 'PATCH',
    path: '/_sandbox/users/{id}',
    operationId: 'changeUser',
    params: Id,
    body: Profile,
    answer: ChangedUser,
  }),
  setState: call({
    method: 'POST',
    path: '/_sandbox/users/{id}/state',
    operationId: 'setUserState',
    params: Id,
    body: z.object({ state: z.enum(['active', 'disabled', 'deleted']) }),
    answer: z.object({ id: z.string(), state: z.string() }),
  }),
  createTeam: call({ method: 'POST', path: '/_sandbox/teams', operationId: 'createTeam', body: NewTeam, answer: Team }),
  changeTeam: call({ method: 'PATCH', path: '/_sandbox/teams/{id}', operationId: 'changeTeam', params: Id, body: TeamPatch, answer: Team }),
  setMember: call({
    method: 'PUT',
    path: '/_sandbox/teams/{id}/members/{user_id}',
    operationId: 'setMember',
    params: MemberPath,
    body: Membership,
    answer: Member,
  }),
  endMember: call({
    method: 'DELETE',
    path: '/_sandbox/teams/{id}/members/{user_id}',
    operationId: 'endMember',
    params: MemberPath,
    answer: Member,
  }),
  createBubble: call({ method: 'POST', path: '/_sandbox/bubbles', operationId: 'createBubble', body: NewBubble, answer: Bubble }),
  moveBubble: call({
    method: 'POST',
    path: '/_sandbox/bubbles/{id}/stage',
    operationId: 'moveBubble',
    params: BubblePath,
    body: StageMove,
    answer: Bubble,
  }),
  changeBubble: call({
    method: 'PATCH',
    path: '/_sandbox/bubbles/{id}',
    operationId: 'changeBubble',
    params: BubblePath,
    body: BubblePatch,
    answer: Bubble,
  }),
  removeBubble: call({ method: 'DELETE', path: '/_sandbox/bubbles/{id}', operationId: 'removeBubble', params: BubblePath, answer: Id }),
  comment: call({
    method: 'POST',
    path: '/_sandbox/bubbles/{id}/comments',
    operationId: 'comment',
    params: BubblePath,
    body: NewComment,
    answer: z.object({ id: z.string(), thread_id: z.string() }),
  }),
  clock: call({ method: 'GET', path: '/_sandbox/clock', operationId: 'getClock', answer: Now }),
  advance: call({
    method: 'POST',
    path: '/_sandbox/clock',
    operationId: 'advanceClock',
    body: z.object({ advance_seconds: z.number().min(0).max(3_153_600_000) }),
    answer: Now,
  }),
  settle: call({ method: 'POST', path: '/_sandbox/settle', operationId: 'settle', answer: z.object({ settled: z.literal(true) }) }),
  setService: call({
    method: 'POST',
    path: '/_sandbox/services/{name}',
    operationId: 'setService',
    params: ServicePath,
    body: ServiceState,
    answer: z.object({ name: z.string(), state: z.string() }),
  }),
} as const;
