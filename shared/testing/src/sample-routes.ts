import { anyone, internal, pat, patOrSession, session } from '@bubbles/auth/guards.ts';
import { empty, json } from '@bubbles/http/routes/content.ts';
import type { ErrorCatalog } from '@bubbles/http/routes/http-errors.ts';
import { route } from '@bubbles/http/routes/route.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import { z } from 'zod';

const ErrorType = z
  .enum(['invalid_request', 'unauthorized', 'forbidden', 'closed_today', 'not_found', 'rate_limited', 'internal_error'])
  .meta({ id: 'ErrorType' });
/** The errors of a product that refuses on holidays. */
export const SAMPLE_ERRORS: ErrorCatalog = {
  envelope: z.object({ error: z.object({ type: ErrorType, message: z.string() }) }).meta({ id: 'ErrorEnvelope' }),
  refusals: [{ kind: 'forbidden', type: 'closed_today', message: 'Things are closed today.' }],
  examples: { invalid: 'name: is required', limit_reached: 'The drawer is full.', rate_limited: 'Too many things at once.' },
};

const Thing = z.object({ id: z.string(), name: z.string().nullable(), owner: z.string() }).meta({ id: 'Thing' });
const ThingId = z.object({ id: z.string().regex(/^[a-z]+$/) });
const ListThings = z.object({
  limit: z
    .string()
    .regex(/^[1-9]\d?$/, 'must be a whole number from 1 to 99')
    .transform(Number)
    .optional(),
  colour: z.enum(['red', 'blue']).optional(),
});
const CreateThing = z.object({
  name: z.string().min(1),
  tags: z.array(z.string()).optional(),
  filters: z.object({ mine: z.boolean().optional() }).optional(),
});

interface SampleHooks {
  /** Runs in `GET /v1/waits`. */
  readonly onWait?: (signal: AbortSignal) => Promise<void>;
  /** Runs in `GET /v1/failures/{kind}`; what it returns is the answer. */
  readonly onFail?: (kind: string) => unknown;
  /** In place of those that ask the host's authenticator. */
  readonly guards?: typeof USER_GUARDS;
}

const USER_GUARDS = { pat, session, patOrSession };

const missing = () => new DomainError('not_found', 'No thing of that name in the drawer.');

/** A service small enough to know by heart: `abc` is the one thing there is. */
export const sampleRoutes = ({ onWait, onFail, guards = USER_GUARDS }: SampleHooks = {}) => [
  route(
    {
      method: 'GET',
      path: '/v1/things/{id}',
      operationId: 'readThing',
      summary: 'Read one thing',
      tag: 'Things',
      guard: guards.pat('things:read'),
      params: ThingId,
      query: z.object({ format: z.enum(['json']).optional() }),
      answers: { 200: json(Thing) },
      errors: ['not_found'],
    },
    async ({ params, caller }) => {
      await Promise.resolve();
      if (params.id !== 'abc') throw missing();
      return { id: params.id, name: null, owner: caller.userId };
    },
  ),
  route(
    {
      method: 'GET',
      path: '/v1/things',
      operationId: 'listThings',
      summary: 'List things',
      tag: 'Things',
      guard: guards.pat('things:read'),
      query: ListThings,
      answers: { 200: json(z.object({ data: z.array(Thing), limit: z.number(), colour: z.string().nullable() })) },
    },
    ({ query }) => Promise.resolve({ data: [], limit: query.limit ?? 25, colour: query.colour ?? null }),
  ),
  route(
    {
      method: 'GET',
      path: '/v1/things/search',
      operationId: 'searchThings',
      summary: 'Search things',
      tag: 'Things',
      guard: anyone,
      query: z.object({ q: z.string() }),
      answers: { 200: json(z.object({ q: z.string() })) },
      publicMaxAgeSeconds: 60,
    },
    ({ query }) => Promise.resolve({ q: query.q }),
  ),
  route(
    {
      method: 'POST',
      path: '/v1/things',
      operationId: 'createThing',
      summary: 'Create a thing',
      tag: 'Things',
      guard: guards.patOrSession('things:write'),
      body: CreateThing,
      answers: { 201: json(z.object({ name: z.string(), admin: z.boolean(), keys: z.array(z.string()), secret: z.string() })) },
      errors: ['limit_reached'],
      secret: true,
    },
    ({ body }) => Promise.resolve({ name: body.name, admin: 'isAdmin' in body, keys: Object.keys(body).toSorted(), secret: 'once' }),
  ),
  route(
    {
      method: 'PATCH',
      path: '/v1/things/{id}',
      operationId: 'renameThing',
      summary: 'Rename a thing',
      tag: 'Things',
      guard: guards.session,
      params: ThingId,
      body: z.object({ name: z.string().optional() }),
      answers: { 200: json(Thing) },
      errors: ['not_found'],
      extension: true,
    },
    ({ params, body, caller }) => Promise.resolve({ id: params.id, name: body.name ?? null, owner: caller.userId }),
  ),
  route(
    {
      method: 'DELETE',
      path: '/internal/v1/things/{id}',
      operationId: 'removeThing',
      summary: 'Remove a thing',
      tag: 'Internal',
      guard: internal(['operator']),
      params: z.object({ id: z.string() }),
      answers: { 204: empty },
    },
    () => Promise.resolve(undefined),
  ),
  route(
    {
      method: 'GET',
      path: '/v1/failures/{kind}',
      operationId: 'fail',
      summary: 'Fail in a way',
      tag: 'Things',
      guard: anyone,
      params: z.object({ kind: z.string() }),
      answers: { 200: json(z.object({ ok: z.literal(true) })) },
      errors: ['rate_limited'],
    },
    async ({ params }) => {
      await Promise.resolve();
      // The test decides what comes back, to see the schema refuse it.
      return onFail?.(params.kind) as { ok: true };
    },
  ),
  route(
    {
      method: 'GET',
      path: '/v1/waits',
      operationId: 'wait',
      summary: 'Wait for the signal',
      tag: 'Things',
      guard: anyone,
      answers: { 200: json(z.object({ ok: z.boolean() })) },
    },
    async ({ signal }) => {
      await onWait?.(signal);
      return { ok: true };
    },
  ),
];
