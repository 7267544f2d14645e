import type { Collection, IndexSpec } from '@bubbles/store/collection.ts';
import type { Replay } from '../../domain/replay.ts';
import type { ReplayStore } from '../../ports.ts';

/** `_id` is the subscription's: it has at most one. */
export interface ReplayDoc extends Omit<Replay, 'id' | 'subscriptionId'> {
  readonly _id: string;
  readonly replayId: string;
}

export const REPLAY_INDEXES: readonly IndexSpec[] = [{ name: 'due_at', keys: { dueAt: 1 } }];

const toReplay = ({ _id, replayId, ...rest }: ReplayDoc): Replay => ({ id: replayId, subscriptionId: _id, ...rest });

export const replayStore = (collection: Collection<ReplayDoc>): ReplayStore => ({
  insert: ({ id, subscriptionId, ...replay }) => collection.insert({ _id: subscriptionId, replayId: id, ...replay }),
  async ofSubscription(subscriptionId) {
    const doc = await collection.findOne({ _id: subscriptionId });
    return doc && toReplay(doc);
  },
  async claim({ now, leaseUntil, leaseToken }) {
    const lease = { dueAt: leaseUntil, leaseToken };
    const doc = await collection.findOneAndUpdate({ dueAt: { $lte: now } }, { $set: lease }, { sort: { dueAt: 1 } });
    return doc && toReplay(doc);
  },
  async move({ subscriptionId, leaseToken }, to) {
    await collection.updateOne({ _id: subscriptionId, leaseToken }, { $set: { ...to, leaseToken: null } });
  },
  async hasten(subscriptionIds, now) {
    await collection.updateMany({ _id: { $in: [...subscriptionIds] }, leaseToken: null }, { $set: { dueAt: now } });
  },
  async end({ subscriptionId, leaseToken }) {
    await collection.deleteOne({ _id: subscriptionId, leaseToken });
  },
  async nextDue() {
    const [next] = await collection.find({}, { sort: { dueAt: 1 }, limit: 1, projection: { dueAt: 1 } });
    return next?.dueAt ?? null;
  },
});
