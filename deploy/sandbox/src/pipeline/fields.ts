import { BubbleType } from '@bubbles/contracts/api/bubble.ts';
import { RecordedTime } from '@bubbles/contracts/api/fields.ts';
import { MeetingJoinState } from '@bubbles/contracts/api/meeting-join.ts';
import { z } from 'zod';

const Uuid = z.uuid().toLowerCase();
const Text = z.string().max(200_000);

const STAGES = ['created', 'processed', 'transcribed', 'ready'] as const;
export type Stage = (typeof STAGES)[number];

const Segment = z
  .strictObject({
    speaker: z.strictObject({ id: z.string().nullable().default(null), name: z.string().nullable().default(null) }).nullable(),
    text: Text,
    start_time_seconds: z.number().nonnegative(),
    end_time_seconds: z.number().nonnegative(),
  })
  .refine((segment) => segment.end_time_seconds >= segment.start_time_seconds, 'end_time_seconds is before start_time_seconds');

/** Everything that a call may give of a bubble. An absent field is made up, `null` stays null. */
const DETAILS = {
  title: z.string().max(1000).nullable(),
  team_id: z.string().nullable(),
  channel_id: z.string().nullable(),
  author_id: z.string().nullable(),
  creator_id: z.string().nullable(),
  participant_ids: z.array(z.string()).max(500),
  external_participants: z
    .array(z.strictObject({ name: z.string().nullable().default(null), email: z.string().nullable().default(null) }))
    .max(500),
  created_at: RecordedTime.nullable(),
  is_public: z.boolean(),
  archived: z.boolean(),
  draft: z.boolean(),
  template: z.boolean(),
  expires_at: RecordedTime.nullable(),
  response_required: z.boolean(),
  has_media: z.boolean(),
  embed_code: z.string().nullable(),
  meeting: z.strictObject({ platform: z.string().nullable().default(null), start_time: RecordedTime.nullable().default(null) }).nullable(),
};
const MEDIA = {
  has_audio: z.boolean(),
  is_processed: z.boolean().nullable(),
  duration_seconds: z.number().nonnegative().nullable(),
  thumbnail_url: z.url().nullable(),
  screenshot_url: z.url().nullable(),
  video_url: z.url().nullable(),
};
const TRANSCRIPT = { segments: z.array(Segment).max(20_000) };
const NOTES = { summary: Text.nullable(), action_items: Text.nullable() };
const StageName = z.enum(STAGES);
/** A seeded user, for examples. */
const A_USER = '0b6a8a52-7f0c-4a4e-9d3b-6f2f3c1f5a10';

const All = z.strictObject({ ...DETAILS, ...MEDIA, ...TRANSCRIPT, ...NOTES }).exactPartial();
export type BubbleFields = z.infer<typeof All> & { readonly type: BubbleType };

export const NewBubble = All.extend({
  id: Uuid.exactOptional(),
  type: BubbleType,
  participant_ids: DETAILS.participant_ids,
  stage: StageName.default('ready'),
}).meta({ examples: [{ type: 'meeting_recording', title: 'Retrospective', participant_ids: [A_USER] }] });
export const BubblePatch = All.extend({ type: BubbleType.exactOptional(), stage: StageName.default('created') }).meta({
  examples: [{ title: 'Retrospective, March' }],
});
export const StageMove = z
  .strictObject({ ...MEDIA, ...TRANSCRIPT, ...NOTES })
  .exactPartial()
  .extend({ stage: StageName })
  .meta({ examples: [{ stage: 'transcribed' }] });

const MEETING = {
  status: MeetingJoinState.exclude(['dispatched']),
  fatal_reason: z.string().exactOptional(),
  title: DETAILS.title.exactOptional(),
  segments: TRANSCRIPT.segments.exactOptional(),
  duration_seconds: MEDIA.duration_seconds.exactOptional(),
  has_video: z
    .boolean()
    .exactOptional()
    .meta({ description: 'Whether the recording has a file, a small one that plays; true when absent' }),
  summary: NOTES.summary.exactOptional(),
  action_items: NOTES.action_items.exactOptional(),
};
/** What the simulated notetaker tells. What a recording needs of it is made up when absent. */
export const NotetakerMove = z
  .strictObject({
    ...MEETING,
    participant_ids: DETAILS.participant_ids
      .default([])
      .meta({ description: 'Named by their addresses, beside who asked for the notetaker' }),
    external_participants: DETAILS.external_participants.default([]),
  })
  .meta({ examples: [{ status: 'recording' }] });
export type NotetakerMove = z.infer<typeof NotetakerMove>;

export const NewComment = z
  .strictObject({
    author_id: z.string(),
    kind: z.enum(['text', 'video', 'image']).default('text'),
    body: Text.nullable().exactOptional(),
    video_url: z.url().nullable().default(null),
    image_url: z.url().nullable().default(null),
    thread_id: z.string().exactOptional(),
    timestamp_seconds: z.number().nonnegative().nullable().default(null),
    draft: z.boolean().default(false),
    archived: z.boolean().default(false),
    thread_draft: z.boolean().exactOptional(),
    thread_archived: z.boolean().exactOptional(),
    pinned: z.boolean().exactOptional(),
    created_at: RecordedTime.exactOptional(),
  })
  .meta({ examples: [{ author_id: A_USER, body: 'Can we get these by Thursday?', timestamp_seconds: 20 }] });
export type NewComment = z.infer<typeof NewComment>;
