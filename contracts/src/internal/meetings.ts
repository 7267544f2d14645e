import { z } from 'zod';
import { CallerId, Timestamp } from '../api/fields.ts';
import { MeetingJoinState } from '../api/meeting-join.ts';
import { RecordedSegment } from '../recorded.ts';

/**
 * `/internal/v1/admin/notetakers`, operator → meetings-bot-gateway: what the simulated provider was asked, and what it is to report. Only where the
 * simulator serves a platform.
 *
 * - `GET notetakers` → NotetakerRuns, oldest first
 * - `POST notetakers/{join_id}` NotetakerReport → MovedJoin
 */
export const NotetakerRun = z.object({
  join_id: z.string(),
  meeting_url: z.string().nullable().meta({ description: 'Null when it was erased, a day after the request and once the join is over' }),
  team_id: z.string(),
  requested_at: Timestamp,
  left_at: Timestamp.nullable(),
});
export const NotetakerRuns = z.object({ runs: z.array(NotetakerRun) });

const REPORTED = MeetingJoinState.exclude(['dispatched']);
/** A person as the provider names them; only the address identifies an account. */
const NamedPerson = z.object({ name: z.string().nullable(), email: z.string().nullable() });

export const NotetakerReport = z.object({
  status: REPORTED,
  fatal_reason: z
    .string()
    .regex(/^[a-z0-9_]{1,64}$/, 'must be 1 to 64 lower-case letters, digits or underscores')
    .nullable()
    .default(null),
  title: z.string().max(1000).nullable().default(null),
  participants: z.array(NamedPerson).max(500).default([]),
  /** Null for a recording without a transcript. */
  segments: z.array(RecordedSegment).max(20_000).nullable().default(null),
  duration_seconds: z.number().nonnegative().nullable().default(null),
  has_video: z.boolean().default(true).meta({ description: 'Whether the recording has a file: a small one that is made up' }),
});
export type NotetakerReport = z.output<typeof NotetakerReport>;

export const ReportedJoin = z.object({
  join_id: z.string(),
  status: MeetingJoinState,
  team_id: z.string(),
  platform: z.string(),
  /** Ids of the accounts that asked for the notetaker, in order. */
  requester_ids: z.array(CallerId),
  /** Id of the bubble that its recording becomes; null before `done`. */
  bubble_id: z.string().nullable(),
});

export const MovedJoin = ReportedJoin.extend({
  video_url: z.string().nullable().meta({ description: 'Of the file that its recording comes with; null before `done`' }),
});

/**
 * `/internal/v1/admin/joins`, operator → meetings-bot-gateway: joins with what is to be done for them next, never with link or passcode.
 *
 * - `GET stuck-joins` → AdminJoins: whose work has failed three times in a row, or waits for five minutes, the one that waits longest first
 * - `GET accounts/{user_id}/joins` → AdminJoins: the 200 newest that an account asked for
 * - `DELETE joins/{join_id}` → AdminJoin
 */
export const AdminJoin = ReportedJoin.extend({
  bubble_id: z.string().nullable().meta({ description: 'The bubble that the recording became; null before it was captured' }),
  fatal_reason: z.string().nullable(),
  provider: z.string().nullable().meta({ description: 'Null when none serves the platform' }),
  work: z.enum(['dispatch', 'watch', 'leave', 'capture', 'erase', 'refund']).nullable().meta({ description: 'What is done for it next' }),
  due_at: Timestamp.meta({ description: 'Of the work' }),
  failed_tries: z.number().meta({ description: 'Of the work, in a row' }),
  created_at: Timestamp,
  updated_at: Timestamp,
});
export const AdminJoins = z.object({ joins: z.array(AdminJoin) });
