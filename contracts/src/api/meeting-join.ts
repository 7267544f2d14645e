import { z } from 'zod';
import { CallerId } from './text.ts';
import { Timestamp } from './timestamp.ts';

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
  .meta({ id: 'JoinMeetingRequest' });
export type JoinMeetingRequest = z.infer<typeof JoinMeetingRequest>;

export const MeetingJoinCreated = z
  .object({
    id: z.string(),
    type: z.literal('meeting_join'),
    status: z.string().meta({ description: 'Initially `dispatched`' }),
    meeting_url: z.string().meta({ description: 'The normalized link' }),
    team_id: z.string(),
    created_at: Timestamp,
  })
  .meta({ id: 'MeetingJoinCreated' });
export type MeetingJoinCreated = z.infer<typeof MeetingJoinCreated>;

export const MeetingJoinStatus = z
  .object({
    id: z.string(),
    type: z.literal('meeting_join'),
    status: z.enum(['dispatched', 'joining', 'in_waiting_room', 'in_call', 'recording', 'done', 'fatal']),
    bot_in_call: z.boolean().meta({ description: 'Whether the notetaker is in the call' }),
    fatal_reason: z
      .string()
      .nullable()
      .meta({ description: 'Why the status is fatal', examples: ['meeting_requires_sign_in'] }),
    team_id: z.string().nullable(),
    updated_at: Timestamp.nullable(),
  })
  .meta({ id: 'MeetingJoinStatus' });
export type MeetingJoinStatus = z.infer<typeof MeetingJoinStatus>;
