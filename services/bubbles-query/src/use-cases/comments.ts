import type { Comment, Thread } from '../domain/comment.ts';
import type { BubbleStore, CommentStore } from '../ports.ts';
import { recount } from './record.ts';

interface Ports {
  readonly bubbles: BubbleStore;
  readonly comments: CommentStore;
}

/** Also a delivery that changes nothing joins and counts: the one before it may have been cut short. */
export const recordComment = ({ bubbles, comments }: Ports) => {
  const count = recount({ bubbles, comments });
  return async (comment: Comment): Promise<void> => {
    await comments.put(comment);
    await comments.join(comment.threadId);
    await count(comment.bubbleId);
  };
};

export const recordThread = ({ bubbles, comments }: Ports) => {
  const count = recount({ bubbles, comments });
  return async (thread: Thread): Promise<void> => {
    await comments.putThread(thread);
    await comments.join(thread.id);
    await count(thread.bubbleId);
  };
};
