import { defineRoute, route } from '@bubbles/http/routes/define-route.ts';
import type { ErrorCatalog } from '@bubbles/http/routes/http-errors.ts';
import type { Route } from '@bubbles/http/routes/route.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import { z } from 'zod';

const ErrorType = z
  .enum(['invalid_request', 'unauthorized', 'forbidden', 'closed_today', 'not_found', 'rate_limited', 'internal_error'])
  .meta({ id: 'ErrorType' });
/** The errors of a product that refuses on holidays. */
export const SAMPLE_ERRORS: ErrorCatalog = {
  envelope: z.object({ error: z.object({ type: ErrorType, message: z.string() }) }).meta({ id: 'ErrorEnvelope' }),
  refusals: [{ kind: 'forbidden', type: 'closed_today', message: 'Things are closed today.' }],
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

const list = defineRoute({
  method: 'GET',
  path: '/v1/things',
  operationId: 'listThings',
  summary: 'List things',
  tag: 'Things',
  auth: { kind: 'pat', scope: 'things:read' },
  query: ListThings,
  success: { status: 200, schema: z.object({ data: z.array(Thing), limit: z.number(), colour: z.string().nullable() }) },
  errors: [],
});
const search = defineRoute({
  method: 'GET',
  path: '/v1/things/search',
  operationId: 'searchThings',
  summary: 'Search things',
  tag: 'Things',
  auth: { kind: 'none' },
  query: z.object({ q: z.string() }),
  success: { status: 200, schema: z.object({ q: z.string() }) },
  errors: [],
  publicMaxAgeSeconds: 60,
});
const read = defineRoute({
  method: 'GET',
  path: '/v1/things/{id}',
  operationId: 'readThing',
  summary: 'Read one thing',
  tag: 'Things',
  auth: { kind: 'pat', scope: 'things:read' },
  params: ThingId,
  query: z.object({ format: z.enum(['json']).optional() }),
  success: { status: 200, schema: Thing },
  errors: ['not_found'],
});
const create = defineRoute({
  method: 'POST',
  path: '/v1/things',
  operationId: 'createThing',
  summary: 'Create a thing',
  tag: 'Things',
  auth: { kind: 'pat+session', scope: 'things:write' },
  body: CreateThing,
  success: { status: 201, schema: z.object({ name: z.string(), admin: z.boolean(), keys: z.array(z.string()), secret: z.string() }) },
  errors: ['limit_reached'],
  secret: true,
});
const rename = defineRoute({
  method: 'PATCH',
  path: '/v1/things/{id}',
  operationId: 'renameThing',
  summary: 'Rename a thing',
  tag: 'Things',
  auth: { kind: 'session' },
  params: ThingId,
  body: z.object({ name: z.string().optional() }),
  success: { status: 200, schema: Thing },
  errors: ['not_found'],
  extension: true,
});
const remove = defineRoute({
  method: 'DELETE',
  path: '/internal/v1/things/{id}',
  operationId: 'removeThing',
  summary: 'Remove a thing',
  tag: 'Internal',
  auth: { kind: 'internal', callers: ['operator'] },
  params: z.object({ id: z.string() }),
  success: { status: 204, schema: null },
  errors: [],
});
const fail = defineRoute({
  method: 'GET',
  path: '/v1/failures/{kind}',
  operationId: 'fail',
  summary: 'Fail in a way',
  tag: 'Things',
  auth: { kind: 'none' },
  params: z.object({ kind: z.string() }),
  success: { status: 200, schema: z.object({ ok: z.literal(true) }) },
  errors: ['rate_limited'],
});
const wait = defineRoute({
  method: 'GET',
  path: '/v1/waits',
  operationId: 'wait',
  summary: 'Wait for the signal',
  tag: 'Things',
  auth: { kind: 'none' },
  success: { status: 200, schema: z.object({ ok: z.boolean() }) },
  errors: [],
});

export interface SampleHooks {
  /** Runs in `GET /v1/waits`. */
  readonly onWait?: (signal: AbortSignal) => Promise<void>;
  /** Runs in `GET /v1/failures/{kind}`; what it returns is the answer. */
  readonly onFail?: (kind: string) => unknown;
}

const missing = () => new DomainError('not_found', 'No thing of that name in the drawer.');

/** A service small enough to know by heart: `abc` is the one thing there is. */
export const sampleRoutes = ({ onWait, onFail }: SampleHooks = {}): readonly Route[] => [
  route(read, async ({ params, caller }) => {
    await Promise.resolve();
    if (params.id !== 'abc') throw missing();
    return { id: params.id, name: null, owner: caller.userId };
  }),
  route(list, ({ query }) => Promise.resolve({ data: [], limit: query.limit ?? 25, colour: query.colour ?? null })),
  route(search, ({ query }) => Promise.resolve({ q: query.q })),
  route(create, ({ body }) =>
    Promise.resolve({ name: body.name, admin: 'isAdmin' in body, keys: Object.keys(body).toSorted(), secret: 'once' }),
  ),
  route(rename, ({ params, body, caller }) => Promise.resolve({ id: params.id, name: body.name ?? null, owner: caller.userId })),
  route(remove, () => Promise.resolve(undefined)),
  route(fail, async ({ params }) => {
    await Promise.resolve();
    // The test decides what comes back, to see the schema refuse it.
    return onFail?.(params.kind) as { ok: true };
  }),
  route(wait, async ({ signal }) => {
    await onWait?.(signal);
    return { ok: true };
  }),
];
