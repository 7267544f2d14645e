import { AccountChangedV1 } from './account-events.ts';
import { BubbleReadyV1 } from './bubble-events.ts';
import {
  BubbleChangedV1,
  BubbleCreatedV1,
  BubbleRemovedV1,
  CommentChangedV1,
  CommentPostedV1,
  MediaProcessedV1,
  NotesGeneratedV1,
  ThreadChangedV1,
  TranscriptCompletedV1,
} from './recording-events.ts';

/** Every event between services: what the topology declares and the document lists. */
export const EVENTS = [
  AccountChangedV1,
  BubbleCreatedV1,
  BubbleChangedV1,
  BubbleRemovedV1,
  MediaProcessedV1,
  TranscriptCompletedV1,
  NotesGeneratedV1,
  CommentPostedV1,
  CommentChangedV1,
  ThreadChangedV1,
  BubbleReadyV1,
];

/** What a publisher's outboxes may hold. */
export const publishedBy = (publisher: string) => EVENTS.filter((event) => event.publisher === publisher);
