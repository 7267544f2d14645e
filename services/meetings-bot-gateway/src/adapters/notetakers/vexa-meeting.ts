import { z } from 'zod';
import type { JoinStatus, Snapshot } from '../../domain/join.ts';
import { parseMeetingLink } from '../../domain/meeting-link.ts';
import type { Segment } from '../../ports.ts';
import { fatalReasonOf } from './fatal-reasons.ts';

interface NativeMeeting {
  readonly platform: string;
  readonly native_meeting_id: string;
  readonly passcode?: string;
}

/** By the first words of our key. Each form of a link becomes an id of its own: two meetings with one id would share a notetaker. */
const NATIVE: readonly (readonly [RegExp, string, (...parts: readonly string[]) => string])[] = [
  [/^google_meet:(.+)$/, 'google_meet', (code) => code],
  [/^zoom:zoom\.us:(\d+)$/, 'zoom', (id) => id],
  // Meetings of another cloud and personal links: Vexa opens the whole link and uses the id as a name.
  [/^zoom:([^:]+):(\d+)$/, 'zoom', (cloud, id) => `${id}@${cloud}`],
  [/^zoom:([^:]+):my:(.+)$/, 'zoom', (cloud, name) => `my.${name}@${cloud}`],
  [/^microsoft_teams:meet:(\d+)$/, 'teams', (id) => id],
  [/^microsoft_teams:live:(\d+)$/, 'teams', (id) => `${id}@teams.live.com`],
  [/^microsoft_teams:(19:.+)\/0$/, 'teams', (thread) => thread],
  // A meeting of a channel begins with a message in it.
  [/^microsoft_teams:(19:.+)\/(\d+)$/, 'teams', (thread, message) => `${thread}.${message}`],
];

/** How Vexa names the meeting of a rebuilt link; null when it serves no such meetings. */
export const nativeMeeting = (meetingUrl: string): NativeMeeting | null => {
  const link = parseMeetingLink(meetingUrl);
  if ('refused' in link) return null;
  for (const [pattern, platform, idOf] of NATIVE) {
    const parts = pattern.exec(link.key);
    if (parts === null) continue;
    const { searchParams } = new URL(link.url);
    const passcode = searchParams.get('pwd') ?? searchParams.get('p');
    return { platform, native_meeting_id: idOf(...parts.slice(1)), ...(passcode !== null && { passcode }) };
  }
  return null;
};

const text = z.string().nullable().catch(null);
/** Some of its times are without an offset, which means UTC. */
const OFFSET = /(?:z|[+-]\d\d:?\d\d)$/i;
const time = z
  .string()
  .transform((iso) => new Date(OFFSET.test(iso) ? iso : `${iso}Z`))
  .refine((date) => !Number.isNaN(date.getTime()))
  .nullable()
  .catch(null);
/** Whole numbers today. It becomes a part of paths. */
export const VexaId = z
  .union([z.number().int(), z.string()])
  .transform(String)
  .pipe(z.string().regex(/^[\w-]{1,100}$/));

export const Meeting = z
  .object({
    id: VexaId,
    platform: z.string().min(1),
    native_meeting_id: text,
    status: z.string(),
    start_time: time,
    end_time: time,
    updated_at: time,
    completion_reason: text,
    failure_stage: text,
    data: z
      .object({
        completion_reason: text,
        failure_stage: text,
        title: text,
        recording_enabled: z.boolean().catch(true),
        transcribe_enabled: z.boolean().catch(true),
        status_transition: z.array(z.object({ to: text })).catch([]),
      })
      .nullable()
      .catch(null),
  })
  .transform(({ completion_reason, failure_stage, data, ...meeting }) => ({
    ...meeting,
    title: data?.title ?? null,
    completionReason: completion_reason ?? data?.completion_reason ?? null,
    failureStage: failure_stage ?? data?.failure_stage ?? null,
    isRecorded: data?.recording_enabled ?? true,
    isTranscribed: data?.transcribe_enabled ?? true,
    passed: (data?.status_transition ?? []).map(({ to }) => to),
  }));
export type Meeting = z.infer<typeof Meeting>;

const ACTIVE = 'active';
const STOPPING = 'stopping';
const STATES: ReadonlyMap<string, JoinStatus> = new Map([
  ['joining', 'joining'],
  ['awaiting_admission', 'in_waiting_room'],
  ['needs_help', 'in_waiting_room'],
  ['needs_human_help', 'in_waiting_room'],
]);
const ORDER: readonly JoinStatus[] = ['joining', 'in_waiting_room'];
const COMPLETED = 'completed';
const FAILED = 'failed';

/** Ends of runs that were never let in. */
const NEVER_ADMITTED: ReadonlySet<string | null> = new Set([
  'awaiting_admission_timeout',
  'awaiting_admission_rejected',
  'auth_session_missing',
  'validation_error',
  'join_failure',
  'stopped_before_admission',
]);
const WAITING_STAGE = 'awaiting_admission';

const reasonOf = ({ completionReason, failureStage }: Meeting): string => {
  const isFault = completionReason === null || completionReason === 'join_failure';
  // Many that are told as failures to join waited for admission until the end.
  if (isFault && failureStage === WAITING_STAGE) return 'waiting_room_timeout';
  return fatalReasonOf(completionReason) ?? 'notetaker_error';
};

/** Older versions do not tell what a run went through: there the time of its start does. */
const wasActive = ({ status, passed, start_time, completionReason }: Meeting): boolean => {
  if (status === ACTIVE || passed.includes(ACTIVE)) return true;
  return passed.length === 0 && start_time !== null && !NEVER_ADMITTED.has(completionReason);
};

export const isOver = ({ status }: Meeting): boolean => status === COMPLETED || status === FAILED;
/** A notetaker is in the call, or on its way. */
export const isLive = (meeting: Meeting): boolean =>
  !isOver(meeting) && meeting.status !== 'idle' && meeting.status !== 'scheduled' && meeting.status !== STOPPING;
export const hasRecorded = (meeting: Meeting): boolean => wasActive(meeting) && meeting.isRecorded;

export const snapshotOf = (meeting: Meeting): Snapshot => {
  const recordedEver = hasRecorded(meeting);
  if (isOver(meeting) && recordedEver) return { status: 'done', reason: null, recordedEver };
  if (isOver(meeting)) return { status: 'fatal', reason: reasonOf(meeting), recordedEver };
  const sofar = { reason: null, recordedEver, isLeaving: meeting.status === STOPPING };
  // One state stands for both.
  if (wasActive(meeting)) return { ...sofar, status: recordedEver ? 'recording' : 'in_call' };
  const reached = new Set([meeting.status, ...meeting.passed].map((state) => STATES.get(state ?? '')));
  return { ...sofar, status: ORDER.findLast((status) => reached.has(status)) ?? 'dispatched' };
};

export const Transcript = z.object({
  id: VexaId.nullable().catch(null),
  segments: z.array(
    z.object({
      segment_id: text,
      speaker: text,
      text: z.string().catch(''),
      start: z.number(),
      end: z.number(),
      completed: z.boolean().nullable().catch(null),
      source: text,
    }),
  ),
});

/** Drafts, and what was written in the chat, are no speech. Of one id the last one counts. */
export const segmentsOf = ({ segments }: z.infer<typeof Transcript>): readonly Segment[] => {
  const spoken = segments.filter(({ completed, source, text: words }) => completed !== false && source !== 'chat' && words.trim() !== '');
  const byId = new Map(spoken.map((segment, index) => [segment.segment_id ?? index, segment]));
  return [...byId.values()]
    .map(({ speaker, text: words, start, end }) => {
      const startSeconds = Math.max(0, start);
      return { speaker: speaker?.trim() || null, text: words, startSeconds, endSeconds: Math.max(startSeconds, end) };
    })
    .sort((left, right) => left.startSeconds - right.startSeconds);
};
