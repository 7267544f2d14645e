import { deadQueueName, EVENTS_EXCHANGE, QUEUES_EXCHANGE } from '@bubbles/bus/operations/topology.ts';
import { type Part, partsOf } from './deployment.ts';
import { PRODUCT, type Product } from './product.ts';

/** Beside what other products keep on the same broker. */
export const VHOST = 'bubbles';

/** Patterns as the broker takes them, of names of queues and exchanges. */
interface BrokerRights {
  readonly configure: string;
  readonly write: string;
  readonly read: string;
  /** Routing keys by the exchange that they may be sent to: without an entry the broker limits none. */
  readonly routingKeys: Readonly<Record<string, string>>;
}

/** The broker takes it for the empty name alone, which nothing has. */
const NOTHING = '^$';
/** Who declares a queue whose dead letters go to the default exchange must be allowed to write to that. */
const DEFAULT_EXCHANGE = 'amq.default';

const escaped = (name: string): string => name.replaceAll('.', String.raw`\.`);
const exactly = (names: readonly string[]): string => (names.length === 0 ? NOTHING : `^(${names.map(escaped).join('|')})$`);
const below = (owners: readonly string[]): string => (owners.length === 0 ? NOTHING : `^(${owners.join('|')})${escaped('.')}`);
/** Queues of the types of these owners, whoever consumes them. */
const queuesOf = (owners: readonly string[]): string => (owners.length === 0 ? NOTHING : String.raw`^[a-z-]+\.(${owners.join('|')})\.`);
const ownersOf = (types: readonly string[]): readonly string[] => [...new Set(types.map((type) => type.slice(0, type.indexOf('.'))))];

/** Of who sends and receives events: its own types, and what is in its own queues. */
const rightsOfPeer = (name: string, { publishes, consumes }: Pick<Part, 'publishes' | 'consumes'>): BrokerRights => {
  const sends = { [EVENTS_EXCHANGE]: ownersOf(publishes), [QUEUES_EXCHANGE]: consumes.length > 0 ? [name] : [] };
  return {
    configure: NOTHING,
    // To ask whether a queue is there takes a right on it from RabbitMQ 4.3 on. This one lets nobody in: messages come by the exchanges, and who may not
    // read an exchange cannot bind a queue to it.
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

/** By the name of the part, or of who publishes from outside. */
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

/** What RabbitMQ imports: a user without a password cannot log in until it is given one. */
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
    // As the job declares them: RabbitMQ 4 knows no right on an exchange that is not there.
    exchanges: [EVENTS_EXCHANGE, QUEUES_EXCHANGE].map((name) => ({
      name,
      vhost: VHOST,
      type: 'topic',
      durable: true,
      auto_delete: false,
      internal: false,
      arguments: {},
    })),
    // The job declares all queues over one node, which would lead them all.
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

/** Where a user logs in who works on the databases of all services. */
export const ALL_DATABASES = 'admin';

/** A user for each part that connects to the store, who may do with its own database what its process does; the migration job has all of them. */
export const storeUsers = (parts: readonly Part[] = partsOf()) =>
  parts
    .filter(({ variables }) => variables.some(({ name }) => name === 'MONGODB_URL'))
    .map(({ name, database }) => ({
      user: name,
      database: database ?? ALL_DATABASES,
      role: database === null ? 'readWriteAnyDatabase' : 'readWrite',
    }));
