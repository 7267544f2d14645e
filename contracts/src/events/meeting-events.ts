import { z } from 'zod';
import { RecordedTime, VideoLink } from '../api/fields.ts';
import { MeetingJoinState } from '../api/meeting-join.ts';
import { RecordedParticipant, RecordedSegment } from '../recorded.ts';
import { defineEvent } from './define-event.ts';

const MEETINGS = 'meetings-bot-gateway';

export const JoinAdvancedV1 = defineEvent(
  'meetings.join.advanced.v1',
  z.object({
    join_id: z.string(),
    team_id: z.string(),
    platform: z.string(),
    status: MeetingJoinState,
    fatal_reason: z.string().nullable(),
    at: RecordedTime,
  }),
  { description: 'With every new status of a join. Holds neither the link nor its passcode.', publisher: MEETINGS, consumers: [] },
);

export const RecordingCapturedV1 = defineEvent(
  'meetings.recording.captured.v1',
  z.object({
    bubble_id: z.uuid().meta({ description: 'Derived from the join: the same for every capture of it' }),
    join_id: z.string(),
    team_id: z.string(),
    title: z.string().nullable(),
    created_at: RecordedTime,
    author: RecordedParticipant.meta({ description: 'Who asked for the notetaker first' }),
    participants: z.array(RecordedParticipant),
    platform: z.string(),
    started_at: RecordedTime.nullable(),
    video_url: VideoLink,
    has_audio: z.boolean(),
    duration_seconds: z.number().nonnegative().nullable(),
    segments: z.array(RecordedSegment).nullable().meta({ description: 'Null without a transcript' }),
  }),
  {
    description:
      'Once for each recorded meeting, when its media are kept. It is what a notes generator consumes, with a queue of its own: it writes summary and action items from `segments` and sends `recording.notes.generated.v1` with this `bubble_id`, at a revision of its own that rises with each change; where there is nothing to write (no segments), with null for both. Until then the bubble is shown without notes and is not ready. For the bubble it says details, media and transcript at revision 0: whatever the recording pipeline tells of it later replaces that. It may come more than once, always with the same id.',
    publisher: MEETINGS,
    consumers: ['bubbles-query'],
  },
);
