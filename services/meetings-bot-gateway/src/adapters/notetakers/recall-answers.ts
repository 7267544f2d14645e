import { z } from 'zod';
import { isFinal, type JoinStatus, mayMove, type Snapshot } from '../../domain/join.ts';
import type { Segment } from '../../ports.ts';
import { fatalReasonOf } from './fatal-reasons.ts';

/** Becomes a part of a path. */
const Id = z.string().regex(/^[\w-]{1,100}$/);
const MAX_JOIN_ID = 100;

const State = z.object({ code: z.string() });
const Artifact = z.object({ status: State.nullish(), data: z.object({ download_url: z.string().nullish() }).nullish() }).nullish();
type Artifact = z.infer<typeof Artifact>;

const Recording = z.object({
  started_at: z.string().nullish(),
  completed_at: z.string().nullish(),
  status: State.nullish(),
  media_shortcuts: z
    .object({
      video_mixed: Artifact,
      transcript: Artifact,
      participant_events: z.object({ data: z.object({ participants_download_url: z.string().nullish() }).nullish() }).nullish(),
      meeting_metadata: z.object({ data: z.object({ title: z.string().nullish() }).nullish() }).nullish(),
    })
    .nullish(),
});
export type Recording = z.infer<typeof Recording>;

export const CreatedBot = z.object({ id: Id });
export const Bot = z.object({
  id: Id,
  metadata: z.object({ join_id: z.string().nullish() }).nullish(),
  status_changes: z.array(z.object({ code: z.string(), sub_code: z.string().nullish() })),
  recordings: z.array(Recording).nullish(),
});
export type Bot = z.infer<typeof Bot>;
export const BotPage = z.object({ next: z.string().nullable(), results: z.array(Bot) });

/** Event of current webhooks and of `bot.status_change` in older workspaces. */
const Event = z.object({
  data: z.object({
    bot: z.object({ id: Id, metadata: z.object({ join_id: z.string().max(MAX_JOIN_ID).nullish() }).nullish() }).nullish(),
    bot_id: Id.nullish(),
  }),
});

export const Refusal = z.object({ code: z.string().optional() });
export const People = z.array(z.object({ name: z.string().nullish(), email: z.string().nullish() }));

const Moment = z.object({ relative: z.number() }).nullish();
const Turn = z.object({
  participant: z.object({ name: z.string().nullish() }).nullish(),
  words: z.array(z.object({ text: z.string(), start_timestamp: Moment, end_timestamp: Moment })),
});
export const Turns = z.array(Turn);

/** Codes that are not here tell nothing of the run: Recall adds some without notice. */
const STATUS: ReadonlyMap<string, JoinStatus> = new Map([
  ['ready', 'dispatched'],
  ['joining_call', 'joining'],
  ['in_waiting_room', 'in_waiting_room'],
  ['in_call_not_recording', 'in_call'],
  ['recording_permission_allowed', 'in_call'],
  ['recording_permission_denied', 'in_call'],
  ['in_call_recording', 'recording'],
  ['recording_done', 'recording'],
  ['call_ended', 'done'],
  ['done', 'done'],
  ['fatal', 'fatal'],
]);
/** From then on nothing is added to what it recorded. */
const OVER: readonly string[] = ['done', 'fatal'];

const statusOf = ({ code }: { readonly code: string }): JoinStatus => STATUS.get(code) ?? 'dispatched';

export const snapshotOf = ({ status_changes: changes }: Bot): Snapshot => {
  const furthest = changes.map(statusOf).reduce((most, status) => (mayMove(most, status) ? status : most), 'dispatched');
  const recordedEver = changes.some((change) => statusOf(change) === 'recording');
  const causes = changes.filter((change) => isFinal(statusOf(change))).map((change) => fatalReasonOf(change.sub_code ?? null));
  return {
    status: isFinal(furthest) ? (recordedEver ? 'done' : 'fatal') : furthest,
    reason: causes.find((cause) => cause !== null) ?? null,
    recordedEver,
    isDenied: !recordedEver && changes.some(({ code }) => code === 'recording_permission_denied'),
  };
};

const isOver = ({ status_changes: changes }: Bot): boolean => changes.some(({ code }) => OVER.includes(code));

const isGone = (code: string | undefined): boolean => code === 'failed' || code === 'deleted';

/** The link to a file of a recording; `none` when there is none and never will be. */
export const linkOf = (artifact: Artifact): { readonly link: string } | 'pending' | 'none' => {
  const code = artifact?.status?.code;
  const link = artifact?.data?.download_url;
  if (!artifact || isGone(code)) return 'none';
  if (code !== undefined && code !== 'done') return 'pending';
  return link ? { link } : 'none';
};

/** What it recorded; one that is ready comes first. We begin no second one, so that there are several only when the notetaker came back into the call. */
export const recordingOf = (bot: Bot): Recording | 'pending' | 'none' => {
  const kept = (bot.recordings ?? []).filter(({ status }) => !isGone(status?.code));
  const ready = kept.find(({ status }) => status?.code === 'done');
  if (ready !== undefined) return ready;
  return kept.length > 0 || !isOver(bot) ? 'pending' : 'none';
};

/** The run that a webhook is about; null when it is about none that it names as Recall does. */
export const runOf = (body: unknown): { readonly joinId: string | null; readonly ref: string } | null => {
  const { bot, bot_id } = Event.safeParse(body).data?.data ?? {};
  const ref = bot?.id ?? bot_id;
  return ref ? { joinId: bot?.metadata?.join_id ?? null, ref } : null;
};

const segmentOf = ({ participant, words }: z.infer<typeof Turn>): Segment | null => {
  const [first, last] = [words.at(0), words.at(-1)];
  const text = words
    .map((word) => word.text)
    .join(' ')
    .trim();
  if (text === '' || first === undefined || last === undefined) return null;
  const startSeconds = Math.max(0, first.start_timestamp?.relative ?? first.end_timestamp?.relative ?? 0);
  const endSeconds = last.end_timestamp?.relative ?? last.start_timestamp?.relative ?? startSeconds;
  return { speaker: participant?.name || null, text, startSeconds, endSeconds: Math.max(startSeconds, endSeconds) };
};

export const segmentsOf = (turns: z.infer<typeof Turns>): readonly Segment[] =>
  turns
    .map(segmentOf)
    .filter((segment) => segment !== null)
    .toSorted((left, right) => left.startSeconds - right.startSeconds);
