import { type EventHandler, eventHandler } from '@bubbles/bus/bus.ts';
import { RecordingCapturedV1 } from '@bubbles/contracts/events/meeting-events.ts';
import {
  BubbleChangedV1,
  BubbleCreatedV1,
  BubbleRemovedV1,
  CommentChangedV1,
  CommentPostedV1,
  MediaProcessedV1,
  NotesGeneratedV1,
  type RecordedBubble,
  ThreadChangedV1,
  TranscriptCompletedV1,
} from '@bubbles/contracts/events/recording-events.ts';
import { AccountChangedV1 } from '@bubbles/contracts/events/service-events.ts';
import { z } from 'zod';
import type { App } from '../../app.ts';
import type { Details, Media, Notes } from '../../domain/bubble.ts';
import type { Comment, Thread } from '../../domain/comment.ts';
import type { Person } from '../../domain/person.ts';
import type { Transcript } from '../../domain/transcript.ts';
import type { CapturedRecording } from '../../use-cases/record.ts';

const RemovedBubble = z.object({ bubble_id: z.uuid().toLowerCase() });
const ChangedAccount = z.object({
  user_id: z.string(),
  name: z.string().nullable(),
  email: z.string().nullable(),
  revision: z.int().positive(),
});

type Data<E extends { readonly schema: z.ZodType }> = z.infer<E['schema']>;

const dateOrNull = (text: string | null): Date | null => (text === null ? null : new Date(text));
const toPerson = ({ user_id, name, email, is_external }: RecordedBubble['participants'][number]): Person => ({
  userId: user_id,
  name,
  email,
  isExternal: is_external,
});

const toDetails = (data: RecordedBubble): Details => ({
  revision: data.revision,
  type: data.type,
  title: data.title,
  teamId: data.team_id,
  channelId: data.channel_id,
  channelName: data.channel_name,
  createdAt: dateOrNull(data.created_at),
  author: data.author && toPerson(data.author),
  creatorId: data.creator_id,
  participants: data.participants.map(toPerson),
  isPublic: data.is_public,
  archived: data.archived,
  draft: data.draft,
  template: data.template,
  hasMedia: data.has_media,
  expiresAt: dateOrNull(data.expires_at),
  responseRequired: data.response_required,
  embedCode: data.embed_code,
  meeting: data.meeting && { platform: data.meeting.platform, startTime: dateOrNull(data.meeting.start_time) },
});

const toMedia = (data: Data<typeof MediaProcessedV1>): Media => ({
  revision: data.revision,
  isProcessed: data.is_processed,
  hasAudio: data.has_audio,
  videoUrl: data.video_url,
  thumbnailUrl: data.thumbnail_url,
  screenshotUrl: data.screenshot_url,
  durationSeconds: data.duration_seconds,
});

const toNotes = ({ revision, summary, action_items }: Data<typeof NotesGeneratedV1>): Notes => ({
  revision,
  summary,
  actionItems: action_items,
});

const toTranscript = ({ bubble_id, revision, segments }: Data<typeof TranscriptCompletedV1>): Transcript => ({
  bubbleId: bubble_id,
  revision,
  segments: segments.map(({ speaker, text, start_time_seconds, end_time_seconds }) => ({
    speaker,
    text,
    startTimeSeconds: start_time_seconds,
    endTimeSeconds: end_time_seconds,
  })),
});

/** Whatever the recording pipeline says of the same bubble is newer. */
const CAPTURED = 0;

const toCaptured = (data: Data<typeof RecordingCapturedV1>): CapturedRecording => ({
  details: {
    revision: CAPTURED,
    type: 'meeting_recording',
    title: data.title,
    teamId: data.team_id,
    channelId: null,
    channelName: null,
    createdAt: new Date(data.created_at),
    author: toPerson(data.author),
    creatorId: data.author.user_id,
    participants: data.participants.map(toPerson),
    isPublic: false,
    archived: false,
    draft: false,
    template: false,
    hasMedia: true,
    expiresAt: null,
    responseRequired: false,
    embedCode: null,
    meeting: { platform: data.platform, startTime: dateOrNull(data.started_at) },
  },
  media: {
    revision: CAPTURED,
    isProcessed: true,
    hasAudio: data.has_audio,
    videoUrl: data.video_url,
    thumbnailUrl: null,
    screenshotUrl: null,
    durationSeconds: data.duration_seconds,
  },
  transcript: data.segments && toTranscript({ bubble_id: data.bubble_id, revision: CAPTURED, segments: data.segments }),
});

/** Ids in the form that every store keeps: halves of surrogate pairs replaced. */
const toComment = (data: Data<typeof CommentPostedV1>): Comment => ({
  id: data.comment_id.toWellFormed(),
  revision: data.revision,
  threadId: data.thread_id.toWellFormed(),
  bubbleId: data.bubble_id,
  kind: data.kind,
  body: data.body,
  videoUrl: data.video_url,
  imageUrl: data.image_url,
  createdAt: new Date(data.created_at),
  author: data.author,
  timestampSeconds: data.timestamp_seconds,
  draft: data.draft,
  archived: data.archived,
});

const toThread = (data: Data<typeof ThreadChangedV1>): Thread => ({
  id: data.thread_id.toWellFormed(),
  revision: data.revision,
  bubbleId: data.bubble_id,
  draft: data.draft,
  archived: data.archived,
  pinned: data.pinned,
});

export const eventHandlers = (app: App): readonly EventHandler[] => [
  eventHandler(BubbleCreatedV1, (data) => app.recordDetails(data.bubble_id, toDetails(data))),
  eventHandler(BubbleChangedV1, (data) => app.recordDetails(data.bubble_id, toDetails(data))),
  eventHandler({ ...BubbleRemovedV1, schema: RemovedBubble }, (data) => app.removeBubble(data.bubble_id)),
  eventHandler(MediaProcessedV1, (data) => app.recordMedia(data.bubble_id, toMedia(data))),
  eventHandler(TranscriptCompletedV1, (data) => app.recordTranscript(toTranscript(data))),
  eventHandler(NotesGeneratedV1, (data) => app.recordNotes(data.bubble_id, toNotes(data))),
  eventHandler(CommentPostedV1, (data) => app.recordComment(toComment(data))),
  eventHandler(CommentChangedV1, (data) => app.recordComment(toComment(data))),
  eventHandler(ThreadChangedV1, (data) => app.recordThread(toThread(data))),
  eventHandler(RecordingCapturedV1, (data) => app.recordCaptured(data.bubble_id, toCaptured(data))),
  eventHandler({ ...AccountChangedV1, schema: ChangedAccount }, ({ user_id, ...facts }) => app.recordPerson({ id: user_id, ...facts })),
];
