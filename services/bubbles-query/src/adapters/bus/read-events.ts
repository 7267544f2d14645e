import type {
  CommentPostedV1,
  MediaProcessedV1,
  NotesGeneratedV1,
  RecordedBubble,
  ThreadChangedV1,
  TranscriptCompletedV1,
} from '@bubbles/contracts/events/recording-events.ts';
import type { z } from 'zod';
import type { Details, Media, Notes } from '../../domain/bubble.ts';
import type { Comment, Thread } from '../../domain/comment.ts';
import type { Person } from '../../domain/person.ts';
import type { Transcript } from '../../domain/transcript.ts';

type Data<E extends { readonly schema: z.ZodType }> = z.infer<E['schema']>;

const dateOrNull = (text: string | null): Date | null => (text === null ? null : new Date(text));
const toRecorded = ({ user_id, name, email, is_external }: RecordedBubble['participants'][number]): Person => ({
  userId: user_id,
  name,
  email,
  isExternal: is_external,
});

export const toDetails = (data: RecordedBubble): Details => ({
  revision: data.revision,
  type: data.type,
  title: data.title,
  teamId: data.team_id,
  channelId: data.channel_id,
  channelName: data.channel_name,
  createdAt: dateOrNull(data.created_at),
  author: data.author && toRecorded(data.author),
  creatorId: data.creator_id,
  participants: data.participants.map(toRecorded),
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

export const toMedia = (data: Data<typeof MediaProcessedV1>): Media => ({
  revision: data.revision,
  isProcessed: data.is_processed,
  hasAudio: data.has_audio,
  videoUrl: data.video_url,
  thumbnailUrl: data.thumbnail_url,
  screenshotUrl: data.screenshot_url,
  durationSeconds: data.duration_seconds,
});

export const toNotes = ({ revision, summary, action_items }: Data<typeof NotesGeneratedV1>): Notes => ({
  revision,
  summary,
  actionItems: action_items,
});

export const toTranscript = ({ bubble_id, revision, segments }: Data<typeof TranscriptCompletedV1>): Transcript => ({
  bubbleId: bubble_id,
  revision,
  segments: segments.map(({ speaker, text, start_time_seconds, end_time_seconds }) => ({
    speaker,
    text,
    startTimeSeconds: start_time_seconds,
    endTimeSeconds: end_time_seconds,
  })),
});

/** Ids in the form that every store keeps: halves of surrogate pairs replaced. */
export const toComment = (data: Data<typeof CommentPostedV1>): Comment => ({
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

export const toThread = ({ thread_id, bubble_id, ...facts }: Data<typeof ThreadChangedV1>): Thread => ({
  id: thread_id.toWellFormed(),
  bubbleId: bubble_id,
  ...facts,
});
