import type { StackKeys } from './keys.ts';
import { SERVICES, type ServiceName, type StackLayout } from './layout.ts';

export interface ProcessPlan {
  readonly name: string;
  readonly service: ServiceName;
  /** Relative to the repository. */
  readonly entry: string;
  readonly url: string;
  readonly opsUrl: string;
  readonly environment: Readonly<Record<string, string>>;
}

const LOOPBACK = '127.0.0.1';
const PORTS_A_SERVICE = 10;
const OPS_OFFSET = 5;
const MOST_REPLICAS = OPS_OFFSET;
/** Deep links of recordings; the app is not a part of this repository. */
const APP_BASE_URL = 'https://app.example.com';

interface Place {
  readonly name: string;
  readonly port: number;
  readonly url: string;
}

const placesOf = ({ port, replicas }: StackLayout, service: ServiceName): readonly Place[] => {
  if (replicas[service] > MOST_REPLICAS) throw new RangeError(`at most ${MOST_REPLICAS} of a service`);
  const first = port + SERVICES.toReversed().indexOf(service) * PORTS_A_SERVICE;
  return Array.from({ length: replicas[service] }, (_, index) => ({
    name: `${service}-${index + 1}`,
    port: first + index,
    url: `http://${LOOPBACK}:${first + index}`,
  }));
};

const urlsOf = (layout: StackLayout, service: ServiceName): string =>
  placesOf(layout, service)
    .map(({ url }) => url)
    .join(',');

/** Every process in the order of their start: who is asked before who asks. */
export const planProcesses = (layout: StackLayout, keys: StackKeys): readonly ProcessPlan[] =>
  SERVICES.flatMap((service) => placesOf(layout, service).map((place) => planOf({ layout, keys, service, place })));

interface PlanParts {
  readonly layout: StackLayout;
  readonly keys: StackKeys;
  readonly service: ServiceName;
  readonly place: Place;
}

const planOf = ({ layout, keys, service, place: { name, port, url } }: PlanParts): ProcessPlan => ({
  name,
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
    ...ENVIRONMENTS[service](layout, keys),
  },
});

type Environment = (layout: StackLayout, keys: StackKeys) => Readonly<Record<string, string>>;

const onStores = ({ mongoUrl, amqpUrl, databasePrefix, ...layout }: StackLayout, database: string) => ({
  MONGODB_URL: mongoUrl,
  MONGODB_DATABASE: `${databasePrefix}${database}`,
  AMQP_URL: amqpUrl,
  PUBLIC_BASE_URL: `http://${LOOPBACK}:${layout.port}`,
});

const ENVIRONMENTS: Readonly<Record<ServiceName, Environment>> = {
  'identity-and-oauth': (layout, keys) => ({
    ...onStores(layout, 'bubbles_identity'),
    SEAL_KEYS: `stack=${keys.secret('seal')}`,
    CALLER_KEYS: keys.publicKeys('gateway', 'bubbles-query', 'webhooks-dispatcher', 'operator'),
  }),
  'bubbles-query': (layout, keys) => ({
    ...onStores(layout, 'bubbles_query'),
    APP_BASE_URL,
    IDENTITY_URLS: urlsOf(layout, 'identity-and-oauth'),
    SERVICE_KEY_FILE: keys.privateKeyFile('bubbles-query'),
    CALLER_KEYS: keys.publicKeys('gateway', 'webhooks-dispatcher', 'operator'),
    CURSOR_KEY: keys.secret('cursor'),
    PERSON_KEY: keys.secret('person'),
  }),
  'webhooks-dispatcher': (layout, keys) => ({
    ...layout.webhooks,
    ...onStores(layout, 'bubbles_webhooks'),
    APP_BASE_URL,
    IDENTITY_URLS: urlsOf(layout, 'identity-and-oauth'),
    BUBBLES_QUERY_URLS: urlsOf(layout, 'bubbles-query'),
    SERVICE_KEY_FILE: keys.privateKeyFile('webhooks-dispatcher'),
    CALLER_KEYS: keys.publicKeys('gateway'),
    SEAL_KEYS: `stack=${keys.secret('seal')}`,
    CURSOR_KEY: keys.secret('cursor'),
  }),
  gateway: (layout, keys) => ({
    UPSTREAMS: SERVICES.filter((service) => service !== 'gateway' && layout.replicas[service] > 0)
      .map((service) => `${service}=${urlsOf(layout, service)}`)
      .join(';'),
    SERVICE_KEY_FILE: keys.privateKeyFile('gateway'),
  }),
};
