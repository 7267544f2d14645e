import { z } from 'zod';
import type { JoinStatus, Snapshot } from '../../domain/join.ts';
import type { Segment } from '../../ports.ts';
import { fatalReasonOf } from './fatal-reasons.ts';

const text = z.string().nullable().catch(null);
const time = z
  .string()
  .transform((iso) => new Date(iso))
  .refine((date) => !Number.isNaN(date.getTime()));

const BotEvent = z.object({ type: z.string(), sub_type: text, created_at: time });
type BotEvent = z.infer<typeof BotEvent>;

export const Bot = z.object({
  /** Becomes a part of paths. */
  id: z.string().regex(/^[\w-]{1,100}$/),
  state: z.string(),
  /** In the order in which they happened. */
  events: z.array(BotEvent).transform((events) => events.toSorted((left, right) => left.created_at.getTime() - right.created_at.getTime())),
  recording_state: text,
  transcription_state: text,
});
export type Bot = z.infer<typeof Bot>;

/** What a state is at the least. Those that are absent, also ones that are not known yet, tell nothing: what happened before counts. */
const STATES: ReadonlyMap<string, JoinStatus> = new Map([
  ['ready', 'dispatched'],
  ['scheduled', 'dispatched'],
  ['staged', 'dispatched'],
  ['joining', 'joining'],
  ['waiting_room', 'in_waiting_room'],
  ['joined_not_recording', 'in_call'],
  ['joined_recording_permission_denied', 'in_call'],
  ['joined_recording', 'recording'],
  ['joined_recording_paused', 'recording'],
  ['joining_breakout_room', 'in_call'],
  ['leaving_breakout_room', 'in_call'],
]);
/** From the first step to the last. */
const STEPS: readonly (readonly [string, JoinStatus])[] = [
  ['join_requested', 'joining'],
  ['put_in_waiting_room', 'in_waiting_room'],
  ['joined_meeting', 'in_call'],
  ['recording_permission_granted', 'recording'],
];
const ORDER: readonly JoinStatus[] = ['dispatched', ...STEPS.map(([, status]) => status)];
const RECORDED: ReadonlySet<string | null> = new Set(['in_progress', 'paused', 'complete']);
const LEFT: ReadonlySet<string> = new Set(['post_processing', 'ended', 'fatal_error']);
/** Nothing changes after these. */
const FINAL: ReadonlySet<string> = new Set(['ended', 'fatal_error']);
export const DATA_DELETED = 'data_deleted';
const LEAVING = 'leaving';
/** What is not there for this long after the last event never comes: a notetaker may hang in any state. */
const SETTLED_AFTER_MS = 60 * 60_000;
const DENIED = 'recording_permission_denied';

const wordOf = ({ type, sub_type }: BotEvent): string | null => sub_type ?? (type === 'meeting_ended' ? type : null);

/** The first cause wins, but for a fault, which tells its own. */
const reasonOf = ({ state, events }: Bot): string | null => {
  const words = events.flatMap((event) => wordOf(event) ?? []);
  return fatalReasonOf((state === 'fatal_error' ? words.at(-1) : words[0]) ?? null);
};

/** How far it came. */
const reachedOf = ({ state, events, recording_state }: Bot): JoinStatus => {
  if (RECORDED.has(recording_state)) return 'recording';
  const happened = STEPS.findLastIndex(([type]) => events.some((event) => event.type === type));
  const least = ORDER.indexOf(STATES.get(state) ?? 'dispatched');
  return ORDER[Math.max(least, happened + 1)] ?? 'dispatched';
};

export const hasRecorded = (bot: Bot): boolean => reachedOf(bot) === 'recording';
/** No call lets it leave: it has left, or is about to. */
export const isGone = ({ state }: Bot): boolean => state === LEAVING || LEFT.has(state) || state === DATA_DELETED;
/** Nothing has happened to it for so long that nothing more is waited for. */
export const isQuiet = ({ events }: Bot, now: Date): boolean => {
  const last = events.at(-1);
  return last !== undefined && now.getTime() - last.created_at.getTime() >= SETTLED_AFTER_MS;
};
/** Whether all that will ever be there of it is there. */
export const isSettled = (bot: Bot, now: Date): boolean =>
  FINAL.has(bot.state) || bot.state === DATA_DELETED || (isGone(bot) && isQuiet(bot, now));

/** Null when it tells nothing any more. */
export const snapshotOf = (bot: Bot): Snapshot | null => {
  if (bot.state === DATA_DELETED) return null;
  const recordedEver = hasRecorded(bot);
  const reason = reasonOf(bot);
  if (LEFT.has(bot.state)) return { status: recordedEver ? 'done' : 'fatal', reason, recordedEver };
  const isDenied = !recordedEver && bot.events.some((event) => fatalReasonOf(event.sub_type) === DENIED);
  return { status: reachedOf(bot), reason: null, recordedEver, isDenied, isLeaving: bot.state === LEAVING };
};

/** When it began to record, and for how long it did; each null when it is not known. */
export const recordedSpan = ({ events }: Bot): { readonly startedAt: Date | null; readonly durationSeconds: number | null } => {
  const startedAt = events.find(({ type }) => type === 'recording_permission_granted')?.created_at ?? null;
  const endedAt = events.find(({ type }) => type === 'meeting_ended' || type === 'left_meeting' || type === 'fatal_error')?.created_at;
  if (startedAt === null || endedAt === undefined) return { startedAt, durationSeconds: null };
  return { startedAt, durationSeconds: Math.max(0, (endedAt.getTime() - startedAt.getTime()) / 1000) };
};

/** `none`: nobody was asked to transcribe. */
export const transcriptState = (bot: Bot, now: Date): 'ready' | 'pending' | 'none' => {
  if (bot.state === DATA_DELETED) return 'none';
  if (!isSettled(bot, now)) return 'pending';
  if (bot.transcription_state === 'not_started') return 'none';
  // A failed one still has what was recognised.
  const isFinished = bot.transcription_state === 'complete' || bot.transcription_state === 'failed';
  return isFinished || isQuiet(bot, now) ? 'ready' : 'pending';
};

export const Utterances = z.array(
  z.object({
    speaker_name: text,
    timestamp_ms: z.number(),
    duration_ms: z.number().catch(0),
    // Older versions have a plain string.
    transcription: z.union([z.string(), z.object({ transcript: z.string() }).transform(({ transcript }) => transcript)]).catch(''),
  }),
);

/** Times above it are counted since 1970, those below it since the recording began. */
const OFFSETS_BELOW_MS = 1e11;

export const segmentsOf = (utterances: z.infer<typeof Utterances>, startedAt: Date | null): readonly Segment[] => {
  const times = utterances.map(({ timestamp_ms }) => timestamp_ms);
  const zero = startedAt?.getTime() ?? times.reduce((least, one) => Math.min(least, one), Number.POSITIVE_INFINITY);
  return utterances
    .filter(({ transcription }) => transcription.trim() !== '')
    .map(({ speaker_name, timestamp_ms, duration_ms, transcription }) => {
      const startMs = Math.max(0, timestamp_ms > OFFSETS_BELOW_MS ? timestamp_ms - zero : timestamp_ms);
      const endMs = startMs + Math.max(0, duration_ms);
      return { speaker: speaker_name?.trim() || null, text: transcription, startSeconds: startMs / 1000, endSeconds: endMs / 1000 };
    })
    .sort((left, right) => left.startSeconds - right.startSeconds || ((left.speaker ?? '') < (right.speaker ?? '') ? -1 : 1));
};
