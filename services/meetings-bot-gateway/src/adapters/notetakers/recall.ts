import type { Clock } from '@bubbles/kernel/clock.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import { createTwoGenerationCache } from '@bubbles/kernel/two-generation-cache.ts';
import { type ZodType, z } from 'zod';
import type { ProviderSettings } from '../../config.ts';
import { isFinal } from '../../domain/join.ts';
import { type DispatchRequest, type Download, type Notetaker, NotetakerError, type Recording as Recorded } from '../../ports.ts';
import { fatalReasonOf } from './fatal-reasons.ts';
import { bytesOf, type ProviderHttp, parsedJson } from './provider-http.ts';
import {
  Bot,
  BotPage,
  CreatedBot,
  linkOf,
  People,
  type Recording,
  Refusal,
  recordingOf,
  runOf,
  segmentsOf,
  snapshotOf,
  Turns,
} from './recall-answers.ts';
import { webhookIdOf } from './standard-webhooks.ts';

interface Options {
  readonly http: ProviderHttp;
  readonly settings: Pick<ProviderSettings, 'webhookSecrets'>;
  readonly transcription: 'recallai_streaming' | 'meeting_captions' | 'none';
  /** For so long a recording is kept unless it is erased before. */
  readonly retentionMs: number;
  readonly download: Download;
  readonly downloadDocument: Download;
  readonly clock: Clock;
  readonly log: Log;
}

const NAME = 'recall';
const BOTS = '/api/v1/bot/';
const HOUR_MS = 3_600_000;
/** Recall remembers an idempotency key for an hour. */
const KEY_MS = HOUR_MS;
const KEYS = 10_000;
/** A notetaker of one join is on the first page; more mean that the filter does nothing. */
const MAX_PAGES = 5;
const NO_BOTS: z.infer<typeof BotPage> = { next: null, results: [] };
const PEOPLE_WAIT_MS = HOUR_MS;
const POOL_EMPTY = 507;
const POOL_RETRY_SECONDS = 30;
const MAX_DOCUMENT_BYTES = 64 * 1024 * 1024;
const PROVIDERS = {
  recallai_streaming: { recallai_streaming: { mode: 'prioritize_accuracy', language_code: 'auto' } },
  meeting_captions: { meeting_captions: {} },
} as const;
/** Fields that the caller's link has no part in. */
const OUR_FIELDS: readonly string[] = ['bot_name', 'metadata', 'recording_config'];

/** Answers that prove that a command was carried out. */
const Done = z.union([CreatedBot, z.strictObject({}), z.null()]);

const pathOf = (ref: string, command = ''): string => `${BOTS}${encodeURIComponent(ref)}/${command}`;

/** Why Recall does not send a bot, by the code or the fields that it names. */
const refusedDispatch = (body: unknown): NotetakerError => {
  const { code = '' } = Refusal.safeParse(body).data ?? {};
  if (code === 'teams_blacklisted_tenant') return new NotetakerError('permanent', fatalReasonOf(code) ?? code);
  const fields = typeof body === 'object' && body !== null ? Object.keys(body) : [];
  const isOurs = fields.some((field) => OUR_FIELDS.includes(field)) && !fields.includes('meeting_url');
  return new NotetakerError('permanent', isOurs ? 'notetaker_error' : 'meeting_link_invalid');
};

const dateOf = (text: string | null | undefined): Date | null => {
  const date = new Date(text ?? Number.NaN);
  return Number.isNaN(date.getTime()) ? null : date;
};

const durationOf = (started: Date | null, completed: Date | null): number | null =>
  started === null || completed === null ? null : Math.max(0, (completed.getTime() - started.getTime()) / 1000);

/** Sends bots, and never two for one join. */
const createDispatch = ({
  http,
  transcription,
  retentionMs,
  clock,
}: Omit<Options, 'settings' | 'download' | 'downloadDocument' | 'log'>) => {
  /** The last key of a join that Recall has answered for good, and would answer so again. */
  const spent = createTwoGenerationCache<number>(KEY_MS, KEYS);

  const found = async ({ joinId }: Pick<DispatchRequest, 'joinId'>): Promise<string | null> => {
    let ended: string | null = null;
    for (let page = 1; page <= MAX_PAGES; page += 1) {
      const path = `${BOTS}?metadata__join_id=${encodeURIComponent(joinId)}&page=${page}`;
      const answer = await http.call({ name: 'list bots', method: 'GET', path, schema: BotPage });
      const { next, results } = answer.refused ? NO_BOTS : answer.value;
      // A filter that does nothing lists the bots of others.
      const own = results.filter((bot) => bot.metadata?.join_id === joinId);
      const live = own.find((bot) => !isFinal(snapshotOf(bot).status));
      if (live !== undefined) return live.id;
      ended ??= own[0]?.id ?? null;
      if (next === null) return ended;
    }
    throw new NotetakerError('transient', 'notetaker_error');
  };

  const create = async ({ joinId, meetingUrl, botName, tries }: DispatchRequest): Promise<string> => {
    const body = {
      meeting_url: meetingUrl,
      bot_name: botName,
      metadata: { join_id: joinId },
      recording_config: {
        ...(transcription !== 'none' && { transcript: { provider: PROVIDERS[transcription] } }),
        retention: { type: 'timed', hours: Math.max(1, Math.ceil(retentionMs / HOUR_MS)) },
      },
    };
    // A key whose answer is not known is used again: its bot may be on its way. After a restart they are all tried once more.
    for (let key = (spent.get(joinId, clock.monotonic()) ?? -1) + 1; ; key += 1) {
      const headers = { 'idempotency-key': `${joinId}:${key}` };
      const reads = [400, 500, POOL_EMPTY];
      const answer = await http.call({ name: 'create bot', method: 'POST', path: BOTS, headers, body, schema: CreatedBot, reads });
      if (!answer.refused) return answer.value.id;
      if (answer.status === 400) throw refusedDispatch(answer.body);
      spent.set(joinId, key, clock.monotonic());
      if (answer.status !== POOL_EMPTY || key >= tries)
        throw new NotetakerError('transient', 'notetaker_unavailable', {
          retryAfterSeconds: answer.retryAfterSeconds ?? POOL_RETRY_SECONDS,
        });
    }
  };

  return {
    find: found,
    async dispatch(request: DispatchRequest) {
      // A first call that was made before is answered as then, by its key.
      const ref = request.tries === 0 ? null : await found(request);
      return ref === null ? { ref: await create(request), adopted: false } : { ref, adopted: true };
    },
  };
};

/** Reads what bots recorded. */
const createReading = ({ http, download, downloadDocument, clock, log }: Omit<Options, 'settings' | 'transcription' | 'retentionMs'>) => {
  const get = async (ref: string): Promise<Bot | null> => {
    const answer = await http.call({ name: 'get bot', method: 'GET', path: pathOf(ref), schema: Bot, reads: [404] });
    if (answer.refused) return null;
    // A cache in between may mix answers up.
    if (answer.value.id !== ref) throw new NotetakerError('transient', 'notetaker_error');
    return answer.value;
  };
  const recordingIn = async (ref: string): Promise<Recording | 'pending' | 'none'> => {
    const bot = await get(ref);
    return bot === null ? 'none' : recordingOf(bot);
  };
  /** Links are signed, and take no key. */
  const documentAt = async <T>(link: string, schema: ZodType<T>): Promise<T | null> => {
    const { bytes } = await downloadDocument(link);
    return schema.safeParse(parsedJson((await bytesOf(bytes, MAX_DOCUMENT_BYTES)).toString())).data ?? null;
  };
  /** A recording does not wait for the list of its people for ever. */
  const peopleIn = async ({ completed_at, media_shortcuts }: Recording): Promise<Recorded['participants']> => {
    const link = media_shortcuts?.participant_events?.data?.participants_download_url;
    if (!link) return [];
    try {
      const people = (await documentAt(link, People)) ?? [];
      return people.map(({ name, email }) => ({ name: name || null, email: email || null }));
    } catch (error) {
      const completedAt = dateOf(completed_at);
      if (completedAt !== null && clock.now().getTime() - completedAt.getTime() < PEOPLE_WAIT_MS) throw error;
      log.warn('participants not read', { provider: NAME, error });
      return [];
    }
  };
  /** By a fresh link each time: they expire. */
  const open = (ref: string) => async () => {
    const recording = await recordingIn(ref);
    const video = typeof recording === 'string' ? recording : linkOf(recording.media_shortcuts?.video_mixed);
    if (typeof video === 'string') throw new NotetakerError(video === 'pending' ? 'transient' : 'permanent', 'recording_gone');
    return download(video.link);
  };

  return {
    async snapshot(ref: string) {
      const bot = await get(ref);
      return bot && snapshotOf(bot);
    },
    async recording(ref: string): Promise<Recorded | 'pending' | 'none'> {
      const recording = await recordingIn(ref);
      if (typeof recording === 'string') return recording;
      const video = linkOf(recording.media_shortcuts?.video_mixed);
      if (video === 'pending') return video;
      const [startedAt, completedAt] = [dateOf(recording.started_at), dateOf(recording.completed_at)];
      return {
        title: recording.media_shortcuts?.meeting_metadata?.data?.title || null,
        startedAt,
        durationSeconds: durationOf(startedAt, completedAt),
        participants: await peopleIn(recording),
        open: video === 'none' ? null : open(ref),
      };
    },
    async transcript(ref: string) {
      const recording = await recordingIn(ref);
      if (typeof recording === 'string') return recording;
      const transcript = linkOf(recording.media_shortcuts?.transcript);
      if (typeof transcript === 'string') return transcript;
      const turns = await documentAt(transcript.link, Turns);
      if (turns === null) throw new NotetakerError('transient', 'transcript_unreadable');
      return segmentsOf(turns);
    },
  };
};

/** Recall.ai, https://docs.recall.ai, version 1.11 of its API. */
export const createRecall = (options: Options): Notetaker => {
  const { http, settings, clock } = options;
  const command = async (
    ref: string,
    { name, reads }: { readonly name: 'leave_call' | 'delete_media'; readonly reads: readonly number[] },
  ) => http.call({ name, method: 'POST', path: pathOf(ref, `${name}/`), schema: Done, reads });

  return {
    name: NAME,
    ...createDispatch(options),
    ...createReading(options),
    async leave(ref) {
      const answer = await command(ref, { name: 'leave_call', reads: [400, 404] });
      if (!answer.refused || answer.status === 404) return;
      const { code } = Refusal.safeParse(answer.body).data ?? {};
      if (code === 'cannot_command_completed_bot') return;
      if (code !== 'cannot_command_unstarted_bot') throw new NotetakerError('permanent', 'notetaker_error');
      const dropped = await http.call({ name: 'delete bot', method: 'DELETE', path: pathOf(ref), schema: Done, reads: [404, 405] });
      // It has begun meanwhile, and can be told to leave from now on.
      if (dropped.refused && dropped.status === 405) throw new NotetakerError('transient', 'notetaker_error');
    },
    async erase(ref) {
      await command(ref, { name: 'delete_media', reads: [404] });
    },
    verify(webhook) {
      const id = webhookIdOf(webhook, { secrets: settings.webhookSecrets, now: clock.now() });
      if (id === null) return null;
      const run = runOf(parsedJson(Buffer.from(webhook.body).toString()));
      return { id, joinId: run?.joinId ?? null, ref: run?.ref ?? null };
    },
  };
};
