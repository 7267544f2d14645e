import { z } from 'zod';
import { BubbleType } from '../api/bubble.ts';
import { EmbedCode, HttpsLink, RecordedTime, VideoLink } from '../api/fields.ts';
import { RecordedParticipant, RecordedSegment } from '../recorded.ts';
import { defineEvent } from './define-event.ts';

/**
 * What the recording pipeline tells about a bubble. Facts come in groups (details, media, transcript, notes, each comment, each thread), each with a
 * revision that only rises: the newest revision of a group wins, in whatever order the events arrive.
 */
const told = (description: string) => ({ description, publisher: 'recording-pipeline', consumers: ['bubbles-query'] }) as const;

const BubbleId = z.uuid().toLowerCase().meta({ description: 'Sent in any case; lower case everywhere else' });
const Revision = z.int().nonnegative().meta({ description: 'Rises with every change of this group of facts' });

const BubbleDetails = z.object({
  bubble_id: BubbleId,
  revision: Revision,
  type: BubbleType,
  title: z.string().nullable(),
  team_id: z.string().nullable(),
  channel_id: z.string().nullable(),
  channel_name: z.string().nullable(),
  created_at: RecordedTime.nullable(),
  author: RecordedParticipant.nullable().meta({ description: 'The calendar organizer of a meeting, otherwise the person who recorded it' }),
  creator_id: z.string().nullable(),
  participants: z.array(RecordedParticipant),
  is_public: z.boolean(),
  archived: z.boolean(),
  draft: z.boolean(),
  template: z.boolean(),
  has_media: z.boolean().meta({ description: 'False for notes without a recording, which never become ready' }),
  expires_at: RecordedTime.nullable(),
  response_required: z.boolean(),
  embed_code: EmbedCode,
  meeting: z.object({ platform: z.string().nullable(), start_time: RecordedTime.nullable() }).nullable(),
});
export type RecordedBubble = z.infer<typeof BubbleDetails>;

export const BubbleCreatedV1 = defineEvent('recording.bubble.created.v1', BubbleDetails, told('When a recording begins.'));
export const BubbleChangedV1 = defineEvent(
  'recording.bubble.changed.v1',
  BubbleDetails,
  told('With every change of the details. Carries all of them, not the difference.'),
);
export const BubbleRemovedV1 = defineEvent('recording.bubble.removed.v1', z.object({ bubble_id: BubbleId, revision: Revision }), {
  ...told('When a recording is removed. Final, whatever its revision.'),
  consumers: ['bubbles-query', 'webhooks-dispatcher', 'meetings-bot-gateway'],
});

export const MediaProcessedV1 = defineEvent(
  'recording.media.processed.v1',
  z.object({
    bubble_id: BubbleId,
    revision: Revision,
    is_processed: z.boolean().nullable().meta({ description: 'Null when unknown; only false keeps the bubble from becoming ready' }),
    has_audio: z.boolean(),
    video_url: VideoLink,
    thumbnail_url: HttpsLink,
    screenshot_url: HttpsLink,
    duration_seconds: z.number().nonnegative().nullable(),
  }),
  told('With every change of the media.'),
);

export const TranscriptCompletedV1 = defineEvent(
  'recording.transcript.completed.v1',
  z.object({ bubble_id: BubbleId, revision: Revision, segments: z.array(RecordedSegment) }),
  told('When a transcript is complete, also one without words.'),
);

export const NotesGeneratedV1 = defineEvent(
  'recording.notes.generated.v1',
  z.object({ bubble_id: BubbleId, revision: Revision, summary: z.string().nullable(), action_items: z.string().nullable() }),
  told('When summary and action items are written, again after each change.'),
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
export const CommentPostedV1 = defineEvent('recording.comment.posted.v1', CommentFacts, told('When a comment is posted.'));
export const CommentChangedV1 = defineEvent(
  'recording.comment.changed.v1',
  CommentFacts,
  told('With every change of a comment. Carries the whole comment.'),
);

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
  told('When a thread is opened and with every change. A comment is shown and counted only when its thread is known and visible.'),
);
