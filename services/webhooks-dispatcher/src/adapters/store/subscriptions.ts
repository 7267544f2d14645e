import type { Collection, IndexSpec, UpdateOne } from '@bubbles/store/collection.ts';
import type { OpenCollection } from '@bubbles/store/indexed-collections.ts';
import {
  DISABLED_BY_FAILURES,
  FIRST_LIFE,
  MAX_CONSECUTIVE_FAILURES,
  type Subscription,
  type SubscriptionQuota,
} from '../../domain/subscription.ts';
import type { EndedAttempt, SubscriptionChange, SubscriptionStore } from '../../ports.ts';
import { newestFirst } from './deliveries.ts';

type Renamed = 'id' | 'consecutiveFailures' | 'countedFailureKeys' | 'testedAt' | 'ownerLife';

/** The stored form. Its field names are those of earlier releases, which may run beside this one. */
export interface SubscriptionDoc extends Omit<Subscription, Renamed> {
  readonly _id: string;
  readonly fails: number;
  readonly streak: readonly string[];
  /** Optimistic lock of changes by the owner. Disabling by failures counts it up too, so that a change in progress starts over; other outcomes do not. */
  readonly revision: number;
  /** Its numbered places in the quotas of owner and team, each taken once. Absent from documents that are older than the quotas. */
  readonly places?: readonly string[];
  /** Absent from older documents, as is `ownerLife`. */
  readonly testedAt?: readonly Date[];
  readonly ownerLife?: number;
}

type Placed = Pick<SubscriptionDoc, 'places'>;

/** A place in the quota that none of the others has; null when the quota is used up. */
function freePlace(prefix: string, others: readonly Placed[], limit: number): string | null {
  const taken = new Set(others.flatMap(({ places = [] }) => places));
  const placeless = others.filter(({ places }) => places === undefined).length;
  if (others.length >= limit) return null;
  for (let n = 0; n < limit - placeless; n += 1) if (!taken.has(`${prefix} ${n}`)) return `${prefix} ${n}`;
  return null;
}

/** The latest outcome of each epoch of a subscription: one write for all of a batch. */
const latest = (results: readonly EndedAttempt[]): ReadonlyMap<string, EndedAttempt> => {
  const found = new Map<string, EndedAttempt>();
  for (const result of results) {
    const life = `${result.subscriptionId}#${result.epoch}`;
    if (result.at >= (found.get(life)?.at ?? result.at)) found.set(life, result);
  }
  return found;
};

const success = ({ subscriptionId, epoch, at }: EndedAttempt): UpdateOne<SubscriptionDoc> => ({
  filter: { _id: subscriptionId, epoch },
  update: { $set: { fails: 0, streak: [] }, $max: { lastSuccessAt: at } },
});

const toSubscription = ({
  _id,
  revision,
  places,
  fails,
  streak,
  testedAt = [],
  previousSecret = null,
  ownerLife = FIRST_LIFE,
  ...same
}: SubscriptionDoc): Subscription => ({
  id: _id,
  consecutiveFailures: fails,
  countedFailureKeys: streak,
  testedAt,
  ownerLife,
  previousSecret,
  ...same,
});

const toFields = ({ consecutiveFailures, countedFailureKeys, ...same }: SubscriptionChange): Partial<SubscriptionDoc> => ({
  ...same,
  ...(consecutiveFailures !== undefined && { fails: consecutiveFailures }),
  ...(countedFailureKeys !== undefined && { streak: countedFailureKeys }),
});

function insertWithin(collection: Collection<SubscriptionDoc>): SubscriptionStore['insert'] {
  const freePlaceAmong = async (all: Partial<Pick<SubscriptionDoc, 'ownerId' | 'teamId'>>, prefix: string, limit: number) =>
    freePlace(prefix, await collection.find(all, { projection: { places: 1 } }), limit);
  const placesFor = async ({ ownerId, teamId }: Subscription, { perUser, perTeam }: SubscriptionQuota) => {
    const user = await freePlaceAmong({ ownerId }, `user ${ownerId}`, perUser);
    if (user === null) return 'user_full';
    if (teamId === null) return [user];
    const team = await freePlaceAmong({ teamId }, `team ${teamId}`, perTeam);
    return team === null ? 'team_full' : [user, team];
  };
  return async (subscription, quota) => {
    const { id, consecutiveFailures, countedFailureKeys, ...same } = subscription;
    for (;;) {
      const places = await placesFor(subscription, quota);
      if (!Array.isArray(places)) return places;
      if (await collection.insert({ _id: id, revision: 1, places, fails: consecutiveFailures, streak: countedFailureKeys, ...same }))
        return 'inserted';
      // Another insert took the place meanwhile: there may be another one.
      if ((await collection.findOne({ _id: id })) !== null) return 'id_taken';
    }
  };
}

const INDEXES: readonly IndexSpec[] = [
  { name: 'owner', keys: { ownerId: 1, createdAt: -1, _id: -1 } },
  { name: 'team', keys: { teamId: 1 } },
  { name: 'places', keys: { places: 1 }, unique: true, sparse: true },
];

export function openSubscriptions(open: OpenCollection): SubscriptionStore {
  const collection = open<SubscriptionDoc>('subscriptions', INDEXES);
  const found = (doc: SubscriptionDoc | null) => doc && toSubscription(doc);
  return {
    insert: insertWithin(collection),
    async byIds(ids) {
      const docs = await collection.find({ _id: { $in: [...ids] } });
      return new Map(docs.map((doc) => [doc._id, toSubscription(doc)]));
    },
    any: async () => found(await collection.findOne({ ownerId: { $gt: '' } })),
    ownedBy: async (ownerId, id) => found(await collection.findOne({ _id: id, ownerId })),
    async listOf(ownerId, { position, limit }) {
      const some = limit === null ? {} : { limit };
      const { filter, sort } = newestFirst(position);
      return (await collection.find({ ownerId, ...filter }, { sort, ...some })).map(toSubscription);
    },
    ofOwners: async (ownerIds) => (await collection.find({ ownerId: { $in: [...ownerIds] } })).map(toSubscription),
    async update(ownerId, id, change) {
      for (;;) {
        const before = await collection.findOne({ _id: id, ownerId });
        if (before === null) return null;
        const fields = toFields(change(toSubscription(before)));
        if (Object.keys(fields).length === 0) return toSubscription(before);
        const after = await collection.findOneAndUpdate(
          { _id: id, ownerId, revision: before.revision },
          { $set: fields, $inc: { revision: 1 } },
        );
        if (after !== null) return toSubscription(after);
      }
    },
    async deleteOfEarlierLives(ownerId, life) {
      await collection.deleteMany({ ownerId, ownerLife: { $lt: life } });
      await collection.deleteMany({ ownerId, ownerLife: { $exists: false } });
    },
    delete: async (ownerId, id) => (await collection.deleteOne({ _id: id, ownerId })) > 0,
    async succeeded(results) {
      await collection.updateEach([...latest(results).values()].map(success));
    },
    async failed({ subscriptionId, epoch, at, key }) {
      await collection.updateOne(
        { _id: subscriptionId, epoch, streak: { $ne: key } },
        { $inc: { fails: 1 }, $push: { streak: { $each: [key], $slice: -MAX_CONSECUTIVE_FAILURES } }, $max: { lastFailureAt: at } },
      );
      // Also when this failure was counted before: that repairs a crash between the two writes, since the attempt is reported again.
      const disabled = await collection.updateOne(
        { _id: subscriptionId, epoch, status: 'active', fails: { $gte: MAX_CONSECUTIVE_FAILURES } },
        { $set: { status: 'disabled', disabledAt: at, disabledReason: DISABLED_BY_FAILURES }, $inc: { revision: 1 } },
      );
      return disabled === 'updated';
    },
  };
}
