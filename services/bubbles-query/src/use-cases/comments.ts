import type { Comment, Thread } from '../domain/comment.ts';
import type { BubbleStore, CommentStore } from '../ports.ts';

interface Ports {
  readonly bubbles: BubbleStore;
  readonly comments: CommentStore;
}

/** Stores a count only if the comments have not changed since they were counted; a concurrent change counts again. */
const recount =
  ({ bubbles, comments }: Ports) =>
  async (bubbleId: string): Promise<void> => {
    const { commentsVersion, removed } = await bubbles.change(bubbleId, (bubble) =>
      bubble.removed ? null : { state: { ...bubble, commentsVersion: bubble.commentsVersion + 1 }, events: [] },
    );
    if (removed) return comments.purge(bubbleId);
    const commentCount = await comments.count(bubbleId);
    await bubbles.change(bubbleId, (bubble) =>
      bubble.removed || bubble.commentsVersion !== commentsVersion ? null : { state: { ...bubble, commentCount }, events: [] },
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
