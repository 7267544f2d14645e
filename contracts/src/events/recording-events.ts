import { z } from 'zod';
import { BubbleType } from '../api/bubble.ts';
import { EmbedCode, HttpsLink } from '../api/link.ts';
import { defineEvent } from './define-event.ts';
import { RecordedTime } from './recorded-time.ts';

/**
 * What the recording pipeline says of a bubble. Facts come in groups, each with a revision of its own that only rises (details, media, transcript,
 * notes, each comment, each thread): the newest of a group wins, whatever the order of arrival. Times are ISO-8601 UTC.
 */
const pipeline = { publisher: 'recording-pipeline', consumers: ['bubbles-query'] } as const;
/** Lower case, however it was sent: one bubble has one id. */
const BubbleId = z.uuid().toLowerCase();
const Revision = z.int().nonnegative();
const RecordedParticipant = z.object({
  /** Null for somebody without an account. */
  user_id: z.string().nullable(),
  /** As known when the event was made; an account's current name and address win on every read. */
  name: z.string().nullable(),
  email: z.string().nullable(),
  /** Had no membership of any role in the bubble's team when the participants were named, or has no account. */
  is_external: z.boolean(),
});

const BubbleDetails = z.object({
  bubble_id: BubbleId,
  revision: Revision,
  type: BubbleType,
  title: z.string().nullable(),
  team_id: z.string().nullable(),
  channel_id: z.string().nullable(),
  channel_name: z.string().nullable(),
  created_at: RecordedTime.nullable(),
  /** The calendar organizer of a meeting, else who recorded it. */
  author: RecordedParticipant.nullable(),
  creator_id: z.string().nullable(),
  participants: z.array(RecordedParticipant),
  is_public: z.boolean(),
  archived: z.boolean(),
  draft: z.boolean(),
  template: z.boolean(),
  /** False for zero-media notes, which never become ready. */
  has_media: z.boolean(),
  expires_at: RecordedTime.nullable(),
  response_required: z.boolean(),
  embed_code: EmbedCode,
  meeting: z.object({ platform: z.string().nullable(), start_time: RecordedTime.nullable() }).nullable(),
});
export type RecordedBubble = z.infer<typeof BubbleDetails>;

export const BubbleCreatedV1 = defineEvent('recording.bubble.created.v1', BubbleDetails, pipeline);
/** The details in full, not the difference. */
export const BubbleChangedV1 = defineEvent('recording.bubble.changed.v1', BubbleDetails, pipeline);
/** Final, whatever its revision. */
export const BubbleRemovedV1 = defineEvent('recording.bubble.removed.v1', z.object({ bubble_id: BubbleId, revision: Revision }), {
  ...pipeline,
  consumers: ['bubbles-query', 'webhooks-dispatcher'],
});

export const MediaProcessedV1 = defineEvent(
  'recording.media.processed.v1',
  z.object({
    bubble_id: BubbleId,
    revision: Revision,
    /** Null when unknown; the group counts as processed when this event is there and it is not false. */
    is_processed: z.boolean().nullable(),
    has_audio: z.boolean(),
    video_url: HttpsLink,
    thumbnail_url: HttpsLink,
    screenshot_url: HttpsLink,
    duration_seconds: z.number().nonnegative().nullable(),
  }),
  pipeline,
);

const Segment = z.object({
  speaker: z.object({ id: z.string().nullable(), name: z.string().nullable() }).nullable(),
  text: z.string(),
  start_time_seconds: z.number().nonnegative(),
  end_time_seconds: z.number().nonnegative(),
});
export const TranscriptCompletedV1 = defineEvent(
  'recording.transcript.completed.v1',
  z.object({ bubble_id: BubbleId, revision: Revision, segments: z.array(Segment) }),
  pipeline,
);

export const NotesGeneratedV1 = defineEvent(
  'recording.notes.generated.v1',
  z.object({ bubble_id: BubbleId, revision: Revision, summary: z.string().nullable(), action_items: z.string().nullable() }),
  pipeline,
);

const CommentFacts = z.object({
  comment_id: z.string(),
  thread_id: z.string(),
  bubble_id: BubbleId,
  revision: Revision,
  kind: z.enum(['text', 'video', 'image']),
  body: z.string().nullable(),
  video_url: HttpsLink,
  image_url: HttpsLink,
  created_at: RecordedTime,
  author: z.object({ id: z.string(), name: z.string().nullable() }),
  timestamp_seconds: z.number().nonnegative().nullable(),
  draft: z.boolean(),
  archived: z.boolean(),
});
export const CommentPostedV1 = defineEvent('recording.comment.posted.v1', CommentFacts, pipeline);
export const CommentChangedV1 = defineEvent('recording.comment.changed.v1', CommentFacts, pipeline);

/** Sent for every thread, also at its opening: a comment whose thread is unknown or hidden is neither shown nor counted. */
export const ThreadChangedV1 = defineEvent(
  'recording.thread.changed.v1',
  z.object({
    thread_id: z.string(),
    bubble_id: BubbleId,
    revision: Revision,
    draft: z.boolean(),
    archived: z.boolean(),
    pinned: z.boolean(),
  }),
  pipeline,
);
