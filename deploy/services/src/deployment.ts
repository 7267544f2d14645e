import { publishedBy } from '@bubbles/contracts/events/catalog.ts';
import { GATEWAY, OPERATED, OPERATOR, type ServiceTable } from '@bubbles/contracts/services.ts';
import { GatewayVariables } from '@bubbles/gateway/config.ts';
import type { ServiceDefinition } from '@bubbles/host/service.ts';
import { processVariables } from '@bubbles/host/variables.ts';
import { baseUrl, connectionUrl, isSecret, signingKey, wholeNumber } from '@bubbles/kernel/config-values.ts';
import { z } from 'zod';
import { PRODUCT, type Product } from './product.ts';

/** An environment variable; `<name>_FILE` may name a file that holds the value. */
interface Variable {
  readonly name: string;
  readonly isSecret: boolean;
  readonly isRequired: boolean;
  /** The default as it would be written in the environment; null when there is none. */
  readonly defaultText: string | null;
  readonly description: string;
}

/** Deployment facts of one part of the product: a service, the gateway, or a job that runs to completion. */
export interface Part {
  readonly name: string;
  /** Folder from which the image is built. */
  readonly workspace: string;
  readonly kind: 'service' | 'gateway' | 'job';
  readonly variables: readonly Variable[];
  /** Name of its own database; null for a part without data. */
  readonly database: string | null;
  /** Names of the services that it sends requests to. */
  readonly calls: readonly string[];
  /** Event types, which are also the routing keys. */
  readonly publishes: readonly string[];
  readonly consumes: readonly string[];
  readonly usesBroker: boolean;
  /** Destinations outside the deployment that it connects to. */
  readonly reaches: NonNullable<ServiceDefinition['reaches']>;
}

type Schemas = Readonly<Record<string, z.ZodType>>;

const variablesOf = (schemas: Schemas): readonly Variable[] =>
  Object.entries(schemas).map(([name, schema]) => {
    const isRequired = !schema.safeParse(undefined).success;
    return { name, isSecret: isSecret(schema), isRequired, defaultText: defaultTextOf(schema), description: schema.description ?? '' };
  });

const defaultTextOf = (schema: z.ZodType): string | null => {
  if (schema instanceof z.ZodPrefault) return String(schema.def.defaultValue) || null;
  const value = schema instanceof z.ZodDefault ? schema.def.defaultValue : null;
  if (value === null || (Array.isArray(value) && value.length === 0)) return null;
  return typeof value === 'boolean' ? String(Number(value)) : String(value);
};

const servicePart = (definition: ServiceDefinition, { services, events }: Product): Part => ({
  name: definition.name,
  workspace: `services/${definition.name}`,
  kind: 'service',
  variables: variablesOf(processVariables(definition)),
  database: services[definition.name]?.database ?? null,
  calls: definition.asks,
  publishes: publishedBy(definition.name).map(({ type }) => type),
  consumes: events.filter(({ consumers }) => consumers.includes(definition.name)).map(({ type }) => type),
  usesBroker: true,
  reaches: definition.reaches ?? [],
});

const NO_DATA = { database: null, publishes: [], consumes: [], reaches: [] } as const;

const gatewayPart = ({ definitions }: Product): Part => ({
  ...NO_DATA,
  name: GATEWAY,
  workspace: `services/${GATEWAY}`,
  kind: 'gateway',
  variables: variablesOf(GatewayVariables.shape),
  calls: definitions.map(({ name }) => name),
  usesBroker: false,
});

const job = (name: string, schemas: Schemas, calls: readonly string[] = []): Part => ({
  ...NO_DATA,
  name,
  workspace: `deploy/${name}`,
  kind: 'job',
  variables: variablesOf(schemas),
  calls,
  usesBroker: 'AMQP_URL' in schemas,
});

const { AMQP_URL } = processVariables({ variables: {}, asks: [] });
const addressOf = (service: string) => baseUrl().describe(`Where ${service} is`);
const MOST_IDS = 2 ** 31;
const engineAddress = (form: RegExp, rule: string, description: string) => z.string().regex(form, rule).describe(description);

/** Variables of the job that makes the secrets of a deployment. */
export const KeysVariables = z.object({
  KEYS_FOLDER: z.string().describe('Where the secrets are kept, in a folder for each part'),
  KEYS_GROUP: wholeNumber(0, MOST_IDS).nullable().default(null).describe('The id of the group that may read the secrets of a part'),
  BROKER_ADDRESS: engineAddress(
    /^amqps?:[/][/][^/@]+$/,
    'must be amqp:// or amqps:// with host and port alone',
    'Where RabbitMQ is, without a user: `amqp://rabbitmq:5672`',
  ),
  STORE_ADDRESS: engineAddress(
    /^mongodb([+]srv)?:[/][/][^/@]+[/]([?].*)?$/,
    'must be mongodb:// with hosts, a slash, and options if any',
    'Where MongoDB is, without a user: `mongodb://mongodb:27017/?replicaSet=rs0`',
  ),
  MAIL_ADDRESS: engineAddress(
    /^smtps?:[/][/][^/@]+$/,
    'must be smtp:// or smtps:// with host and port alone',
    'Where the mail server is that takes mails without a login: `smtp://mail:1025`',
  ),
});

/** Every part of a release, in start order. */
export const partsOf = (product: Product = PRODUCT): readonly Part[] => [
  job('keys', KeysVariables.shape),
  job('topology', { AMQP_URL }),
  job('migration', {
    MONGODB_URL: connectionUrl('mongodb', 'mongodb+srv').describe(
      'Where the databases are, with a user who may read and write them and make indexes: `mongodb://user:password@host/?replicaSet=rs0`',
    ),
    MONGODB_DATABASE_PREFIX: z
      .string()
      .nullable()
      .default(null)
      .describe('What the names of all databases begin with, where `MONGODB_DATABASE` of the services adds it'),
  }),
  ...product.definitions.map((definition) => servicePart(definition, product)),
  gatewayPart(product),
  job(
    'admin',
    {
      AMQP_URL,
      OPERATOR_KEY: signingKey().describe(
        'Proves who gives the orders: an Ed25519 private key. Its public half is in the `CALLER_KEYS` of the services, for `operator`',
      ),
      OPERATOR_NAME: z.string().nullable().default(null).describe('Who gives the orders, for the audit lines; `--as` says it too'),
      ...Object.fromEntries(OPERATED.map(({ service, urlVariable }) => [urlVariable, addressOf(service)])),
    },
    calledByOperators(product.services),
  ),
];

const calledByOperators = (services: ServiceTable): readonly string[] =>
  Object.entries(services).flatMap(([name, { callers }]) => (callers.includes(OPERATOR) ? [name] : []));
