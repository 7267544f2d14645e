import { createHash } from 'node:crypto';
import type { ErrorKind } from '@bubbles/kernel/errors.ts';
import type { z } from 'zod';
import { type AnswerKind, bodyOf, mediaTypesOf } from '../routes/content.ts';
import { marksOf } from '../routes/deprecation.ts';
import { type ErrorCatalog, HTTP_ERRORS, INTERNAL_ERROR_MESSAGE, NOT_FOUND_MESSAGE } from '../routes/http-errors.ts';
import { IDEMPOTENCY_KEY, IDEMPOTENCY_KEY_MAX_CHARACTERS, IDEMPOTENCY_REPLAYED } from '../routes/idempotency.ts';
import { type ErrorFormat, parameterNames, type Route, type RouteSpec } from '../routes/route.ts';
import { type JsonObject, type SchemaDocument, schemaDocument } from './schema-document.ts';
import { type WebhookSpec, webhooksOf } from './webhook-spec.ts';

/** The document of one service, out of the routes that it serves and the webhooks that it sends; the gateway merges those of all. */
export const openApiFragment = ({ name, version = '1', routes, webhooks = [], components = [], errors }: FragmentSource): JsonObject => {
  const schemas = schemaDocument();
  for (const schema of [errors.envelope, ...components]) schemas.schemaOf(schema, 'output');
  const paths: Record<string, JsonObject> = {};
  for (const { spec } of routes) paths[spec.path] = { ...paths[spec.path], [spec.method.toLowerCase()]: operationOf(spec, schemas) };
  return {
    openapi: '3.1.0',
    info: { title: name, version },
    paths,
    ...(webhooks.length > 0 && { webhooks: webhooksOf(webhooks, schemas) }),
    components: { schemas: schemas.components(), responses: errorResponses(errors), headers: HEADERS },
  };
};

export interface FragmentSource {
  readonly name: string;
  readonly version?: string;
  readonly routes: readonly Route<never>[];
  readonly webhooks?: readonly WebhookSpec[] | undefined;
  /** Schemas with an id that the document defines whether its routes use them or not. */
  readonly components?: readonly z.ZodType[];
  readonly errors: ErrorCatalog;
}

/** A strong ETag of the very bytes. */
export const etagOf = (text: string): string => `"${createHash('sha256').update(text).digest('hex')}"`;

type AnySpec = RouteSpec<object, never>;

/** What a route is to its clients and to the gateway: everything follows from its guard, its parameters, its body and its answers. */
const operationOf = (spec: AnySpec, schemas: SchemaDocument): JsonObject => {
  const { operationId, summary, description, tag, guard, deprecated } = spec;
  return {
    operationId,
    summary,
    ...(description !== undefined && { description }),
    ...(deprecated !== undefined && marksOf(deprecated, description)),
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
  const { guard, timeLimitMs, documented, unsafe, errorFormat = 'envelope' } = spec;
  const body = bodyOf(spec.body);
  const limitBytes = body?.kind === 'raw' ? body.limitBytes : spec.bodyLimitBytes;
  return {
    'x-gw-auth': guard.gatewayMark,
    'x-internal': guard.callers !== null,
    ...(limitBytes !== undefined && { 'x-gw-body-limit': limitBytes }),
    ...(timeLimitMs !== undefined && { 'x-gw-timeout': (timeLimitMs + GATEWAY_MARGIN_MS) / 1000 }),
    ...(errorFormat !== 'envelope' && { 'x-gw-error-format': errorFormat }),
    ...(documented === false && { 'x-gw-undocumented': true }),
    ...(unsafe && { 'x-gw-unsafe': true }),
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
    ...(query ? parametersIn('query', schemas.schemaOf('kind' in query ? query.described : query, 'input')) : []),
    ...(headers ? parametersIn('header', schemas.schemaOf(headers, 'input')) : []),
    ...(idempotent ? [IDEMPOTENCY_PARAMETER] : []),
  ];
  return parameters.length > 0 ? { parameters } : {};
};

const parametersIn = (place: 'path' | 'query' | 'header', object: JsonObject): readonly JsonObject[] => {
  const required: readonly unknown[] = Array.isArray(object['required']) ? object['required'] : [];
  return Object.entries(Object(object['properties'])).map(([name, schema]) => {
    const { description, deprecated, 'x-sunset': sunset, ...rest } = Object(schema);
    return {
      name,
      in: place,
      required: place === 'path' || required.includes(name),
      ...(description !== undefined && { description }),
      ...(deprecated && { deprecated, 'x-sunset': sunset }),
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

const REQUEST_ID = { 'X-Request-Id': { $ref: '#/components/headers/RequestId' } };
const BUDGET = {
  'RateLimit-Policy': { $ref: '#/components/headers/RateLimitPolicy' },
  RateLimit: { $ref: '#/components/headers/RateLimit' },
};
const RETRY_AFTER = { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } };
const REPLAYED = {
  [IDEMPOTENCY_REPLAYED]: {
    description: 'Only there, as `true`, when this is the first answer to the same `Idempotency-Key` again.',
    schema: { type: 'string', const: 'true' },
  },
};

const ANNOUNCED = {
  Deprecation: {
    description: 'Since when the endpoint is deprecated, in Unix seconds behind an @ (RFC 9745).',
    schema: { type: 'string' },
  },
  Sunset: { description: 'Until when it works at least (RFC 8594).', schema: { type: 'string' } },
};

const answersOf = (spec: AnySpec, schemas: SchemaDocument): JsonObject =>
  Object.fromEntries(
    Object.entries(spec.answers).map(([status, answer]) => [
      status,
      {
        description: answer.details.description ?? (answer.kind === 'empty' ? 'Done; no body.' : 'Done.'),
        headers: {
          ...REQUEST_ID,
          ...(spec.deprecated && ANNOUNCED),
          ...(spec.guard.isCounted && BUDGET),
          ...(spec.idempotent && REPLAYED),
          ...headersOf(answer),
        },
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
const contentOf = ({ kind, contentType, mediaTypes, schema }: AnswerKind, schemas: SchemaDocument): JsonObject => {
  const listed = mediaTypes ?? contentType?.split(';').slice(0, 1) ?? [];
  if (listed.length === 0) return {};
  const described = kind === 'bytes' || schema === null ? {} : schemas.schemaOf(schema, 'output');
  return { content: Object.fromEntries(listed.map((mediaType) => [mediaType, { schema: described }])) };
};

/** What is refused before the handler is asked, and what the route adds. */
const refusedKinds = ({ guard, path, body, isAskedDirectly, idempotent, errors = [] }: AnySpec): readonly ErrorKind[] => [
  'internal',
  // A request may be malformed before it has parameters or a body.
  'invalid',
  ...guard.refusals,
  // The gateway limits the bytes that a network sends without a credential.
  ...(guard.isCounted || (guard.gatewayMark === 'none' && body !== undefined && !isAskedDirectly) ? (['rate_limited'] as const) : []),
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
    content: {
      'application/json': {
        schema: { type: 'object', properties: { error: TEXT, error_description: TEXT }, required: ['error', 'error_description'] },
      },
    },
  },
  page: { description: 'Refused, with a page that says why.', content: { 'text/html': { schema: TEXT } } },
};

/** Their answers may say after how many seconds to come again. */
const WAITS: ReadonlySet<number> = new Set([429, 500]);

const refusalsOf = (spec: AnySpec): JsonObject => {
  const { errorFormat: format = 'envelope' } = spec;
  const tooLarge = spec.body !== undefined && format !== 'envelope' ? [413] : [];
  const statuses = new Set([...refusedKinds(spec).map((kind) => HTTP_ERRORS[kind].status), ...tooLarge]);
  const responseOf = (status: number) =>
    format === 'envelope'
      ? { $ref: `#/components/responses/${COMPONENT_BY_STATUS[status]}` }
      : { ...OTHER_FORMATS[format], headers: { ...REQUEST_ID, ...(WAITS.has(status) && RETRY_AFTER) } };
  return Object.fromEntries([...statuses].toSorted().map((status) => [status, responseOf(status)]));
};

const HEADERS = {
  RequestId: { description: 'Names this request in the logs.', schema: { type: 'string' } },
  RateLimitPolicy: {
    description:
      'How many requests (`q`) the credential may make in how many seconds (`w`): RateLimit header fields for HTTP, an IETF draft. Counts are kept in memory: when what counts is restarted or replaced, at most one more window is admitted.',
    schema: { type: 'string', examples: ['"default";q=120;w=60'] },
  },
  RateLimit: {
    description:
      'How many requests are left (`r`), and after how many seconds (`t`) there are more. Beside every answer to a credential that is accepted.',
    schema: { type: 'string', examples: ['"default";r=119;t=60'] },
  },
  RetryAfter: { description: 'Seconds after which the same request may pass.', schema: { type: 'integer', minimum: 1 } },
  Challenge: { description: 'Authentication challenge (RFC 6750, RFC 9728).', schema: { type: 'string' } },
};

/** `error` is what such an answer says, for example. */
const refusal = (
  description: string,
  error: { readonly type: string; readonly message: string },
  headers: JsonObject = {},
): JsonObject => ({
  description,
  headers: { ...REQUEST_ID, ...headers },
  content: { 'application/json': { schema: { $ref: '#/components/schemas/ErrorEnvelope' }, example: { error } } },
});
const CHALLENGE = { 'WWW-Authenticate': { $ref: '#/components/headers/Challenge' } };

/** What may be said of refusals of this kind: every type, and one of them for an example. */
const typesOf = (kind: 'unauthorized' | 'forbidden', { refusals }: ErrorCatalog) => {
  const ofKind = refusals.filter((one) => one.kind === kind);
  const usual = { kind, type: HTTP_ERRORS[kind].type, message: 'Refused.' };
  const names = [...new Set([usual, ...ofKind].map(({ type }) => `\`${type}\``))];
  const { type, message } = ofKind.find((one) => one.type !== usual.type) ?? ofKind[0] ?? usual;
  return { types: [names.slice(0, -1).join(', '), names.at(-1)].filter(Boolean).join(' or '), example: { type, message } };
};

const errorResponses = (errors: ErrorCatalog) => {
  const unauthorized = typesOf('unauthorized', errors);
  const forbidden = typesOf('forbidden', errors);
  return {
    InvalidRequest: refusal('`invalid_request`: the body or a parameter is malformed or breaks a rule.', {
      type: 'invalid_request',
      message: errors.examples.invalid,
    }),
    Unauthorized: refusal(`${unauthorized.types}: the credential is not accepted.`, unauthorized.example, CHALLENGE),
    Forbidden: refusal(`${forbidden.types}: the caller may not do this.`, forbidden.example, CHALLENGE),
    NotFound: refusal('`not_found`: there is no such thing, or the caller may not know of it.', {
      type: 'not_found',
      message: NOT_FOUND_MESSAGE,
    }),
    Conflict: refusal('`invalid_request`: a limit is reached, or the step is out of order.', {
      type: 'invalid_request',
      message: errors.examples.limit_reached,
    }),
    RateLimited: refusal(
      '`rate_limited`: too many requests.',
      { type: 'rate_limited', message: errors.examples.rate_limited },
      { ...RETRY_AFTER, ...BUDGET },
    ),
    InternalError: refusal(
      '`internal_error`: the fault is ours.',
      { type: 'internal_error', message: INTERNAL_ERROR_MESSAGE },
      RETRY_AFTER,
    ),
  };
};
