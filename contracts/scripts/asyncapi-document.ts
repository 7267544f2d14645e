import { z } from 'zod';
import type { defineEvent } from '../src/events/define-event.ts';

type EventDefinition = ReturnType<typeof defineEvent<unknown>>;
type Json = { readonly [key: string]: unknown };

const EXCHANGE = { name: 'bubbles.events', type: 'topic', durable: true };

/** `bubbles.bubble.ready.v1` → `BubblesBubbleReadyV1` */
const messageName = (type: string): string =>
  type
    .split('.')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');

const mapValues = (record: object, change: (value: unknown, key: string) => unknown): Json =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value, key)]));

const atComponents = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(atComponents);
  if (typeof schema !== 'object' || schema === null) return schema;
  return mapValues(schema, (value, key) =>
    key === '$ref' && typeof value === 'string' ? value.replace('#/$defs/', '#/components/schemas/') : atComponents(value),
  );
};

// zod writes the expression behind a format too, 300 characters for a date and time.
const dropFormatPattern = ({ jsonSchema }: { readonly jsonSchema: z.core.JSONSchema.BaseSchema }): void => {
  if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
};

/** The payload, with its named parts as components. As input schema, because an output schema would forbid the fields that are added later. */
const payload = (event: EventDefinition): { readonly schema: Json; readonly parts: Json } => {
  const { $schema: _, $defs = {}, ...schema } = z.toJSONSchema(event.schema, { io: 'input', override: dropFormatPattern });
  return { schema: mapValues(schema, atComponents), parts: mapValues($defs, atComponents) };
};

const envelope = (type: string, data: Json): Json => ({
  type: 'object',
  required: ['specversion', 'id', 'source', 'type', 'time', 'datacontenttype', 'data'],
  properties: {
    specversion: { const: '1.0' },
    id: { type: 'string', description: 'The same when the same fact is sent again' },
    source: { type: 'string' },
    type: { const: type },
    time: { type: 'string', format: 'date-time' },
    subject: { type: 'string' },
    traceparent: {
      type: 'string',
      pattern: '^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$',
      description:
        'Of the work that told the fact: W3C Trace Context, in the CloudEvents extension for distributed tracing. A consumer continues the trace; it takes no notice of a value of another form',
    },
    datacontenttype: { const: 'application/json' },
    data,
  },
});

const channel = (event: EventDefinition): Json => ({
  address: event.type,
  title: messageName(event.type),
  description: `${event.description} Published by ${event.publisher}; consumed by ${event.consumers.join(', ') || 'nobody yet'}.`,
  messages: { [messageName(event.type)]: { $ref: `#/components/messages/${messageName(event.type)}` } },
  bindings: { amqp: { is: 'routingKey', exchange: EXCHANGE, bindingVersion: '0.3.0' } },
  'x-publisher': event.publisher,
  'x-consumers': event.consumers,
});

const operation = (party: string, action: 'send' | 'receive', type: string): readonly [string, Json] => [
  `${party}.${action}.${type}`,
  {
    action,
    summary: action === 'send' ? `${party} publishes ${type}` : `${party} consumes ${type} from its queue ${party}.${type}`,
    channel: { $ref: `#/channels/${type}` },
    security: [{ $ref: '#/components/securitySchemes/broker' }],
    'x-service': party,
  },
];

const operations = ({ publisher, consumers, type }: EventDefinition) => [
  operation(publisher, 'send', type),
  ...consumers.map((consumer) => operation(consumer, 'receive', type)),
];

/** AsyncAPI 3 of the whole system: one channel for each event, one operation for each of its parties. */
export const asyncApiDocument = (events: readonly EventDefinition[]): Json => {
  const payloads = events.map((event) => ({ event, ...payload(event) }));
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Events between the services',
      version: '1.0.0',
      description:
        'CloudEvents 1.0 on the topic exchange `bubbles.events`; the routing key is the type. Within a version only optional fields are added.',
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    servers: { rabbitmq: { host: 'rabbitmq:5672', protocol: 'amqp', description: 'One user for each service' } },
    defaultContentType: 'application/cloudevents+json',
    channels: Object.fromEntries(events.map((event) => [event.type, channel(event)])),
    operations: Object.fromEntries(events.flatMap(operations)),
    components: {
      securitySchemes: { broker: { type: 'userPassword' } },
      messages: Object.fromEntries(
        payloads.map(({ event, schema }) => [messageName(event.type), { name: event.type, payload: envelope(event.type, schema) }]),
      ),
      schemas: Object.assign({}, ...payloads.map(({ parts }) => parts)),
    },
  };
};
