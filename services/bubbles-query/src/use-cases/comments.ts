import type { Comment, Thread } from '../domain/comment.ts';
import type { BubbleStore, CommentStore } from '../ports.ts';

interface Ports {
  readonly bubbles: BubbleStore;
  readonly comments: CommentStore;
}

/** The count of an epoch is stored only while that epoch lasts: whoever changed comments meanwhile counts them all. */
const recount =
  ({ bubbles, comments }: Ports) =>
  async (bubbleId: string): Promise<void> => {
    const { commentsEpoch, removed } = await bubbles.change(bubbleId, (bubble) =>
      bubble.removed ? null : { state: { ...bubble, commentsEpoch: bubble.commentsEpoch + 1 }, events: [] },
    );
    if (removed) return comments.purge(bubbleId);
    const commentCount = await comments.count(bubbleId);
    await bubbles.change(bubbleId, (bubble) =>
      bubble.removed || bubble.commentsEpoch !== commentsEpoch ? null : { state: { ...bubble, commentCount }, events: [] },
    );
  };

/** A delivery that changes nothing joins and counts too: the one before it may have been cut short. */
export const recordComment = (ports: Ports) => {
  const count = recount(ports);
  return async (comment: Comment): Promise<void> => {
    await ports.comments.put(comment);
    await ports.comments.join(comment.threadId);
    await count(comment.bubbleId);
  };
};

export const recordThread = (ports: Ports) => {
  const count = recount(ports);
  return async (thread: Thread): Promise<void> => {
    await ports.comments.putThread(thread);
    await ports.comments.join(thread.id);
    await count(thread.bubbleId);
  };
};
