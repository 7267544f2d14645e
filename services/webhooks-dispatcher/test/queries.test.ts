import { IDEMPOTENCY_INDEXES } from '@bubbles/host/idempotency-store.ts';
import type { Database, Doc, IndexSpec } from '@bubbles/store/collection.ts';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { describe, expect, it } from '@jest/globals';
import { aBubble } from './builders.ts';
import { CONFIG } from './dispatcher.ts';
import { openScene } from './scene.ts';

const BY_ID = { name: '_id', keys: { _id: 1 } } as const;

/** Every query that the stores make, by the paths of its filter and sort, and the index that serves it. */
const SERVED: Readonly<Record<string, string>> = {
  'idempotency_keys: createdAt by createdAt': 'created_at',
  'subscriptions: _id': '_id',
  'subscriptions: _id, ownerId': '_id',
  'subscriptions: _id, ownerId, revision': '_id',
  'subscriptions: _id, epoch': '_id',
  'subscriptions: _id, epoch, streak': '_id',
  'subscriptions: _id, epoch, fails, status': '_id',
  'subscriptions: ownerId': 'owner',
  'subscriptions: teamId': 'team',
  'subscriptions: ownerId by createdAt, _id': 'owner',
  'events: _id': '_id',
  'events: _id, createdAt': '_id',
  'events: createdAt by createdAt': 'made',
  'replays: dueAt by dueAt': 'due_at',
  'replays: _id, leaseToken': '_id',
  'deliveries: claimableAt, status': 'due_v2',
  'deliveries: claimableAt, status by claimableAt': 'due_v2',
  'deliveries: claimableAt, putOff, status by claimableAt': 'due_v2',
  'deliveries: claimableAt, leaseToken, status': 'due_v2',
  'deliveries: claimableAt, status, subscriptionId by claimableAt': 'due_of',
  'deliveries: attempt, claimableAt, status, subscriptionId by claimableAt': 'due_of',
  'deliveries: origin, status, subscriptionId': 'due_of',
  'deliveries: _id, claimableAt, status': '_id',
  'deliveries: _id, leaseToken': '_id',
  'deliveries: _id, subscriptionId': '_id',
  'deliveries: _id, attempt, requeuedBy': '_id',
  'deliveries: _id, createdAt, status': '_id',
  'deliveries: subscriptionId by createdAt, _id': 'log',
  'deliveries: status, subscriptionId by createdAt, _id': 'log_by_status',
  'deliveries: createdAt, status by createdAt': 'made',
  'leases: _id, by': '_id',
  'leases: _id, until': '_id',
  'migrations:  by _id': '_id',
  'migrations: _id': '_id',
  'migrations: _id, finishedAt': '_id',
};

const pathsOf = (value: unknown): string[] =>
  Object.keys(typeof value === 'object' && value !== null ? value : {}).filter((path) => !path.startsWith('$'));

/** Of the updates of one write. */
const filtersOf = (updates: unknown): unknown[][] =>
  Array.isArray(updates) ? updates.map((update: { readonly filter: unknown }) => [update.filter]) : [];

/** The database, the shapes of the queries that were made of it, and its indexes by collection. */
const overheard = () => {
  const shapes = new Set<string>();
  const indexes = new Map<string, readonly IndexSpec[]>([['idempotency_keys', IDEMPOTENCY_INDEXES]]);
  const database = memoryDatabase();
  const hear = (name: string, [filter, ...options]: readonly unknown[]) => {
    const sort = options.flatMap((one) => (typeof one === 'object' && one !== null && 'sort' in one ? pathsOf(one.sort) : []));
    const shape = `${name}: ${pathsOf(filter).toSorted().join(', ')}${sort.length === 0 ? '' : ` by ${sort.join(', ')}`}`;
    shapes.add(shape);
  };
  const listening: Database = {
    ...database,
    collection: <T extends Doc>(name: string) =>
      new Proxy(database.collection<T>(name), {
        get(target, method) {
          const member: unknown = Reflect.get(target, method);
          if (typeof member !== 'function' || method === 'insert' || method === 'insertEach') return member;
          if (method === 'ensureIndexes')
            return (wanted: readonly IndexSpec[], dropped: readonly string[]) => {
              indexes.set(name, wanted);
              return target.ensureIndexes(wanted, dropped);
            };
          return (...args: unknown[]) => {
            for (const one of method === 'updateEach' ? filtersOf(args[0]) : [args]) hear(name, one);
            return member.apply(target, args);
          };
        },
      }),
  };
  return { database: listening, shapes, indexes };
};

describe('the queries of the stores', () => {
  // The store in memory refuses what no index serves.
  it('are known, and each has an index that serves it', async () => {
    const { database, shapes, indexes } = overheard();
    const limits = { ...CONFIG.limits, perSubscription: 1, perOrigin: 3, perProcess: 6, reservedForFirst: 3 };
    const scene = await openScene({ database, config: { limits } });
    await scene.dispatcher.service.releaseLeases();
    const { dispatcher } = scene;
    const slow = await scene.subscriber({}, () => null);
    await dispatcher.subscribe({ url: slow.receiver.url, team_id: 'team' });
    const failing = await scene.subscriber({}, 500);
    const fast = await scene.subscriber({});
    for (const id of ['b1', 'b2', 'b3']) await dispatcher.ready({ bubble: aBubble({ id }) });
    await slow.receiver.reached(2);
    await dispatcher.call('POST', `/${failing.id}/test`);
    await dispatcher.call('PATCH', `/${failing.id}`, { filters: {} });
    const { next_cursor: cursor } = (await dispatcher.call('GET', `/${failing.id}/deliveries?limit=1`)).body;
    await dispatcher.call('GET', `/${failing.id}/deliveries?cursor=${cursor}`);
    await dispatcher.call('GET', `/${failing.id}/deliveries?status=pending`);
    await dispatcher.call('GET');
    const { next_cursor: page } = (await dispatcher.call('GET', '?limit=1')).body;
    await dispatcher.call('GET', `?cursor=${page}`);
    await dispatcher.registry.metrics();
    dispatcher.peers.user('ada', { state: 'disabled' });
    await dispatcher.clock.advance(60_000);
    dispatcher.peers.user('ada');
    dispatcher.peers.setState('identity', 'away');
    await dispatcher.ready({ bubble: aBubble({ id: 'b4' }) });
    dispatcher.peers.setState('identity', 'up');
    await slow.receiver.close();
    await dispatcher.call('PATCH', `/${failing.id}`, { url: fast.receiver.url });
    await dispatcher.pass(10);
    const [delivery] = (await failing.log()).filter(({ status }) => status !== 'pending');
    await dispatcher.call('POST', `/${failing.id}/deliveries/${delivery.id}/redeliver`);
    await dispatcher.call('POST', `/${failing.id}/replay`, { since: '2026-01-01T00:00:00Z' });
    await dispatcher.call('GET', `/${failing.id}/failures`);
    await dispatcher.clock.set(new Date(dispatcher.clock.now().getTime() + 40 * 86_400_000));
    await dispatcher.settle();
    for (const job of dispatcher.service.jobs) await job.run();
    await dispatcher.call('DELETE', `/${failing.id}`);
    await scene.stop();

    expect([...shapes].toSorted()).toEqual(Object.keys(SERVED).toSorted());
    for (const [shape, name] of Object.entries(SERVED)) {
      const [collection = '', asked = ''] = shape.split(': ');
      const known = indexes.get(collection) ?? [];
      const [leading = ''] = Object.keys([BY_ID, ...known].find((index) => index.name === name)?.keys ?? {});
      expect([shape, asked.split(/, | by /)]).toEqual([shape, expect.arrayContaining([leading])]);
    }
  });
});
