import { z } from 'zod';
import { examplesOf } from './examples.ts';
import { EmbedCode, HttpsLink, hasAtMost, PAGE_FIELDS, Timestamp, VideoLink } from './fields.ts';
import { BubbleId, ChannelId, PersonId, TeamId, UserId } from './ids.ts';

export const BubbleType = z.enum(['meeting_recording', 'screen_recording', 'custom_image']).meta({ id: 'BubbleType' });
export type BubbleType = z.infer<typeof BubbleType>;

export const BubblePerson = z
  .object({
    id: PersonId,
    name: z.string().nullable().meta({ description: 'Display name' }),
    email: z.string().nullable().meta({ description: 'Null when unknown or withheld' }),
  })
  .meta({ id: 'BubblePerson' });
export type BubblePerson = z.infer<typeof BubblePerson>;

const BubbleMedia = z
  .object({
    video_url: VideoLink,
    thumbnail_url: HttpsLink,
    screenshot_url: HttpsLink,
    duration_seconds: z.number().nullable(),
    is_processed: z.boolean().nullable().meta({ description: 'Null when unknown' }),
  })
  .meta({ id: 'BubbleMedia' });

const BubbleMeeting = z
  .object({
    platform: z
      .string()
      .nullable()
      .meta({ description: 'Meeting platform', examples: ['google_meet', 'zoom'] }),
    start_time: Timestamp.nullable().meta({ description: 'Scheduled or actual start' }),
  })
  .meta({ id: 'BubbleMeeting' });

export const Bubble = z
  .object({
    id: BubbleId,
    type: BubbleType,
    title: z.string().nullable(),
    url: z.string().meta({ description: 'Deep link into the app' }),
    created_at: Timestamp.nullable().meta({ description: 'Null for legacy bubbles' }),
    team_id: TeamId.nullable(),
    channel_id: ChannelId.nullable(),
    channel_name: z.string().nullable(),
    author: BubblePerson.nullable().meta({ description: 'For a meeting, its calendar organizer' }),
    participants: z.array(BubblePerson),
    media: BubbleMedia,
    summary: z.string().nullable().meta({ description: 'AI summary, once generated' }),
    action_items: z.string().nullable().meta({ description: 'AI action items as plain text' }),
    has_transcript: z.boolean(),
    comment_count: z.int().nonnegative(),
    is_public: z.boolean().meta({ description: 'Shared through a public link' }),
    embed_code: EmbedCode,
    expires_at: Timestamp.nullable().meta({ description: 'Null when it does not expire' }),
    archived: z.boolean(),
    creator_id: UserId.nullable().meta({ description: 'The raw creator' }),
    response_required: z.boolean(),
    has_external_participants: z.boolean().meta({ description: 'Somebody outside the team took part' }),
    external_participant_email_domains: z.array(z.string()).meta({ description: 'Lower case, distinct, sorted' }),
    meeting: BubbleMeeting.nullable().meta({ description: 'Null unless the type is `meeting_recording`' }),
  })
  .meta({ id: 'Bubble', examples: examplesOf('Bubble') });
export type Bubble = z.infer<typeof Bubble>;

const SUMMARY_MAX_CHARACTERS = 1000;

/** A row of list and search. What it shares with the whole bubble is the bubble's own definition. */
export const BubbleSummary = Bubble.pick({
  id: true,
  type: true,
  title: true,
  url: true,
  created_at: true,
  team_id: true,
  channel_id: true,
  comment_count: true,
  expires_at: true,
})
  .extend({
    author_id: UserId.nullable().meta({ description: 'The raw creator' }),
    thumbnail_url: HttpsLink,
    duration_seconds: z.number().nullable(),
    has_summary: z.boolean().meta({ description: 'Whether meeting notes exist' }),
    summary: z
      .string()
      .refine((text) => hasAtMost(text, SUMMARY_MAX_CHARACTERS), `must have at most ${SUMMARY_MAX_CHARACTERS} characters`)
      .nullable()
      .meta({ maxLength: SUMMARY_MAX_CHARACTERS, description: 'The summary of the bubble; a longer one is cut and ends with an ellipsis' }),
  })
  .meta({ id: 'BubbleSummary', examples: examplesOf('BubbleSummary') });
export type BubbleSummary = z.infer<typeof BubbleSummary>;

export const BubblesList = z
  .object({ data: z.array(BubbleSummary), ...PAGE_FIELDS })
  .meta({ id: 'BubblesList', examples: examplesOf('BubblesList') });
export type BubblesList = z.infer<typeof BubblesList>;
