import type { Infra } from '@bubbles/shared/service.ts';
import { aggregateStore } from '@bubbles/shared/store/aggregates.ts';
import type { Bubble } from '../../domain/bubble.ts';
import { BUBBLE_INDEXES, type BubbleDoc, bubbleStore } from './bubbles.ts';
import { COMMENT_INDEXES, type CommentDoc, commentStore, THREAD_INDEXES, type ThreadDoc } from './comments.ts';
import { type PersonDoc, peopleStore } from './people.ts';
import { type TranscriptDoc, transcriptStore } from './transcripts.ts';

export interface StoreOptions extends Pick<Infra, 'database' | 'clock' | 'ids'> {
  /** The name under which events are published. */
  readonly source: string;
  /** There may be events to relay. */
  readonly onCommit: () => void;
}

/** Everything that bubbles-query keeps. */
export const openStores = ({ database, ...aggregate }: StoreOptions) => {
  const bubbles = database.collection<BubbleDoc>('bubbles');
  const comments = database.collection<CommentDoc>('comments');
  const threads = database.collection<ThreadDoc>('threads');
  return {
    bubbles: bubbleStore(aggregateStore<Bubble>(bubbles, aggregate), bubbles),
    transcripts: transcriptStore(database.collection<TranscriptDoc>('transcripts')),
    comments: commentStore(comments, threads),
    people: peopleStore(database.collection<PersonDoc>('people')),
    /** Those whose documents carry events. */
    relayed: [bubbles],
    async ensureIndexes() {
      await Promise.all([
        bubbles.ensureIndexes(BUBBLE_INDEXES),
        comments.ensureIndexes(COMMENT_INDEXES),
        threads.ensureIndexes(THREAD_INDEXES),
      ]);
    },
  };
};
