import { z } from 'zod';
import { examplesOf } from './examples.ts';
import { CallerId, Timestamp } from './fields.ts';
import { BubbleId, TeamId } from './ids.ts';
import { PageQuery } from './query.ts';

const LINK_MAX_LENGTH = 2048;

export const JoinMeetingRequest = z
  .object({
    meeting_url: z
      .string()
      .min(1, 'must not be empty')
      .max(LINK_MAX_LENGTH)
      .meta({ description: 'Google Meet, Microsoft Teams, Zoom, Webex or GoTo link' }),
    team_id: CallerId.meta({ description: 'The team that the recording belongs to' }),
  })
  .meta({ id: 'JoinMeetingRequest', examples: examplesOf('JoinMeetingRequest') });
export type JoinMeetingRequest = z.infer<typeof JoinMeetingRequest>;

export const MeetingJoinCreated = z
  .object({
    id: z.string().meta({ description: 'Of the join, opaque' }),
    type: z.literal('meeting_join'),
    status: z.string().meta({ description: 'Initially `dispatched`' }),
    meeting_url: z.string().meta({ description: 'The normalized link' }),
    team_id: TeamId,
    created_at: Timestamp,
  })
  .meta({ id: 'MeetingJoinCreated', examples: examplesOf('MeetingJoinCreated') });
export type MeetingJoinCreated = z.infer<typeof MeetingJoinCreated>;

export const MeetingJoinState = z
  .enum(['dispatched', 'joining', 'in_waiting_room', 'in_call', 'recording', 'done', 'fatal'])
  .meta({ id: 'MeetingJoinState' });

/** Why a join may be fatal. New reasons come without notice, since providers of notetakers add them. */
export const FATAL_REASONS = [
  'blocked_by_host_policy',
  'cancelled',
  'captcha_required',
  'ended_by_operator',
  'entry_denied',
  'meeting_ended',
  'meeting_full',
  'meeting_link_expired',
  'meeting_link_invalid',
  'meeting_locked',
  'meeting_not_found',
  'meeting_not_started',
  'meeting_password_incorrect',
  'meeting_requires_registration',
  'meeting_requires_sign_in',
  'nobody_joined',
  'notetaker_error',
  'notetaker_unavailable',
  'platform_not_supported',
  'recording_permission_denied',
  'removed_from_meeting',
  'waiting_room_timeout',
  'zoom_authorization_required',
] as const;

export const MeetingJoinStatus = z
  .object({
    id: z.string().meta({ description: 'Of the join, opaque' }),
    type: z.literal('meeting_join'),
    status: MeetingJoinState,
    bot_in_call: z.boolean().meta({ description: 'Whether the notetaker is in the call' }),
    fatal_reason: z
      .string()
      .nullable()
      .meta({
        description: `Why the status is fatal: ${FATAL_REASONS.map((reason) => `\`${reason}\``).join(', ')}, or a new one`,
        examples: ['meeting_requires_sign_in'],
      }),
    team_id: TeamId.nullable(),
    updated_at: Timestamp.nullable(),
  })
  .meta({ id: 'MeetingJoinStatus', examples: examplesOf('MeetingJoinStatus') });
export type MeetingJoinStatus = z.infer<typeof MeetingJoinStatus>;

export const MeetingJoinList = z
  .object({ data: z.array(MeetingJoinStatus), has_more: z.boolean(), next_cursor: z.string().nullable() })
  .meta({ id: 'MeetingJoinList' });

export const ListMeetingJoinsQuery = PageQuery.extend({
  status: MeetingJoinState.optional().meta({ description: 'Only joins of this status' }),
});

const MeetingJoinEvent = z
  .object({
    status: MeetingJoinState,
    created_at: Timestamp,
    reason: z.string().nullable().meta({ description: 'Why it ended; null for progress' }),
  })
  .meta({ id: 'MeetingJoinEvent' });

export const MeetingJoinEvents = z
  .object({
    data: z.array(MeetingJoinEvent).meta({ description: 'Oldest first' }),
    bubble_id: BubbleId.nullable().meta({ description: 'The bubble that the recording became; null before it was captured' }),
  })
  .meta({ id: 'MeetingJoinEvents' });
export type MeetingJoinEvents = z.infer<typeof MeetingJoinEvents>;
