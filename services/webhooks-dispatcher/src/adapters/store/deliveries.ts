import type { CreatedPosition } from '@bubbles/kernel/cursors.ts';
import { type Collection, type Filter, type IndexSpec, sweepSlices } from '@bubbles/store/collection.ts';
import type { OpenCollection } from '@bubbles/store/indexed-collections.ts';
import type { Migration } from '@bubbles/store/migration-step.ts';
import { createWorkQueue, type LeaseEnd } from '@bubbles/store/work/work-queue.ts';
import type { AttemptRecord, Delivery } from '../../domain/delivery.ts';
import type { DeliveryStore, DueDelivery, LeaseRelease } from '../../ports.ts';

type Renamed = 'id' | 'attemptCount' | 'attemptsBeforeQueue' | 'maxAttempts' | 'claimCount' | 'log';
type StoredRecord = Omit<AttemptRecord, 'number'> & { readonly n: number };

/** The stored form. Its field names are those of earlier releases, which may run beside this one. */
export interface DeliveryDoc extends Omit<Delivery, Renamed> {
  readonly _id: string;
  readonly attempt: number;
  readonly base: number;
  readonly budget: number;
  readonly claims: number;
  readonly log: readonly StoredRecord[];
  /** Whether it is postponed: it waits for a service that could not be asked. */
  readonly putOff: boolean;
}

/** The filter of rows that come after `position`, and their order. */
export const newestFirst = (position: CreatedPosition | null) => ({
  filter:
    position === null
      ? {}
      : { $or: [{ createdAt: { $lt: position.createdAt } }, { createdAt: position.createdAt, _id: { $lt: position.id } }] },
  sort: { createdAt: -1, _id: -1 } as const,
});

/** A delivery can be sent again by hand any number of times. */
const MAX_LOG_RECORDS = 50;
const DUE_FIELDS = { _id: 1, subscriptionId: 1, ownerId: 1, origin: 1, attempt: 1 } as const;

const toRecord = ({ n, ...record }: StoredRecord): AttemptRecord => ({ number: n, ...record });
const toStoredRecord = ({ number, ...record }: AttemptRecord): StoredRecord => ({ n: number, ...record });

const documentOf = ({ id, attemptCount, attemptsBeforeQueue, maxAttempts, claimCount, log, ...same }: Delivery): DeliveryDoc => ({
  _id: id,
  attempt: attemptCount,
  base: attemptsBeforeQueue,
  budget: maxAttempts,
  claims: claimCount,
  log: log.map(toStoredRecord),
  putOff: false,
  ...same,
});
const toDelivery = ({ _id, putOff, attempt, base, budget, claims, log, ...same }: DeliveryDoc): Delivery => ({
  id: _id,
  attemptCount: attempt,
  attemptsBeforeQueue: base,
  maxAttempts: budget,
  claimCount: claims,
  log: log.map(toRecord),
  ...same,
});

const INDEXES: readonly IndexSpec[] = [
  { name: 'once', keys: { subscriptionId: 1, eventId: 1 }, unique: true },
  { name: 'due_v2', keys: { status: 1, claimableAt: 1, subscriptionId: 1, attempt: 1 } },
  { name: 'due_of', keys: { subscriptionId: 1, status: 1, claimableAt: 1, attempt: 1 } },
  { name: 'log', keys: { subscriptionId: 1, createdAt: -1, _id: -1 } },
  { name: 'log_by_status', keys: { subscriptionId: 1, status: 1, createdAt: -1, _id: -1 } },
  { name: 'made', keys: { createdAt: 1 } },
];
const DROPPED_INDEXES = ['due', 'first_due'];

/** The migration job builds these indexes, not the start of a process, because the collection may hold millions of deliveries. */
export const MIGRATIONS: readonly Migration[] = [
  // Older databases have the same index under the name `due`, which serves as well.
  { number: 1, name: 'index_deliveries', phase: 'expand', collection: 'deliveries', indexes: INDEXES, dropped: ['due'] },
  // Queries of the previous release use this index.
  { number: 2, name: 'drop_first_due', phase: 'contract', collection: 'deliveries', indexes: INDEXES, dropped: DROPPED_INDEXES },
];

export const openDeliveries = (open: OpenCollection): DeliveryStore => {
  const collection = open<DeliveryDoc>('deliveries', INDEXES, DROPPED_INDEXES);
  return { ...queueOf(collection), ...logOf(collection) };
};

const leaseEnd = ({ id, leaseToken: token, as }: LeaseRelease): LeaseEnd<DeliveryDoc> => {
  if (as.kind === 'postponed') return { id, token, claimableAt: as.until, update: { $set: { putOff: true }, $inc: { claims: -1 } } };
  if (as.kind === 'cancelled') return { id, token, update: { $set: { status: 'cancelled', reason: as.reason, finishedAt: as.at } } };
  const { status, attemptCount, claimCount, claimableAt, finishedAt, log } = as.delivery;
  const update = {
    $set: { status, attempt: attemptCount, claims: claimCount, finishedAt },
    $push: { log: { $each: log.slice(-1).map(toStoredRecord), $slice: -MAX_LOG_RECORDS } },
  };
  return { id, token, claimableAt, update };
};

function queueOf(collection: Collection<DeliveryDoc>): Omit<DeliveryStore, 'page' | 'ofSubscription' | 'requeue' | 'sweep'> {
  const queue = createWorkQueue({
    collection,
    fields: { claimableAt: 'claimableAt', leaseToken: 'leaseToken' },
    pending: { status: 'pending' },
    onClaim: { $set: { putOff: false }, $inc: { claims: 1 } },
  });
  const dueBy = async (filter: Filter<DeliveryDoc>, limit: number): Promise<DueDelivery[]> => {
    const docs = await collection.find(filter, { sort: { claimableAt: 1 }, limit, projection: DUE_FIELDS });
    return docs.map(({ _id, subscriptionId, ownerId, origin, attempt }) => ({
      id: _id,
      subscriptionId,
      ownerId,
      origin,
      attemptCount: attempt,
    }));
  };
  const firstAlone = (firstOnly: boolean) => (firstOnly ? { attempt: 0 } : {});
  return {
    insert: (delivery) => collection.insert(documentOf(delivery)),
    insertEach: (deliveries) => collection.insertEach(deliveries.map(documentOf)),
    due: ({ since, now, firstOnly, not, limit }) =>
      dueBy(
        {
          status: 'pending',
          claimableAt: { $gte: since, $lte: now },
          ...firstAlone(firstOnly),
          subscriptionId: { $nin: [...not] },
        },
        limit,
      ),
    dueOf: (subscriptionId, { now, firstOnly, limit }) =>
      dueBy({ subscriptionId, ...queue.claimable(now), ...firstAlone(firstOnly) }, limit),
    claim: async (now, lease, ids) => (await queue.claimEach(now, lease, ids)).map(toDelivery),
    release: (releases) => queue.endEach(releases.map(leaseEnd)),
    async redirect(subscriptionId, origin) {
      await collection.updateMany({ subscriptionId, status: 'pending', origin: { $ne: origin } }, { $set: { origin } });
    },
    nextDueAfter: (now) => queue.nextAfter(now, { putOff: false }),
    releaseLeases: queue.releaseAll,
    async countDue(now) {
      const filter = queue.claimable(now);
      const [due, oldest] = await Promise.all([
        collection.count(filter),
        collection.findOne(filter, { sort: { claimableAt: 1 }, projection: { claimableAt: 1 } }),
      ]);
      return { due, oldest: oldest?.claimableAt ?? null };
    },
  };
}

function logOf(collection: Collection<DeliveryDoc>): Pick<DeliveryStore, 'page' | 'ofSubscription' | 'requeue' | 'sweep'> {
  return {
    async page({ subscriptionId, status, position, limit }) {
      const { filter, sort } = newestFirst(position);
      const docs = await collection.find({ subscriptionId, ...(status === null ? {} : { status }), ...filter }, { sort, limit });
      return docs.map(toDelivery);
    },
    async ofSubscription(subscriptionId, id) {
      const doc = await collection.findOne({ _id: id, subscriptionId });
      return doc && toDelivery(doc);
    },
    async requeue(id, { at, attemptsBeforeQueue, maxAttempts, ...queue }) {
      const pending = {
        ...queue,
        base: attemptsBeforeQueue,
        budget: maxAttempts,
        status: 'pending',
        reason: null,
        finishedAt: null,
        claimableAt: at,
        claims: attemptsBeforeQueue,
        leaseToken: null,
      } as const;
      const doc = await collection.findOneAndUpdate(
        {
          _id: id,
          attempt: attemptsBeforeQueue,
          requeuedBy: { $ne: queue.requeuedBy },
          $or: [
            { status: { $ne: 'pending' } },
            { epoch: { $ne: queue.epoch }, leaseToken: null },
            { epoch: { $ne: queue.epoch }, claimableAt: { $lte: at } },
          ],
        },
        { $set: pending },
      );
      return doc && toDelivery(doc);
    },
    sweep: (before) => sweepSlices(collection, { createdAt: { $lt: before }, status: { $ne: 'pending' } }, 'createdAt'),
  };
}
