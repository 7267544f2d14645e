import type { Collection, Filter, IndexSpec, UpdateFilter } from '@bubbles/store/collection.ts';
import { sweepSlices } from '@bubbles/store/sweep-slices.ts';
import type { Delivery } from '../../domain/delivery.ts';
import type { Candidate, DeliveryStore, LeaseEnd } from '../../ports.ts';
import { afterPosition, NEWEST_FIRST } from './newest-first.ts';

export interface DeliveryDoc extends Omit<Delivery, 'id'> {
  readonly _id: string;
  /** Waits for a service that could not be asked, not for its time. */
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

/** Of a delivery that is sent again and again by hand. */
const MAX_LOG_LINES = 50;
const CANDIDATE = { _id: 1, subscriptionId: 1, ownerId: 1, origin: 1, attempt: 1 } as const;

const toDoc = ({ id, ...delivery }: Delivery): DeliveryDoc => ({ _id: id, putOff: false, ...delivery });
const toDelivery = ({ _id, putOff, ...rest }: DeliveryDoc): Delivery => ({ id: _id, ...rest });

export const deliveryStore = (collection: Collection<DeliveryDoc>): DeliveryStore => ({ ...queueOf(collection), ...logOf(collection) });

type Queue = Pick<
  DeliveryStore,
  'insert' | 'insertEach' | 'due' | 'dueOf' | 'claim' | 'release' | 'redirect' | 'nextDueAfter' | 'releaseLeases' | 'countDue'
>;

const updateOf = (end: LeaseEnd['as']): UpdateFilter<DeliveryDoc> => {
  if (end.kind === 'put off') return { $set: { claimableAt: end.until, leaseToken: null, putOff: true }, $inc: { claims: -1 } };
  if (end.kind === 'cancelled') return { $set: { status: 'cancelled', reason: end.reason, finishedAt: end.at, leaseToken: null } };
  const { line, ...state } = end.recorded;
  return { $set: { ...state, leaseToken: null }, $push: { log: { $each: [line], $slice: -MAX_LOG_LINES } } };
};

function queueOf(collection: Collection<DeliveryDoc>): Queue {
  const candidates = async (filter: Filter<DeliveryDoc>, limit: number): Promise<Candidate[]> => {
    const docs = await collection.find(filter, { sort: { claimableAt: 1 }, limit, projection: CANDIDATE });
    return docs.map(({ _id, subscriptionId, ownerId, origin, attempt }) => ({ id: _id, subscriptionId, ownerId, origin, attempt }));
  };
  return {
    insert: (delivery) => collection.insert(toDoc(delivery)),
    insertEach: (deliveries) => collection.insertEach(deliveries.map(toDoc)),
    due: ({ since, now, firstOnly, not, limit }) =>
      candidates(
        {
          status: 'pending',
          claimableAt: { $gte: since, $lte: now },
          ...(firstOnly && { attempt: 0 }),
          subscriptionId: { $nin: [...not] },
        },
        limit,
      ),
    dueOf: (subscriptionId, { now, firstOnly, limit }) =>
      candidates({ subscriptionId, status: 'pending', claimableAt: { $lte: now }, ...(firstOnly && { attempt: 0 }) }, limit),
    async claim({ now, leaseUntil, leaseToken, ids }) {
      const due: Filter<DeliveryDoc> = { _id: { $in: [...ids] }, status: 'pending', claimableAt: { $lte: now } };
      await collection.updateMany(due, { $set: { claimableAt: leaseUntil, leaseToken, putOff: false }, $inc: { claims: 1 } });
      return (await collection.find({ _id: { $in: [...ids] }, leaseToken })).map(toDelivery);
    },
    release: (ends) =>
      collection.updateEach(ends.map((end) => ({ filter: { _id: end.id, leaseToken: end.leaseToken }, update: updateOf(end.as) }))),
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
    async requeue(id, { at, ...queue }) {
      const pending = {
        ...queue,
        status: 'pending',
        reason: null,
        finishedAt: null,
        claimableAt: at,
        claims: queue.base,
        leaseToken: null,
      } as const;
      const doc = await collection.findOneAndUpdate(
        {
          _id: id,
          attempt: queue.base,
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
