import type { Collection, Filter, IndexSpec, UpdateFilter } from '@bubbles/store/collection.ts';
import { sweepSlices } from '@bubbles/store/sweep-slices.ts';
import type { AttemptRecord, Delivery } from '../../domain/delivery.ts';
import type { DeliveryStore, DueDelivery, LeaseRelease } from '../../ports.ts';
import { afterPosition, NEWEST_FIRST } from './newest-first.ts';

type Renamed = 'id' | 'attemptCount' | 'attemptsBeforeQueue' | 'maxAttempts' | 'claimCount' | 'log';
type StoredRecord = Omit<AttemptRecord, 'number'> & { readonly n: number };

/** Under the names of the releases that may run beside this one. */
export interface DeliveryDoc extends Omit<Delivery, Renamed> {
  readonly _id: string;
  readonly attempt: number;
  readonly base: number;
  readonly budget: number;
  readonly claims: number;
  readonly log: readonly StoredRecord[];
  /** It is postponed: it waits for a service that could not be asked, not for its time. */
  readonly putOff: boolean;
}

export const DELIVERY_INDEXES: readonly IndexSpec[] = [
  { name: 'once', keys: { subscriptionId: 1, eventId: 1 }, unique: true },
  { name: 'due_v2', keys: { status: 1, claimableAt: 1, subscriptionId: 1, attempt: 1 } },
  { name: 'due_of', keys: { subscriptionId: 1, status: 1, claimableAt: 1, attempt: 1 } },
  { name: 'log', keys: { subscriptionId: 1, createdAt: -1, _id: -1 } },
  { name: 'log_by_status', keys: { subscriptionId: 1, status: 1, createdAt: -1, _id: -1 } },
  { name: 'made', keys: { createdAt: 1 } },
];
export const DROPPED_DELIVERY_INDEXES: readonly string[] = ['due', 'first_due'];

/** A delivery can be sent again by hand without end. */
const MAX_LOG_RECORDS = 50;
const DUE_FIELDS = { _id: 1, subscriptionId: 1, ownerId: 1, origin: 1, attempt: 1 } as const;

const toRecord = ({ n, ...record }: StoredRecord): AttemptRecord => ({ number: n, ...record });
const toStoredRecord = ({ number, ...record }: AttemptRecord): StoredRecord => ({ n: number, ...record });

const toDoc = ({ id, attemptCount, attemptsBeforeQueue, maxAttempts, claimCount, log, ...same }: Delivery): DeliveryDoc => ({
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

export const deliveryStore = (collection: Collection<DeliveryDoc>): DeliveryStore => ({ ...queueOf(collection), ...logOf(collection) });

type Queue = Pick<
  DeliveryStore,
  'insert' | 'insertEach' | 'due' | 'dueOf' | 'claim' | 'release' | 'redirect' | 'nextDueAfter' | 'releaseLeases' | 'countDue'
>;

const releaseUpdate = ({ as }: LeaseRelease): UpdateFilter<DeliveryDoc> => {
  if (as.kind === 'postponed') return { $set: { claimableAt: as.until, leaseToken: null, putOff: true }, $inc: { claims: -1 } };
  if (as.kind === 'cancelled') return { $set: { status: 'cancelled', reason: as.reason, finishedAt: as.at, leaseToken: null } };
  const { status, attemptCount, claimCount, claimableAt, finishedAt, log } = as.delivery;
  return {
    $set: { status, attempt: attemptCount, claims: claimCount, claimableAt, finishedAt, leaseToken: null },
    $push: { log: { $each: log.slice(-1).map(toStoredRecord), $slice: -MAX_LOG_RECORDS } },
  };
};

function queueOf(collection: Collection<DeliveryDoc>): Queue {
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
  return {
    insert: (delivery) => collection.insert(toDoc(delivery)),
    insertEach: (deliveries) => collection.insertEach(deliveries.map(toDoc)),
    due: ({ since, now, firstOnly, not, limit }) =>
      dueBy(
        {
          status: 'pending',
          claimableAt: { $gte: since, $lte: now },
          ...(firstOnly && { attempt: 0 }),
          subscriptionId: { $nin: [...not] },
        },
        limit,
      ),
    dueOf: (subscriptionId, { now, firstOnly, limit }) =>
      dueBy({ subscriptionId, status: 'pending', claimableAt: { $lte: now }, ...(firstOnly && { attempt: 0 }) }, limit),
    async claim({ now, leaseUntil, leaseToken, ids }) {
      const due: Filter<DeliveryDoc> = { _id: { $in: [...ids] }, status: 'pending', claimableAt: { $lte: now } };
      await collection.updateMany(due, { $set: { claimableAt: leaseUntil, leaseToken, putOff: false }, $inc: { claims: 1 } });
      return (await collection.find({ _id: { $in: [...ids] }, leaseToken })).map(toDelivery);
    },
    release: (releases) =>
      collection.updateEach(
        releases.map((release) => ({ filter: { _id: release.id, leaseToken: release.leaseToken }, update: releaseUpdate(release) })),
      ),
    async redirect(subscriptionId, origin) {
      await collection.updateMany({ subscriptionId, status: 'pending', origin: { $ne: origin } }, { $set: { origin } });
    },
    async nextDueAfter(now) {
      const next = await collection.findOne(
        { status: 'pending', claimableAt: { $gt: now }, putOff: false },
        { sort: { claimableAt: 1 }, projection: { claimableAt: 1 } },
      );
      return next?.claimableAt ?? null;
    },
    async releaseLeases(now) {
      await collection.updateMany(
        { status: 'pending', claimableAt: { $gt: now }, leaseToken: { $ne: null } },
        { $set: { claimableAt: now, leaseToken: null } },
      );
    },
    async countDue(now) {
      const filter: Filter<DeliveryDoc> = { status: 'pending', claimableAt: { $lte: now } };
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
      const docs = await collection.find(
        { subscriptionId, ...(status === null ? {} : { status }), ...afterPosition(position) },
        { sort: NEWEST_FIRST, limit },
      );
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
    sweep: (before) => sweepSlices(collection, { createdAt: { $lt: before }, status: { $ne: 'pending' } }),
  };
}
