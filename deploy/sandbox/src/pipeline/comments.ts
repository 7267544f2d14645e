import { outgoing } from '@bubbles/bus/outgoing.ts';
import { CommentPostedV1, ThreadChangedV1 } from '@bubbles/contracts/events/recording-events.ts';
import type { Clock } from '@bubbles/kernel/clock.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import type { AggregateStore } from '@bubbles/store/aggregates.ts';
import type { NewComment } from './fields.ts';
import type { People } from './people.ts';

export interface PipelineThread {
  readonly id: string;
  readonly bubbleId: string;
  readonly draft: boolean;
  readonly archived: boolean;
  readonly pinned: boolean;
  readonly revision: number;
}
/** A comment never changes after it was posted; the document exists for its outbox. */
export interface PipelineComment {
  readonly id: string;
  readonly bubbleId: string;
}

interface Ports {
  readonly threads: AggregateStore<PipelineThread>;
  readonly comments: AggregateStore<PipelineComment>;
  readonly people: People;
  readonly clock: Clock;
  readonly ids: Ids;
}

const threadChanged = ({ id, bubbleId, ...facts }: PipelineThread) =>
  outgoing(ThreadChangedV1, { thread_id: id, bubble_id: bubbleId, ...facts });

export type Comments = ReturnType<typeof comments>;

export function comments({ threads, comments, people, clock, ids }: Ports) {
  const open = async (bubbleId: string, body: NewComment): Promise<string> => {
    const { thread_draft: draft = false, thread_archived: archived = false, pinned = false } = body;
    const thread = { id: ids.uuid(), bubbleId, draft, archived, pinned, revision: 1 };
    await threads.insert(thread, [threadChanged(thread)]);
    return thread.id;
  };

  /** Changes the thread where the call says so. */
  const join = async (bubbleId: string, threadId: string, body: NewComment): Promise<string> => {
    const thread = await threads.update(threadId, (before) => {
      const { thread_draft: draft = before.draft, thread_archived: archived = before.archived, pinned = before.pinned } = body;
      if (before.bubbleId !== bubbleId || (draft === before.draft && archived === before.archived && pinned === before.pinned)) return null;
      const after = { ...before, draft, archived, pinned, revision: before.revision + 1 };
      return { state: after, events: [threadChanged(after)] };
    });
    if (thread?.bubbleId !== bubbleId) throw new DomainError('invalid', 'thread_id: no such thread of this bubble.');
    return thread.id;
  };

  return {
    async post(bubbleId: string, body: NewComment): Promise<{ readonly id: string; readonly threadId: string }> {
      const author = await people.commenter(body.author_id);
      const threadId = body.thread_id === undefined ? await open(bubbleId, body) : await join(bubbleId, body.thread_id, body);
      const id = ids.uuid();
      const { kind, video_url, image_url, timestamp_seconds, draft, archived } = body;
      const text = kind === 'text' ? (body.body === undefined ? 'Looks good to me.' : body.body) : null;
      const created_at = body.created_at ?? clock.now().toISOString();
      const facts = { kind, body: text, video_url, image_url, timestamp_seconds, draft, archived, created_at, author };
      const event = outgoing(CommentPostedV1, { comment_id: id, thread_id: threadId, bubble_id: bubbleId, revision: 1, ...facts });
      await comments.insert({ id, bubbleId }, [event]);
      return { id, threadId };
    },
  };
}
