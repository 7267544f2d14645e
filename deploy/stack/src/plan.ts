import { join } from 'node:path';
import { GATEWAY, OPERATOR } from '@bubbles/contracts/services.ts';
import type { ServiceDefinition } from '@bubbles/host/service.ts';
import { localEnvironment } from '@bubbles/host/variables.ts';
import type { Keys } from '@bubbles/keys/keys.ts';
import { PRODUCT, type Product } from '@bubbles/services/product.ts';
import { z } from 'zod';

/** What a stack is made of, and where. */
export const StackLayout = z.object({
  /** The first of a row of ports on loopback. */
  port: z.int(),
  amqpUrl: z.string(),
  mongoUrl: z.string(),
  /** Folder of the job `keys`, of which each process and job reads its own URLs; absent where engines ask for no login. */
  logins: z.string().optional(),
  /** Before the names of the databases, so that stacks can share a store. */
  databasePrefix: z.string(),
  /** Number of processes by service name, and of the gateway. */
  replicas: z.record(z.string(), z.int()),
  /** How long a process that is told to end goes on serving those who have not noticed. */
  drainNotice: z.string(),
  /** Folder for files that are meant for people, such as mails. */
  folder: z.string(),
  /** Whether a process that cannot keep up refuses. */
  shedding: z.boolean(),
  /** Values of the services' own variables. */
  settings: z.record(z.string(), z.string()),
});
export type StackLayout = z.infer<typeof StackLayout>;

/** Variables with which a part of the product reaches broker and store. */
export const engineAccess = ({ amqpUrl, mongoUrl, logins }: StackLayout, part: string) =>
  logins === undefined
    ? { broker: { AMQP_URL: amqpUrl }, store: { MONGODB_URL: mongoUrl } }
    : { broker: { AMQP_URL_FILE: join(logins, part, 'AMQP_URL') }, store: { MONGODB_URL_FILE: join(logins, part, 'MONGODB_URL') } };

export interface ProcessPlan {
  readonly name: string;
  /** A service's name, or the gateway's. */
  readonly service: string;
  /** Relative to the repository. */
  readonly entry: string;
  readonly url: string;
  readonly opsUrl: string;
  readonly environment: Readonly<Record<string, string>>;
}

const LOOPBACK = '127.0.0.1';
const PORTS_PER_SERVICE = 10;
const OPS_OFFSET = 5;
const MAX_REPLICAS = OPS_OFFSET;

/** In start order: a service comes after the services that it calls. */
const namesOf = ({ definitions }: Product): readonly string[] => [...definitions.map(({ name }) => name), GATEWAY];

export const defaultReplicas = (product: Product = PRODUCT): StackLayout['replicas'] =>
  Object.fromEntries(namesOf(product).map((name) => [name, 2]));

/** Every process in the order of their start. */
export const planProcesses = (layout: StackLayout, keys: Keys, product: Product = PRODUCT): readonly ProcessPlan[] => {
  const names = namesOf(product);
  const countOf = (service: string): number => layout.replicas[service] ?? 0;
  const addressesOf = (service: string, count = countOf(service)) => {
    if (count > MAX_REPLICAS) throw new RangeError(`at most ${MAX_REPLICAS} of a service`);
    // The gateway has the first port.
    const first = layout.port + names.toReversed().indexOf(service) * PORTS_PER_SERVICE;
    return Array.from({ length: count }, (_, index) => ({ port: first + index, url: `http://${LOOPBACK}:${first + index}` }));
  };
  const urlsOf = (service: string): readonly string[] => addressesOf(service).map(({ url }) => url);
  // Callers of a service that is not running get an address on which nothing listens.
  const askedAt = (service: string): readonly string[] => addressesOf(service, Math.max(1, countOf(service))).map(({ url }) => url);
  const environmentOf = serviceEnvironment({ layout, keys, product, askedAt });
  const processesOf = (service: string, environment: Readonly<Record<string, string>>): readonly ProcessPlan[] =>
    addressesOf(service).map(({ port, url }, index) => ({
      name: `${service}-${index + 1}`,
      service,
      entry: `services/${service}/src/main.ts`,
      url,
      opsUrl: `http://${LOOPBACK}:${port + OPS_OFFSET}`,
      environment: {
        HOST: LOOPBACK,
        PORT: String(port),
        OPS_HOST: LOOPBACK,
        OPS_PORT: String(port + OPS_OFFSET),
        DRAIN_NOTICE: layout.drainNotice,
        SHEDDING: String(layout.shedding),
        ...environment,
      },
    }));
  const upstreams = product.definitions.map(({ name }) => ({ name, urls: urlsOf(name) })).filter(({ urls }) => urls.length > 0);
  return [
    ...product.definitions.flatMap((definition) => processesOf(definition.name, environmentOf(definition))),
    ...processesOf(GATEWAY, {
      UPSTREAMS: upstreams.map(({ name, urls }) => `${name}=${urls.join(',')}`).join(';'),
      SERVICE_KEY_FILE: keys.privateKeyFile(GATEWAY),
    }),
  ];
};

interface EnvironmentParts {
  readonly layout: StackLayout;
  readonly keys: Keys;
  readonly product: Product;
  readonly askedAt: (service: string) => readonly string[];
}

const serviceEnvironment = ({ layout, keys, product: { definitions, services }, askedAt }: EnvironmentParts) => {
  const running = [GATEWAY, OPERATOR, ...definitions.map(({ name }) => name)];
  const machine = {
    publicBaseUrl: `http://${LOOPBACK}:${layout.port}`,
    keyId: 'stack',
    secret: keys.secret,
    folder: (name: string) => join(layout.folder, name),
    callerKeys: (service: string) => keys.publicKeys((services[service]?.callers ?? []).filter((caller) => running.includes(caller))),
    serviceKey: (caller: string) => ({ SERVICE_KEY_FILE: keys.privateKeyFile(caller) }),
    urls: (service: string) => askedAt(service).join(','),
  };
  return (definition: ServiceDefinition) => {
    const { broker, store } = engineAccess(layout, definition.name);
    return {
      ...store,
      MONGODB_DATABASE: `${layout.databasePrefix}${services[definition.name]?.database}`,
      ...broker,
      ...localEnvironment(definition, machine, layout.settings),
    };
  };
};
