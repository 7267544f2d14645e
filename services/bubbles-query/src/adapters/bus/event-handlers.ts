import { type EventHandler, eventHandler } from '@bubbles/bus/bus.ts';
import { BubbleType } from '@bubbles/contracts/api/bubble.ts';
import { Comment as ShownComment } from '@bubbles/contracts/api/comment.ts';
import { EmbedCode, HttpsLink, RecordedTime, VideoLink } from '@bubbles/contracts/api/fields.ts';
import { RecordingCapturedV1 } from '@bubbles/contracts/events/meeting-events.ts';
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
import { AccountChangedV1 } from '@bubbles/contracts/events/service-events.ts';
import { z } from 'zod';
import type { App } from '../../app.ts';
import type { Details, Media, Notes } from '../../domain/bubble.ts';
import type { Comment, Thread } from '../../domain/comment.ts';
import type { Person } from '../../domain/person.ts';
import type { Transcript } from '../../domain/transcript.ts';
import type { CapturedRecording } from '../../use-cases/record.ts';

// Each schema names the fields that this service reads and ignores others. The public document lists all types and kinds, so an event with an unknown one
// is dead-lettered until the service is upgraded.
const OfBubble = { bubble_id: z.uuid().toLowerCase(), revision: z.int().nonnegative() };
const Participant = z.object({
  user_id: z.string().nullable(),
  name: z.string().nullable(),
  email: z.string().nullable(),
  is_external: z.boolean(),
});
const Segment = z.object({
  speaker: z.object({ id: z.string().nullable(), name: z.string().nullable() }).nullable(),
  text: z.string(),
  start_time_seconds: z.number().nonnegative(),
  end_time_seconds: z.number().nonnegative(),
});
const DetailsTold = z.object({
  ...OfBubble,
  type: BubbleType,
  title: z.string().nullable(),
  team_id: z.string().nullable(),
  channel_id: z.string().nullable(),
  channel_name: z.string().nullable(),
  created_at: RecordedTime.nullable(),
  author: Participant.nullable(),
  creator_id: z.string().nullable(),
  participants: z.array(Participant),
  is_public: z.boolean(),
  archived: z.boolean(),
  draft: z.boolean(),
  template: z.boolean(),
  has_media: z.boolean(),
  expires_at: RecordedTime.nullable(),
  response_required: z.boolean(),
  embed_code: EmbedCode,
  meeting: z.object({ platform: z.string().nullable(), start_time: RecordedTime.nullable() }).nullable(),
});
const MediaTold = z.object({
  ...OfBubble,
  is_processed: z.boolean().nullable(),
  has_audio: z.boolean(),
  video_url: VideoLink,
  thumbnail_url: HttpsLink,
  screenshot_url: HttpsLink,
  duration_seconds: z.number().nonnegative().nullable(),
});
const TranscriptTold = z.object({ ...OfBubble, segments: z.array(Segment) });
const NotesTold = z.object({ ...OfBubble, summary: z.string().nullable(), action_items: z.string().nullable() });
const CommentTold = z.object({
  ...OfBubble,
  comment_id: z.string(),
  thread_id: z.string(),
  kind: ShownComment.shape.kind,
  body: z.string().nullable(),
  video_url: HttpsLink,
  image_url: HttpsLink,
  created_at: RecordedTime,
  author: z.object({ id: z.string(), name: z.string().nullable() }),
  timestamp_seconds: z.number().nonnegative().nullable(),
  draft: z.boolean(),
  archived: z.boolean(),
});
const ThreadTold = z.object({ ...OfBubble, thread_id: z.string(), draft: z.boolean(), archived: z.boolean(), pinned: z.boolean() });
const CaptureTold = z.object({
  bubble_id: OfBubble.bubble_id,
  team_id: z.string(),
  title: z.string().nullable(),
  created_at: RecordedTime,
  author: Participant,
  participants: z.array(Participant),
  platform: z.string(),
  started_at: RecordedTime.nullable(),
  video_url: VideoLink,
  has_audio: z.boolean(),
  duration_seconds: z.number().nonnegative().nullable(),
  segments: z.array(Segment).nullable(),
});
const RemovedBubble = z.object({ bubble_id: OfBubble.bubble_id });
const ChangedAccount = z.object({
  user_id: z.string(),
  name: z.string().nullable(),
  email: z.string().nullable(),
  revision: z.int().positive(),
});

const dateOrNull = (text: string | null): Date | null => (text === null ? null : new Date(text));
const toPerson = ({ user_id, name, email, is_external }: z.infer<typeof Participant>): Person => ({
  userId: user_id,
  name,
  email,
  isExternal: is_external,
});

const toDetails = (data: z.infer<typeof DetailsTold>): Details => ({
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

const toMedia = (data: z.infer<typeof MediaTold>): Media => ({
  revision: data.revision,
  isProcessed: data.is_processed,
  hasAudio: data.has_audio,
  videoUrl: data.video_url,
  thumbnailUrl: data.thumbnail_url,
  screenshotUrl: data.screenshot_url,
  durationSeconds: data.duration_seconds,
});

const toNotes = ({ revision, summary, action_items }: z.infer<typeof NotesTold>): Notes => ({
  revision,
  summary,
  actionItems: action_items,
});

const toTranscript = ({ bubble_id, revision, segments }: z.infer<typeof TranscriptTold>): Transcript => ({
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

const toCaptured = (data: z.infer<typeof CaptureTold>): CapturedRecording => ({
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
const toComment = (data: z.infer<typeof CommentTold>): Comment => ({
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

const toThread = (data: z.infer<typeof ThreadTold>): Thread => ({
  id: data.thread_id.toWellFormed(),
  revision: data.revision,
  bubbleId: data.bubble_id,
  draft: data.draft,
  archived: data.archived,
  pinned: data.pinned,
});

export const eventHandlers = (app: App): readonly EventHandler[] => [
  eventHandler({ ...BubbleCreatedV1, schema: DetailsTold }, (data) => app.recordDetails(data.bubble_id, toDetails(data))),
  eventHandler({ ...BubbleChangedV1, schema: DetailsTold }, (data) => app.recordDetails(data.bubble_id, toDetails(data))),
  eventHandler({ ...BubbleRemovedV1, schema: RemovedBubble }, (data) => app.removeBubble(data.bubble_id)),
  eventHandler({ ...MediaProcessedV1, schema: MediaTold }, (data) => app.recordMedia(data.bubble_id, toMedia(data))),
  eventHandler({ ...TranscriptCompletedV1, schema: TranscriptTold }, (data) => app.recordTranscript(toTranscript(data))),
  eventHandler({ ...NotesGeneratedV1, schema: NotesTold }, (data) => app.recordNotes(data.bubble_id, toNotes(data))),
  eventHandler({ ...CommentPostedV1, schema: CommentTold }, (data) => app.recordComment(toComment(data))),
  eventHandler({ ...CommentChangedV1, schema: CommentTold }, (data) => app.recordComment(toComment(data))),
  eventHandler({ ...ThreadChangedV1, schema: ThreadTold }, (data) => app.recordThread(toThread(data))),
  eventHandler({ ...RecordingCapturedV1, schema: CaptureTold }, (data) => app.recordCaptured(data.bubble_id, toCaptured(data))),
  eventHandler({ ...AccountChangedV1, schema: ChangedAccount }, ({ user_id, ...facts }) => app.recordPerson({ id: user_id, ...facts })),
];
