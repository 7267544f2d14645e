import type { Filter, IndexSpec } from '@bubbles/store/collection.ts';
import type { OpenCollection } from '@bubbles/store/indexed-collections.ts';
import { type Comment, isShown, type Thread } from '../../domain/comment.ts';
import type { CommentStore } from '../../ports.ts';
import { putUnlessNewer } from './unless-newer.ts';

export interface CommentDoc extends Omit<Comment, 'id'> {
  readonly _id: string;
  /** By itself: neither draft nor archived. */
  readonly shown: boolean;
  /** What its thread says, at the revision of it that was joined last; -1 before any. */
  readonly threadRevision: number;
  readonly threadShown: boolean;
  readonly pinned: boolean;
}
interface ThreadDoc extends Omit<Thread, 'id'> {
  readonly _id: string;
}

const COMMENT_INDEXES: readonly IndexSpec[] = [
  { name: 'shown', keys: { bubbleId: 1, shown: 1, threadShown: 1, createdAt: 1, _id: 1 } },
  { name: 'thread', keys: { threadId: 1, threadRevision: 1 } },
];
const THREAD_INDEXES: readonly IndexSpec[] = [{ name: 'bubble', keys: { bubbleId: 1 } }];

/** Below every revision. */
const NEVER_JOINED = -1;
const APART = { threadRevision: NEVER_JOINED, threadShown: false, pinned: false } as const;
const visible = (bubbleId: string): Filter<CommentDoc> => ({ bubbleId, shown: true, threadShown: true });

export const openComments = (open: OpenCollection): CommentStore => {
  const comments = open<CommentDoc>('comments', COMMENT_INDEXES);
  const threads = open<ThreadDoc>('threads', THREAD_INDEXES);
  return {
    async put({ id, ...facts }) {
      const fields = { ...facts, shown: isShown(facts) };
      const older = { _id: id, revision: { $lt: facts.revision } };
      const stayed = await comments.updateOne({ ...older, threadId: facts.threadId }, { $set: fields });
      if (stayed === 'none') await putUnlessNewer(comments, older, { $set: { ...fields, ...APART } });
    },
    async putThread({ id, ...facts }) {
      await putUnlessNewer(threads, { _id: id, revision: { $lt: facts.revision } }, { $set: facts });
    },
    async join(threadId) {
      const thread = await threads.findOne({ _id: threadId });
      if (thread === null) return;
      const { revision, pinned } = thread;
      await comments.updateMany(
        { threadId, threadRevision: { $lt: revision }, bubbleId: thread.bubbleId },
        { $set: { threadRevision: revision, threadShown: isShown(thread), pinned } },
      );
    },
    async page({ bubbleId, after, limit }) {
      const beyond: Filter<CommentDoc> =
        after === null ? {} : { $or: [{ createdAt: { $gt: after.createdAt } }, { createdAt: after.createdAt, _id: { $gt: after.id } }] };
      const from: Filter<CommentDoc> = after === null ? {} : { createdAt: { $gte: after.createdAt } };
      const docs = await comments.find({ ...visible(bubbleId), ...from, ...beyond }, { sort: { createdAt: 1, _id: 1 }, limit });
      return docs.map(({ _id, shown, threadRevision, threadShown, ...comment }) => ({ id: _id, ...comment }));
    },
    count: (bubbleId) => comments.count(visible(bubbleId)),
    async purge(bubbleId) {
      await comments.deleteMany({ bubbleId });
      await threads.deleteMany({ bubbleId });
    },
  };
};
