import { queueName } from '@bubbles/bus/bus.ts';
import { deadQueueName, EVENTS_EXCHANGE, QUEUES_EXCHANGE } from '@bubbles/bus/operations/topology.ts';
import { EVENTS } from '@bubbles/contracts/events/catalog.ts';
import { describe, expect, it } from '@jest/globals';
import { partsOf } from './deployment.ts';
import { brokerDefinitions, storeUsers } from './engine-users.ts';

const PARTS = partsOf();
const { users, permissions, topic_permissions: topics, vhosts } = brokerDefinitions();
const types = EVENTS.map(({ type }) => type);
const consumers = [...new Set(EVENTS.flatMap((event) => event.consumers))];
const queues = EVENTS.flatMap(({ type, consumers: own }) => own.map((consumer) => ({ consumer, name: queueName(consumer, type) })));
const deadQueues = consumers.map((consumer) => ({ consumer, name: deadQueueName(consumer) }));
const resources = ['amq.default', EVENTS_EXCHANGE, QUEUES_EXCHANGE, ...[...queues, ...deadQueues].map(({ name }) => name), 'somebody.else'];

const matching = (names: readonly string[], pattern = '^$') => names.filter((name) => new RegExp(pattern).test(name)).toSorted();
const namesOf = (list: readonly { readonly name: string }[]) => list.map(({ name }) => name);
/** Of whoever consumes these types. */
const queuesOf = (published: readonly string[]) => namesOf(queues).filter((name) => published.some((type) => name.endsWith(`.${type}`)));
const rightsOf = (name: string) => {
  const own = permissions.find(({ user }) => user === name);
  const topicOf = (exchange: string) => topics.find((one) => one.user === name && one.exchange === exchange)?.write;
  return {
    configure: matching(resources, own?.configure),
    write: matching(resources, own?.write),
    read: matching(resources, own?.read),
    publishes: matching(types, topicOf(EVENTS_EXCHANGE)),
    returns: matching(resources, topicOf(QUEUES_EXCHANGE)),
  };
};

describe('the users of the broker', () => {
  it('are those of the parts that use it, and of who publishes from outside', () => {
    const expected = [...PARTS.filter(({ usesBroker }) => usesBroker).map(({ name }) => name), 'recording-pipeline'];
    expect(namesOf(users).toSorted()).toEqual(expected.toSorted());
    expect(vhosts).toHaveLength(1);
    expect(users.filter(({ tags }) => tags.length > 0)).toEqual([{ name: 'admin', tags: ['monitoring'] }]);
  });

  it.each(PARTS.filter(({ kind }) => kind === 'service'))('$name may do what its events need, and nothing else', (part) => {
    const own = [...queues, ...deadQueues].filter(({ consumer }) => consumer === part.name);
    const exchanges = [...(part.publishes.length > 0 ? [EVENTS_EXCHANGE] : []), ...(part.consumes.length > 0 ? [QUEUES_EXCHANGE] : [])];
    expect(rightsOf(part.name)).toEqual({
      configure: [],
      write: [...exchanges, ...queuesOf(part.publishes)].toSorted(),
      read: namesOf(own).toSorted(),
      publishes: part.publishes.toSorted(),
      returns: namesOf(own).toSorted(),
    });
  });

  it('only the job of the topology declares, and it publishes nothing', () => {
    const declared = [EVENTS_EXCHANGE, QUEUES_EXCHANGE, ...namesOf(queues), ...namesOf(deadQueues)].toSorted();
    const { configure, write, read, publishes, returns } = rightsOf('topology');
    expect({ configure, read, publishes, returns }).toEqual({ configure: declared, read: declared, publishes: [], returns: [] });
    expect(write).toEqual(['amq.default', ...namesOf(queues), ...namesOf(deadQueues)].toSorted());
    expect(permissions.filter(({ configure: pattern }) => pattern !== '^$').map(({ user }) => user)).toEqual(['topology']);
  });

  it('an operator reads dead letters and sends them back', () => {
    expect(rightsOf('admin')).toEqual({
      configure: [],
      write: [QUEUES_EXCHANGE, ...namesOf(queues), ...namesOf(deadQueues)].toSorted(),
      read: namesOf(deadQueues).toSorted(),
      publishes: [],
      returns: [...namesOf(queues), ...namesOf(deadQueues)].toSorted(),
    });
  });

  it('the recording pipeline publishes what is its own', () => {
    const own = EVENTS.filter(({ publisher }) => publisher === 'recording-pipeline').map(({ type }) => type);
    expect(rightsOf('recording-pipeline')).toEqual({
      configure: [],
      write: [EVENTS_EXCHANGE, ...queuesOf(own)].toSorted(),
      read: [],
      publishes: own.toSorted(),
      returns: [],
    });
  });

  it('find the exchanges there, before their rights on them are read', () => {
    expect(namesOf(brokerDefinitions().exchanges)).toEqual([EVENTS_EXCHANGE, QUEUES_EXCHANGE]);
  });

  it('have their routing keys limited at every exchange, since the broker limits none of itself', () => {
    const limited = topics.map(({ user, exchange }) => `${user} at ${exchange}`);
    const expected = namesOf(users).flatMap((user) => [`${user} at ${EVENTS_EXCHANGE}`, `${user} at ${QUEUES_EXCHANGE}`]);
    expect(limited.toSorted()).toEqual(expected.toSorted());
  });
});

describe('the users of the store', () => {
  it('have a database of their own, each one', () => {
    const expected = PARTS.filter(({ database }) => database !== null).map(({ name, database }) => ({
      user: name,
      database,
      role: 'readWrite',
    }));
    expect(storeUsers().filter(({ role }) => role === 'readWrite')).toEqual(expected);
    expect(new Set(expected.map(({ database }) => database)).size).toBe(expected.length);
  });

  it('are those of the services, and one who migrates all of them', () => {
    const others = storeUsers().filter(({ role }) => role !== 'readWrite');
    expect(others).toEqual([{ user: 'migration', database: 'admin', role: 'readWriteAnyDatabase' }]);
  });
});
