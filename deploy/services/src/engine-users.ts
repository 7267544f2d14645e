import { deadQueueName, EVENTS_EXCHANGE, QUEUES_EXCHANGE } from '@bubbles/bus/operations/topology.ts';
import { type Part, partsOf } from './deployment.ts';
import { PRODUCT, type Product } from './product.ts';

/** Keeps the product apart from others on the same broker. */
export const VHOST = 'bubbles';

/** RabbitMQ permissions: regular expressions over the names of queues and exchanges. */
interface BrokerRights {
  readonly configure: string;
  readonly write: string;
  readonly read: string;
  /** Topic permissions by exchange; an exchange without an entry has no limit on routing keys. */
  readonly routingKeys: Readonly<Record<string, string>>;
}

/** Matches only the empty name, which no queue or exchange has. */
const NOTHING = '^$';
/** Declaring a queue that dead-letters to the default exchange requires the right to write to that exchange. */
const DEFAULT_EXCHANGE = 'amq.default';

const escaped = (name: string): string => name.replaceAll('.', String.raw`\.`);
const exactly = (names: readonly string[]): string => (names.length === 0 ? NOTHING : `^(${names.map(escaped).join('|')})$`);
const below = (owners: readonly string[]): string => (owners.length === 0 ? NOTHING : `^(${owners.join('|')})${escaped('.')}`);
/** Queues for events of these publishers, for any consumer. */
const queuesOf = (owners: readonly string[]): string => (owners.length === 0 ? NOTHING : String.raw`^[a-z-]+\.(${owners.join('|')})\.`);
const ownersOf = (types: readonly string[]): readonly string[] => [...new Set(types.map((type) => type.slice(0, type.indexOf('.'))))];

/** Rights of a part that publishes its own event types and consumes its own queues. */
const rightsOfPeer = (name: string, { publishes, consumes }: Pick<Part, 'publishes' | 'consumes'>): BrokerRights => {
  const sends = { [EVENTS_EXCHANGE]: ownersOf(publishes), [QUEUES_EXCHANGE]: consumes.length > 0 ? [name] : [] };
  return {
    configure: NOTHING,
    // RabbitMQ 4.3 requires some right on a queue to check that it exists. The right to write to a queue opens nothing else: messages enter through
    // exchanges, and binding a queue requires the right to read the exchange.
    write: `${exactly(Object.entries(sends).flatMap(([exchange, owners]) => (owners.length > 0 ? [exchange] : [])))}|${queuesOf(ownersOf(publishes))}`,
    read: below(consumes.length > 0 ? [name] : []),
    routingKeys: Object.fromEntries(Object.entries(sends).map(([exchange, owners]) => [exchange, below(owners)])),
  };
};

const rightsOfJobs = ({ events }: Product): Readonly<Record<string, BrokerRights>> => {
  const consumers = [...new Set(events.flatMap((event) => event.consumers))].toSorted();
  const all = `${exactly([EVENTS_EXCHANGE, QUEUES_EXCHANGE])}|${below(consumers)}`;
  return {
    topology: {
      configure: all,
      write: `${exactly([DEFAULT_EXCHANGE])}|${below(consumers)}`,
      read: all,
      routingKeys: { [EVENTS_EXCHANGE]: NOTHING, [QUEUES_EXCHANGE]: NOTHING },
    },
    admin: {
      configure: NOTHING,
      write: `${exactly([QUEUES_EXCHANGE])}|${below(consumers)}`,
      read: exactly(consumers.map(deadQueueName)),
      routingKeys: { [EVENTS_EXCHANGE]: NOTHING, [QUEUES_EXCHANGE]: below(consumers) },
    },
  };
};

/** Rights by the name of the part or of the external publisher. */
const brokerRights = (product: Product): Readonly<Record<string, BrokerRights>> => {
  const jobs = rightsOfJobs(product);
  const parts = partsOf(product).filter(({ usesBroker }) => usesBroker);
  const outside = [...new Set(product.events.map(({ publisher }) => publisher))].filter(
    (name) => !parts.some((part) => part.name === name),
  );
  return Object.fromEntries([
    ...parts.map((part) => [part.name, jobs[part.name] ?? rightsOfPeer(part.name, part)] as const),
    ...outside.map((name) => {
      const publishes = product.events.filter(({ publisher }) => publisher === name).map(({ type }) => type);
      return [name, rightsOfPeer(name, { publishes, consumes: [] })] as const;
    }),
  ]);
};

/** Definitions for RabbitMQ's import. Users have no password here and cannot log in until they are given one. */
export const brokerDefinitions = (product: Product = PRODUCT) => {
  const users = Object.entries(brokerRights(product));
  return {
    vhosts: [{ name: VHOST }],
    users: users.map(([name]) => ({ name, tags: name === 'admin' ? ['monitoring'] : [] })),
    permissions: users.map(([user, { configure, write, read }]) => ({ user, vhost: VHOST, configure, write, read })),
    topic_permissions: users.flatMap(([user, { routingKeys }]) =>
      Object.entries(routingKeys).map(([exchange, write]) => ({
        user,
        vhost: VHOST,
        exchange,
        write,
        read: user === 'topology' ? '.*' : NOTHING,
      })),
    ),
    // The same declarations as in the topology job: RabbitMQ 4 accepts no right on an exchange that does not exist.
    exchanges: [EVENTS_EXCHANGE, QUEUES_EXCHANGE].map((name) => ({
      name,
      vhost: VHOST,
      type: 'topic',
      durable: true,
      auto_delete: false,
      internal: false,
      arguments: {},
    })),
    // The job declares all queues through one node, which would otherwise lead them all.
    policies: [
      {
        vhost: VHOST,
        name: 'balanced-leaders',
        pattern: '',
        'apply-to': 'queues',
        priority: 0,
        definition: { 'queue-leader-locator': 'balanced' },
      },
    ],
  };
};

/** Authentication database of users with rights on the databases of all services. */
export const ALL_DATABASES = 'admin';

/** One user per part that connects to the store, with readWrite on its own database; the migration job has it on all. */
export const storeUsers = (parts: readonly Part[] = partsOf()) =>
  parts
    .filter(({ variables }) => variables.some(({ name }) => name === 'MONGODB_URL'))
    .map(({ name, database }) => ({
      user: name,
      database: database ?? ALL_DATABASES,
      role: database === null ? 'readWriteAnyDatabase' : 'readWrite',
    }));
