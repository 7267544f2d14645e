import { createHash } from 'node:crypto';
import type { ErrorKind } from '@bubbles/kernel/errors.ts';
import type { z } from 'zod';
import { type ErrorCatalog, HTTP_ERRORS, INTERNAL_ERROR_MESSAGE, NOT_FOUND_MESSAGE } from '../routes/http-errors.ts';
import { IDEMPOTENCY_KEY, IDEMPOTENCY_KEY_MAX_CHARACTERS, IDEMPOTENCY_REPLAYED } from '../routes/idempotency.ts';
import type { Auth, Route, RouteSpec } from '../routes/route.ts';
import { parameterNames } from '../routes/route-table.ts';
import { type JsonObject, type SchemaDocument, schemaDocument } from './schema-document.ts';
import { type WebhookSpec, webhooksOf } from './webhook-spec.ts';

/** Names of the security schemes, which the gateway's document defines. */
export const SECURITY_SCHEMES = { pat: 'personalAccessToken', oauth: 'oauth2', session: 'appSession', internal: 'serviceToken' } as const;

/** The document of one service, out of the routes that it serves and the webhooks that it sends; the gateway merges those of all. */
export const openApiFragment = ({ name, version = '1', routes, webhooks = [], errors }: FragmentSource): JsonObject => {
  const schemas = schemaDocument();
  schemas.schemaOf(errors.envelope, 'output');
  const paths: Record<string, JsonObject> = {};
  for (const { spec } of routes) paths[spec.path] = { ...paths[spec.path], [spec.method.toLowerCase()]: operation(spec, schemas) };
  return {
    openapi: '3.1.0',
    info: { title: name, version },
    paths,
    ...(webhooks.length > 0 && { webhooks: webhooksOf(webhooks, schemas) }),
    components: { schemas: schemas.components(), responses: errorResponses(errors), headers: HEADERS },
  };
};

interface FragmentSource {
  readonly name: string;
  readonly version?: string;
  readonly routes: readonly Route[];
  readonly webhooks?: readonly WebhookSpec[] | undefined;
  readonly errors: ErrorCatalog;
}

/** A strong ETag of the very bytes. */
export const etagOf = (text: string): string => `"${createHash('sha256').update(text).digest('hex')}"`;

const operation = (spec: RouteSpec, schemas: SchemaDocument): JsonObject => ({
  operationId: spec.operationId,
  summary: spec.summary,
  ...(spec.description !== undefined && { description: spec.description }),
  tags: [spec.tag],
  security: securityOf(spec.auth),
  'x-gw-auth': spec.auth.kind,
  ...(spec.bodyLimitBytes !== undefined && { 'x-gw-body-limit': spec.bodyLimitBytes }),
  ...gatewayScope(spec.auth),
  'x-internal': spec.auth.kind === 'internal',
  ...(spec.extension && { 'x-extension': true }),
  ...parametersOf(spec, schemas),
  ...(spec.body && { requestBody: bodyOf(spec.body, schemas) }),
  responses: responsesOf(spec, schemas),
});

const gatewayScope = (auth: Auth): JsonObject => ('scope' in auth && auth.scope !== null ? { 'x-gw-scope': auth.scope } : {});

const securityOf = (auth: Auth): readonly JsonObject[] => {
  switch (auth.kind) {
    case 'none':
      return [];
    case 'session':
      return [{ [SECURITY_SCHEMES.session]: [] }];
    case 'internal':
      return [{ [SECURITY_SCHEMES.internal]: [] }];
    default: {
      const granted = [{ [SECURITY_SCHEMES.pat]: [] }, { [SECURITY_SCHEMES.oauth]: auth.scope === null ? [] : [auth.scope] }];
      return auth.kind === 'pat' ? granted : [...granted, { [SECURITY_SCHEMES.session]: [] }];
    }
  }
};

const IDEMPOTENCY_PARAMETER = {
  name: IDEMPOTENCY_KEY,
  in: 'header',
  required: false,
  description:
    'Your own name for this request, so that it can be sent again when its answer was lost: for 24 hours the same key from the same account on the same path gets the first answer again and changes nothing more. With another body it is 400; while the first request is still in progress the second waits, and gets 409 when that takes too long. A refusal (400 to 429) is not kept. Extension.',
  schema: { type: 'string', minLength: 1, maxLength: IDEMPOTENCY_KEY_MAX_CHARACTERS, pattern: '^[\\x21-\\x7e]+$' },
};

const parametersOf = (spec: RouteSpec, schemas: SchemaDocument): JsonObject => {
  const parameters = [
    ...(spec.params ? parametersIn('path', schemas.schemaOf(spec.params, 'input')) : []),
    ...(spec.query ? parametersIn('query', schemas.schemaOf(spec.query, 'input')) : []),
    ...(spec.idempotent ? [IDEMPOTENCY_PARAMETER] : []),
  ];
  return parameters.length > 0 ? { parameters } : {};
};

const parametersIn = (place: 'path' | 'query', object: JsonObject): readonly JsonObject[] => {
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

const json = (schema: JsonObject, mediaType = 'application/json'): JsonObject => ({ [mediaType]: { schema } });

const bodyOf = (body: z.ZodType, schemas: SchemaDocument): JsonObject => ({
  required: !body.safeParse({}).success,
  content: json(schemas.schemaOf(body, 'input')),
});

const REQUEST_ID = { 'X-Request-Id': { $ref: '#/components/headers/RequestId' } };
const BUDGET = {
  'RateLimit-Policy': { $ref: '#/components/headers/RateLimitPolicy' },
  RateLimit: { $ref: '#/components/headers/RateLimit' },
};
const REPLAYED = {
  [IDEMPOTENCY_REPLAYED]: {
    description: 'Only there, as `true`, when this is the first answer to the same `Idempotency-Key` again.',
    schema: { type: 'string', const: 'true' },
  },
};
const RETRY_AFTER = { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } };

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
      message: 'limit: must be a whole number from 1 to 100',
    }),
    Unauthorized: refusal(`${unauthorized.types}: the credential is not accepted.`, unauthorized.example, CHALLENGE),
    Forbidden: refusal(`${forbidden.types}: the caller may not do this.`, forbidden.example, CHALLENGE),
    NotFound: refusal('`not_found`: there is no such thing, or the caller may not know of it.', {
      type: 'not_found',
      message: NOT_FOUND_MESSAGE,
    }),
    Conflict: refusal('`invalid_request`: a limit is reached, or the step is out of order.', {
      type: 'invalid_request',
      message: 'There are 10 active keys already. Revoke one first.',
    }),
    RateLimited: refusal(
      '`rate_limited`: too many requests.',
      { type: 'rate_limited', message: 'More than 120 requests in 60 seconds.' },
      { ...RETRY_AFTER, ...BUDGET },
    ),
    InternalError: refusal(
      '`internal_error`: the fault is ours.',
      { type: 'internal_error', message: INTERNAL_ERROR_MESSAGE },
      RETRY_AFTER,
    ),
  };
};

const RESPONSE_BY_STATUS: Readonly<Record<number, keyof ReturnType<typeof errorResponses>>> = {
  400: 'InvalidRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  429: 'RateLimited',
  500: 'InternalError',
};

/** Whether its requests use up the budget of a credential. */
const isCounted = ({ auth }: RouteSpec): boolean => auth.kind !== 'none' && auth.kind !== 'internal';

/** What the mount refuses before the handler is asked. */
const impliedErrors = (spec: RouteSpec): readonly ErrorKind[] => [
  'internal',
  // A request may be malformed before it has parameters or a body.
  'invalid',
  ...(spec.auth.kind === 'none' ? [] : (['unauthorized'] as const)),
  ...(isCounted(spec) ? (['rate_limited'] as const) : []),
  ...('scope' in spec.auth && spec.auth.scope !== null ? (['forbidden'] as const) : []),
  ...(parameterNames(spec.path).length > 0 ? (['not_found'] as const) : []),
  ...(spec.idempotent ? (['out_of_order'] as const) : []),
];

const responsesOf = (spec: RouteSpec, schemas: SchemaDocument): JsonObject => {
  const { status, schema, description, mediaType } = spec.success;
  const statuses = new Set([...impliedErrors(spec), ...spec.errors].map((kind) => HTTP_ERRORS[kind].status));
  return {
    [status]: {
      description: description ?? (schema ? 'Done.' : 'Done; no body.'),
      headers: { ...REQUEST_ID, ...(isCounted(spec) && BUDGET), ...(spec.idempotent && REPLAYED) },
      ...(schema && { content: json(schemas.schemaOf(schema, 'output'), mediaType) }),
    },
    ...Object.fromEntries(
      [...statuses].toSorted().map((refused) => [refused, { $ref: `#/components/responses/${RESPONSE_BY_STATUS[refused]}` }]),
    ),
  };
};
