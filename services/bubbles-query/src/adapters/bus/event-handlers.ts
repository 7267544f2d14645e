import { type EventHandler, eventHandler } from '@bubbles/bus/bus.ts';
import { AccountChangedV1 } from '@bubbles/contracts/events/account-events.ts';
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
} from '@bubbles/contracts/events/recording-events.ts';
import type { App } from '../../app.ts';
import { toComment, toDetails, toMedia, toNotes, toThread, toTranscript } from './read-events.ts';

export const CONSUMER = 'bubbles-query';

export const eventHandlers = (app: App): readonly EventHandler[] => [
  eventHandler(CONSUMER, BubbleCreatedV1, (data) => app.recordDetails(data.bubble_id, toDetails(data))),
  eventHandler(CONSUMER, BubbleChangedV1, (data) => app.recordDetails(data.bubble_id, toDetails(data))),
  eventHandler(CONSUMER, BubbleRemovedV1, (data) => app.removeBubble(data.bubble_id)),
  eventHandler(CONSUMER, MediaProcessedV1, (data) => app.recordMedia(data.bubble_id, toMedia(data))),
  eventHandler(CONSUMER, TranscriptCompletedV1, (data) => app.recordTranscript(toTranscript(data))),
  eventHandler(CONSUMER, NotesGeneratedV1, (data) => app.recordNotes(data.bubble_id, toNotes(data))),
  eventHandler(CONSUMER, CommentPostedV1, (data) => app.recordComment(toComment(data))),
  eventHandler(CONSUMER, CommentChangedV1, (data) => app.recordComment(toComment(data))),
  eventHandler(CONSUMER, ThreadChangedV1, (data) => app.recordThread(toThread(data))),
  eventHandler(CONSUMER, AccountChangedV1, (data) => app.recordPerson(data)),
];
