import type { EventDefinition } from '@bubbles/bus/bus.ts';
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
import type { AccountFacts } from '@bubbles/contracts/internal/identity.ts';
import type { ZodType, z } from 'zod';

export const AT = new Date('2026-03-01T12:00:00.000Z');
export const BUBBLE = '8b0f3b1c-6c56-4c4e-9a41-0d3a5c7f2f10';
/** Uuids in their order. */
export const bubbleId = (n: number): string => `00000000-0000-4000-8000-${n.toString(16).padStart(12, '0')}`;
export const day = (n: number): string => new Date(Date.UTC(2026, 0, n, 12)).toISOString();

/** Something told over the bus. */
export interface Told {
  readonly event: EventDefinition;
  readonly data: unknown;
}
type Fields<E extends { readonly schema: ZodType }> = Partial<z.infer<E['schema']>>;

export type RecordedPerson = RecordedBubble['participants'][number];

export const aPerson = (fields: Partial<RecordedPerson> = {}): RecordedPerson => ({
  user_id: 'ada',
  name: 'Ada',
  email: 'ada@acme.test',
  is_external: false,
  ...fields,
});
export const anOutsider = (fields: Partial<RecordedPerson> = {}): RecordedPerson =>
  aPerson({ user_id: null, name: 'Olga', email: 'olga@outside.test', is_external: true, ...fields });

export const details = (fields: Partial<RecordedBubble> = {}): RecordedBubble => ({
  bubble_id: BUBBLE,
  revision: 1,
  type: 'meeting_recording',
  title: 'Weekly',
  team_id: 'acme',
  channel_id: 'general',
  channel_name: 'General',
  created_at: day(1),
  author: aPerson(),
  creator_id: 'bot',
  participants: [aPerson()],
  is_public: false,
  archived: false,
  draft: false,
  template: false,
  has_media: true,
  expires_at: null,
  response_required: false,
  embed_code: null,
  meeting: { platform: 'google_meet', start_time: day(1) },
  ...fields,
});

export const created = (fields: Partial<RecordedBubble> = {}): Told => ({ event: BubbleCreatedV1, data: details(fields) });
export const changed = (fields: Partial<RecordedBubble> = {}): Told => ({
  event: BubbleChangedV1,
  data: details({ revision: 2, ...fields }),
});
export const removed = (fields: Fields<typeof BubbleRemovedV1> = {}): Told => ({
  event: BubbleRemovedV1,
  data: { bubble_id: BUBBLE, revision: 1, ...fields },
});
export const processed = (fields: Fields<typeof MediaProcessedV1> = {}): Told => ({
  event: MediaProcessedV1,
  data: {
    bubble_id: BUBBLE,
    revision: 1,
    is_processed: true,
    has_audio: true,
    video_url: 'https://media.test/v.mp4',
    thumbnail_url: 'https://media.test/t.jpg',
    screenshot_url: null,
    duration_seconds: 61.5,
    ...fields,
  },
});

type TranscriptFields = Fields<typeof TranscriptCompletedV1>;
export const aSegment = (fields: Partial<NonNullable<TranscriptFields['segments']>[number]> = {}) => ({
  speaker: { id: 'ada', name: 'Ada' },
  text: 'Good morning.',
  start_time_seconds: 0,
  end_time_seconds: 2,
  ...fields,
});
export const transcribed = (fields: TranscriptFields = {}): Told => ({
  event: TranscriptCompletedV1,
  data: { bubble_id: BUBBLE, revision: 1, segments: [aSegment()], ...fields },
});
export const capturedMeeting = (fields: Fields<typeof RecordingCapturedV1> = {}): Told => ({
  event: RecordingCapturedV1,
  data: {
    bubble_id: BUBBLE,
    join_id: 'mj_1',
    team_id: 'acme',
    title: 'Planning',
    created_at: AT.toISOString(),
    author: aPerson(),
    participants: [aPerson()],
    platform: 'zoom',
    started_at: AT.toISOString(),
    video_url: null,
    has_audio: true,
    duration_seconds: 61,
    segments: [aSegment()],
    ...fields,
  },
});
export const noted = (fields: Fields<typeof NotesGeneratedV1> = {}): Told => ({
  event: NotesGeneratedV1,
  data: { bubble_id: BUBBLE, revision: 1, summary: 'All is well.', action_items: 'Go on.', ...fields },
});

const comment = (fields: Fields<typeof CommentPostedV1>) => ({
  comment_id: 'comment-1',
  thread_id: 'thread-1',
  bubble_id: BUBBLE,
  revision: 1,
  kind: 'text' as const,
  body: 'Well said.',
  video_url: null,
  image_url: null,
  created_at: day(2),
  author: { id: 'ada', name: 'Ada' },
  timestamp_seconds: null,
  draft: false,
  archived: false,
  ...fields,
});
export const posted = (fields: Fields<typeof CommentPostedV1> = {}): Told => ({ event: CommentPostedV1, data: comment(fields) });
export const edited = (fields: Fields<typeof CommentChangedV1> = {}): Told => ({
  event: CommentChangedV1,
  data: comment({ revision: 2, body: 'Better said.', ...fields }),
});
export const threaded = (fields: Fields<typeof ThreadChangedV1> = {}): Told => ({
  event: ThreadChangedV1,
  data: { thread_id: 'thread-1', bubble_id: BUBBLE, revision: 0, draft: false, archived: false, pinned: false, ...fields },
});
export const account = (fields: Partial<AccountFacts> = {}): Told => ({
  event: AccountChangedV1,
  data: { user_id: 'ada', state: 'active', name: 'Ada L.', email: 'l@acme.test', picture_url: null, revision: 1, ...fields },
});

/** Everything that makes a bubble of its type ready. */
export const readyFacts = (fields: Partial<RecordedBubble> = {}): readonly Told[] => {
  const id = fields.bubble_id ?? BUBBLE;
  return [created(fields), processed({ bubble_id: id }), transcribed({ bubble_id: id }), noted({ bubble_id: id })];
};
