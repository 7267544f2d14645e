import type { OpenCollection } from '@bubbles/store/indexed-collections.ts';
import { createWorkQueue } from '@bubbles/store/work/work-queue.ts';
import type { Replay } from '../../domain/replay.ts';
import type { ReplayStore } from '../../ports.ts';

/** `_id` is the id of the subscription, which has at most one replay. */
export interface ReplayDoc extends Omit<Replay, 'id' | 'subscriptionId'> {
  readonly _id: string;
  readonly replayId: string;
}

const toReplay = ({ _id, replayId, ...rest }: ReplayDoc): Replay => ({ id: replayId, subscriptionId: _id, ...rest });

export const openReplays = (open: OpenCollection): ReplayStore => {
  const collection = open<ReplayDoc>('replays', [{ name: 'due_at', keys: { dueAt: 1 } }]);
  const queue = createWorkQueue({ collection, fields: { claimableAt: 'dueAt', leaseToken: 'leaseToken' } });
  const found = (doc: ReplayDoc | null) => doc && toReplay(doc);
  return {
    insert: ({ id, subscriptionId, ...replay }) => collection.insert({ _id: subscriptionId, replayId: id, ...replay }),
    ofSubscription: async (subscriptionId) => found(await collection.findOne({ _id: subscriptionId })),
    claim: async (now, lease) => found(await queue.claimNext(now, lease)),
    async move({ subscriptionId, leaseToken }, { position, dueAt }) {
      await queue.end({ id: subscriptionId, token: leaseToken ?? '', claimableAt: dueAt, update: { $set: { position } } });
    },
    async hasten(subscriptionIds, now) {
      await collection.updateMany({ _id: { $in: [...subscriptionIds] }, leaseToken: null }, { $set: { dueAt: now } });
    },
    async end({ subscriptionId, leaseToken }) {
      await queue.remove(subscriptionId, leaseToken ?? '');
    },
    nextDue: () => queue.nextAfter(new Date(0)),
  };
};
