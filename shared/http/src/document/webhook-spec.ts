import type { ZodType } from 'zod';
import type { RouteSpec } from '../routes/route.ts';
import type { JsonObject, SchemaDocument } from './schema-document.ts';

/** The contract of a request that we send to receivers of our callers: `webhooks` of OpenAPI 3.1. */
export interface WebhookSpec extends Pick<RouteSpec<object, never>, 'operationId' | 'summary' | 'tag'> {
  /** Event type, for example `bubble.ready`. */
  readonly name: string;
  readonly description: string;
  /** What each header says, by name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ZodType;
  /** What a receiver's answers mean, by OpenAPI status, e.g. `2XX` or `default`. */
  readonly answers: Readonly<Record<string, string>>;
}

const textHeader = ([name, description]: readonly [string, string]): JsonObject => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string' },
});

const request = ({ operationId, summary, description, tag, headers, body, answers }: WebhookSpec, schemas: SchemaDocument): JsonObject => ({
  operationId,
  summary,
  description,
  tags: [tag],
  security: [],
  parameters: Object.entries(headers).map(textHeader),
  requestBody: { required: true, content: { 'application/json': { schema: schemas.schemaOf(body, 'output') } } },
  responses: Object.fromEntries(Object.entries(answers).map(([status, meaning]) => [status, { description: meaning }])),
});

/** Every webhook is a POST. */
export const webhooksOf = (specs: readonly WebhookSpec[], schemas: SchemaDocument): JsonObject =>
  Object.fromEntries(specs.map((spec) => [spec.name, { post: request(spec, schemas) }]));
