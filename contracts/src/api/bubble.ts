import { z } from 'zod';
import { examplesOf } from './examples.ts';
import { BubbleId, ChannelId, PersonId, TeamId, UserId } from './ids.ts';
import { EmbedCode, HttpsLink } from './link.ts';
import { Timestamp } from './timestamp.ts';

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

export const BubbleMedia = z
  .object({
    video_url: HttpsLink,
    thumbnail_url: HttpsLink,
    screenshot_url: HttpsLink,
    duration_seconds: z.number().nullable(),
    is_processed: z.boolean().nullable().meta({ description: 'Null when unknown' }),
  })
  .meta({ id: 'BubbleMedia' });
export type BubbleMedia = z.infer<typeof BubbleMedia>;

export const BubbleMeeting = z
  .object({
    platform: z
      .string()
      .nullable()
      .meta({ description: 'Meeting platform', examples: ['google_meet', 'zoom'] }),
    start_time: Timestamp.nullable().meta({ description: 'Scheduled or actual start' }),
  })
  .meta({ id: 'BubbleMeeting' });
export type BubbleMeeting = z.infer<typeof BubbleMeeting>;

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
