import type { ErrorKind } from '@bubbles/kernel/errors.ts';
import { type AnswerKind, bodyOf, mediaTypesOf } from '../routes/content.ts';
import { HTTP_ERRORS } from '../routes/http-errors.ts';
import { IDEMPOTENCY_KEY, IDEMPOTENCY_KEY_MAX_CHARACTERS, IDEMPOTENCY_REPLAYED } from '../routes/idempotency.ts';
import { type ErrorFormat, parameterNames, type RouteSpec } from '../routes/route.ts';
import type { JsonObject, SchemaDocument } from './schema-document.ts';

type AnySpec = RouteSpec<object, never>;

/** What a route is to its clients and to the gateway: everything follows from its guard, its parameters, its body and its answers. */
export const operationOf = (spec: AnySpec, schemas: SchemaDocument): JsonObject => {
  const { operationId, summary, description, tag, guard } = spec;
  return {
    operationId,
    summary,
    ...(description !== undefined && { description }),
    tags: [tag],
    security: guard.security,
    ...gatewayMarks(spec),
    ...(spec.extension && { 'x-extension': true }),
    ...parametersOf(spec, schemas),
    ...requestBodyOf(spec, schemas),
    responses: { ...answersOf(spec, schemas), ...refusalsOf(spec) },
  };
};

/** The gateway waits a little longer than the handler may take, so that the refusal of the service arrives. */
const GATEWAY_MARGIN_MS = 1000;

/** What the gateway does for the route; none of it is shown to clients. */
const gatewayMarks = (spec: AnySpec): JsonObject => {
  const { guard, timeLimitMs, documented } = spec;
  const body = bodyOf(spec.body);
  const limitBytes = body?.kind === 'raw' ? body.limitBytes : spec.bodyLimitBytes;
  return {
    'x-gw-auth': guard.gatewayMark,
    'x-internal': guard.callers !== null,
    ...(limitBytes !== undefined && { 'x-gw-body-limit': limitBytes }),
    ...(timeLimitMs !== undefined && { 'x-gw-timeout': (timeLimitMs + GATEWAY_MARGIN_MS) / 1000 }),
    ...(documented === false && { 'x-gw-undocumented': true }),
  };
};

const IDEMPOTENCY_PARAMETER = {
  name: IDEMPOTENCY_KEY,
  in: 'header',
  required: false,
  description:
    'Your own name for this request, so that it can be sent again when its answer was lost: for 24 hours the same key from the same account on the same path gets the first answer again and changes nothing more. With another body it is 400; while the first request is still in progress the second waits, and gets 409 when that takes too long. A refusal (400 to 429) is not kept. Extension.',
  schema: { type: 'string', minLength: 1, maxLength: IDEMPOTENCY_KEY_MAX_CHARACTERS, pattern: '^[\\x21-\\x7e]+$' },
};

const parametersOf = ({ params, query, headers, idempotent }: AnySpec, schemas: SchemaDocument): JsonObject => {
  const parameters = [
    ...(params ? parametersIn('path', schemas.schemaOf(params, 'input')) : []),
    ...(query ? parametersIn('query', schemas.schemaOf(query, 'input')) : []),
    ...(headers ? parametersIn('header', schemas.schemaOf(headers, 'input')) : []),
    ...(idempotent ? [IDEMPOTENCY_PARAMETER] : []),
  ];
  return parameters.length > 0 ? { parameters } : {};
};

const parametersIn = (place: 'path' | 'query' | 'header', object: JsonObject): readonly JsonObject[] => {
  const required: readonly unknown[] = Array.isArray(object['required']) ? object['required'] : [];
  return Object.entries(Object(object['properties'])).map(([name, schema]) => {
    const { description, ...rest } = Object(schema);
    return {
      name,
      in: place,
      required: place === 'path' || required.includes(name),
      ...(description !== undefined && { description }),
      schema: rest,
    };
  });
};

const requestBodyOf = (spec: AnySpec, schemas: SchemaDocument): JsonObject => {
  const body = bodyOf(spec.body);
  if (body === null) return {};
  const schema = body.kind === 'raw' ? {} : schemas.schemaOf(body.schema, 'input');
  const required = body.kind !== 'raw' && !body.schema.safeParse({}).success;
  return { requestBody: { required, content: Object.fromEntries(mediaTypesOf(body).map((mediaType) => [mediaType, { schema }])) } };
};

export const REQUEST_ID = { 'X-Request-Id': { $ref: '#/components/headers/RequestId' } };
export const BUDGET = {
  'RateLimit-Policy': { $ref: '#/components/headers/RateLimitPolicy' },
  RateLimit: { $ref: '#/components/headers/RateLimit' },
};
export const RETRY_AFTER = { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } };
const REPLAYED = {
  [IDEMPOTENCY_REPLAYED]: {
    description: 'Only there, as `true`, when this is the first answer to the same `Idempotency-Key` again.',
    schema: { type: 'string', const: 'true' },
  },
};

const answersOf = (spec: AnySpec, schemas: SchemaDocument): JsonObject =>
  Object.fromEntries(
    Object.entries(spec.answers).map(([status, answer]) => [
      status,
      {
        description: answer.details.description ?? (answer.kind === 'empty' ? 'Done; no body.' : 'Done.'),
        headers: { ...REQUEST_ID, ...(spec.guard.isCounted && BUDGET), ...(spec.idempotent && REPLAYED), ...headersOf(answer) },
        ...contentOf(answer, schemas),
      },
    ]),
  );

const textHeader = (description: unknown): JsonObject => ({ description, schema: { type: 'string' } });

const headersOf = ({ kind, details: { headers = {}, cookies = {} } }: AnswerKind): JsonObject => {
  const setCookies = Object.entries(cookies).map(([name, description]) => `\`${name}\`: ${description}`);
  return {
    ...Object.fromEntries(Object.entries(headers).map(([name, description]) => [name, textHeader(description)])),
    ...(kind === 'redirect' && { Location: textHeader('Where it goes on.') }),
    ...(setCookies.length > 0 && { 'Set-Cookie': textHeader(setCookies.join('\n')) }),
  };
};

/** Without the charset, which says how it is sent and not what it is. */
const contentOf = ({ kind, contentType, schema }: AnswerKind, schemas: SchemaDocument): JsonObject => {
  const [mediaType] = contentType?.split(';') ?? [];
  if (mediaType === undefined) return {};
  const described = kind === 'bytes' || schema === null ? {} : schemas.schemaOf(schema, 'output');
  return { content: { [mediaType]: { schema: described } } };
};

/** What is refused before the handler is asked, and what the route adds. */
const refusedKinds = ({ guard, path, idempotent, errors = [] }: AnySpec): readonly ErrorKind[] => [
  'internal',
  // A request may be malformed before it has parameters or a body.
  'invalid',
  ...guard.refusals,
  ...(guard.isCounted ? (['rate_limited'] as const) : []),
  ...(parameterNames(path).length > 0 ? (['not_found'] as const) : []),
  ...(idempotent ? (['out_of_order'] as const) : []),
  ...errors,
];

const COMPONENT_BY_STATUS: Readonly<Record<number, string>> = {
  400: 'InvalidRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  429: 'RateLimited',
  500: 'InternalError',
};

const TEXT = { type: 'string' };
const OTHER_FORMATS: Readonly<Record<Exclude<ErrorFormat, 'envelope'>, JsonObject>> = {
  rfc6749: {
    description: 'Refused (RFC 6749, 5.2).',
    headers: REQUEST_ID,
    content: {
      'application/json': {
        schema: { type: 'object', properties: { error: TEXT, error_description: TEXT }, required: ['error', 'error_description'] },
      },
    },
  },
  page: { description: 'Refused, with a page that says why.', headers: REQUEST_ID, content: { 'text/html': { schema: TEXT } } },
};

const refusalsOf = (spec: AnySpec): JsonObject => {
  const { errorFormat: format = 'envelope' } = spec;
  const statuses = new Set(refusedKinds(spec).map((kind) => HTTP_ERRORS[kind].status));
  const responseOf = (status: number) =>
    format === 'envelope' ? { $ref: `#/components/responses/${COMPONENT_BY_STATUS[status]}` } : OTHER_FORMATS[format];
  return Object.fromEntries([...statuses].toSorted().map((status) => [status, responseOf(status)]));
};
