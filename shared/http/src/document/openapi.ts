import { createHash } from 'node:crypto';
import { type ErrorCatalog, HTTP_ERRORS, INTERNAL_ERROR_MESSAGE, NOT_FOUND_MESSAGE } from '../routes/http-errors.ts';
import type { Route } from '../routes/route.ts';
import { BUDGET, operationOf, REQUEST_ID, RETRY_AFTER } from './operation.ts';
import { type JsonObject, schemaDocument } from './schema-document.ts';
import { type WebhookSpec, webhooksOf } from './webhook-spec.ts';

/** The document of one service, out of the routes that it serves and the webhooks that it sends; the gateway merges those of all. */
export const openApiFragment = ({ name, version = '1', routes, webhooks = [], errors }: FragmentSource): JsonObject => {
  const schemas = schemaDocument();
  schemas.schemaOf(errors.envelope, 'output');
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
  readonly errors: ErrorCatalog;
}

/** A strong ETag of the very bytes. */
export const etagOf = (text: string): string => `"${createHash('sha256').update(text).digest('hex')}"`;

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
