import type { Infra } from '@bubbles/host/service.ts';
import { aggregateStore } from '@bubbles/store/aggregates.ts';
import type { Bubble } from '../../domain/bubble.ts';
import { BUBBLE_INDEXES, type BubbleDoc, bubbleStore, DROPPED_BUBBLE_INDEXES } from './bubbles.ts';
import { CARD_INDEXES, type CardDoc, cardStore } from './cards.ts';
import { COMMENT_INDEXES, type CommentDoc, commentStore, THREAD_INDEXES, type ThreadDoc } from './comments.ts';
import { type FillDoc, fillStore } from './fills.ts';
import { PERSON_INDEXES, type PersonDoc, peopleStore } from './people.ts';
import { TRANSCRIPT_PART_INDEXES, type TranscriptDoc, type TranscriptPartDoc, transcriptStore } from './transcripts.ts';

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
  const people = database.collection<PersonDoc>('people');
  const transcriptParts = database.collection<TranscriptPartDoc>('transcript_parts');
  const cards = database.collection<CardDoc>('bubble_cards');
  return {
    bubbles: bubbleStore(aggregateStore<Bubble>(bubbles, aggregate), bubbles),
    transcripts: transcriptStore(database.collection<TranscriptDoc>('transcripts'), transcriptParts),
    comments: commentStore(comments, threads),
    people: peopleStore(people),
    cards: cardStore(cards),
    fills: fillStore(database.collection<FillDoc>('fills')),
    /** Those whose documents carry events. */
    relayed: [bubbles],
    async ensureIndexes() {
      await Promise.all([
        bubbles.ensureIndexes(BUBBLE_INDEXES, DROPPED_BUBBLE_INDEXES),
        comments.ensureIndexes(COMMENT_INDEXES),
        threads.ensureIndexes(THREAD_INDEXES),
        people.ensureIndexes(PERSON_INDEXES),
        transcriptParts.ensureIndexes(TRANSCRIPT_PART_INDEXES),
        cards.ensureIndexes(CARD_INDEXES),
      ]);
    },
  };
};
export type Stores = ReturnType<typeof openStores>;
