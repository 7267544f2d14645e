import type { Clock } from '@bubbles/kernel/clock.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import { z } from 'zod';
import type { ProviderSettings } from '../../config.ts';
import type { MeetingPlatform } from '../../domain/meeting-link.ts';
import {
  type DispatchRequest,
  type Download,
  type MediaFile,
  type Notetaker,
  NotetakerError,
  type Recording,
  type Segment,
} from '../../ports.ts';
import {
  Bot,
  DATA_DELETED,
  hasRecorded,
  isGone,
  isQuiet,
  isSettled,
  recordedSpan,
  segmentsOf,
  snapshotOf,
  transcriptState,
  Utterances,
} from './attendee-run.ts';
import { verifyAttendeeWebhook } from './attendee-webhook.ts';
import type { ProviderCall, ProviderHttp } from './provider-http.ts';

interface Options {
  readonly http: ProviderHttp;
  readonly download: Download;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: Pick<ProviderSettings, 'webhookSecrets'>;
}

const NAME = 'attendee';
const SERVED: ReadonlySet<MeetingPlatform> = new Set(['google_meet', 'microsoft_teams', 'zoom']);
const BOTS = '/api/v1/bots';
const BAD_REQUEST = 400;
const NOT_FOUND = 404;
/** Pages have 25 rows. A longer list counts as an invalid answer. */
const MAX_PAGES = 40;
const TRANSCRIPT_BYTES = 32 * 1024 * 1024;

const ofBot = (ref: string, rest = ''): string => `${BOTS}/${encodeURIComponent(ref)}${rest}`;
const text = z.string().nullable().catch(null);
const Page = z.object({ results: z.array(z.unknown()), next: text });
const ListedBot = Bot.and(z.object({ deduplication_key: text, metadata: z.object({ join_id: text }).nullable().catch(null) }));
const ListedParticipant = z.object({ name: text });
const StoredRecording = z.object({
  url: z.string().min(1),
  start_timestamp_ms: z.number().int().min(1).max(8.64e15).nullable().catch(null),
});
const Refusal = z.object({ error: z.string().catch(''), meeting_url: z.unknown().optional() }).catch({ error: '' });

const transient = () => new NotetakerError('transient', 'notetaker_unavailable');
const permanent = (reason: string) => new NotetakerError('permanent', reason);

const DUPLICATE = 'Deduplication key already in use';
/** All of them come with 400: only how the text begins tells them apart. */
const REFUSALS: readonly (readonly [string, () => NotetakerError])[] = [
  [DUPLICATE, transient],
  ['You have exceeded the maximum number of concurrent bots', transient],
  ['Organization has run out of credits', transient],
  ['An error occurred while creating the bot', transient],
  ['A bot for this meeting was created or ended concurrently', transient],
  ['Zoom App credentials are required', () => permanent('zoom_authorization_required')],
];

const faultOf = (body: unknown): NotetakerError => {
  const { error, meeting_url } = Refusal.parse(body);
  if (meeting_url !== undefined) return permanent('meeting_link_invalid');
  const [, fault] = REFUSALS.find(([start]) => error.startsWith(start)) ?? [];
  return fault?.() ?? permanent('notetaker_error');
};

/** `next` is a link with the provider's own idea of its address: only the position is taken from it. */
const cursorOf = (next: string | null): string | null => (next === null ? null : (URL.parse(next)?.searchParams.get('cursor') ?? null));

/** Reads from an Attendee; null for a bot that it does not know. */
const reader = (http: ProviderHttp) => {
  const orNull = async <T>(call: Pick<ProviderCall<T>, 'name' | 'path' | 'schema' | 'maxBytes'>): Promise<T | null> => {
    const answer = await http.call({ ...call, method: 'GET', reads: [NOT_FOUND] });
    return answer.refused ? null : answer.value;
  };

  /** What `pick` makes of all rows. */
  const pages = async <T>(name: string, path: string, pick: (row: unknown) => readonly T[]): Promise<readonly T[]> => {
    let picked: T[] = [];
    let query = '';
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const answer = await orNull({ name, path: `${path}${query}`, schema: Page });
      picked = picked.concat(answer?.results.flatMap(pick) ?? []);
      const cursor = cursorOf(answer?.next ?? null);
      if (cursor === null) return picked;
      query = `${path.includes('?') ? '&' : '?'}cursor=${encodeURIComponent(cursor)}`;
    }
    throw transient();
  };

  return {
    bot: (ref: string) => orNull({ name: 'read bot', path: ofBot(ref), schema: Bot }),
    recording: (ref: string) => orNull({ name: 'read recording', path: ofBot(ref, '/recording'), schema: StoredRecording }),
    utterances: (ref: string) =>
      orNull({ name: 'read transcript', path: ofBot(ref, '/transcript'), schema: Utterances, maxBytes: TRANSCRIPT_BYTES }),
    async participants(ref: string): Promise<Recording['participants']> {
      const names = await pages('list participants', ofBot(ref, '/participants'), (row) => {
        const { name = null } = ListedParticipant.safeParse(row).data ?? {};
        return name === null ? [] : [name];
      });
      return [...new Set(names)].map((name) => ({ name, email: null }));
    },
    /** The run of a join: the one that is not over, else the last one. */
    async ofJoin(joinId: string): Promise<Bot | null> {
      const bots = await pages('list bots', `${BOTS}?deduplication_key=${encodeURIComponent(joinId)}`, (row) => {
        const { data } = ListedBot.safeParse(row);
        // Versions that do not know the filter list all bots.
        return data?.deduplication_key === joinId || data?.metadata?.join_id === joinId ? [data] : [];
      });
      return bots.find((bot) => !isGone(bot)) ?? bots.at(-1) ?? null;
    },
  };
};

/** Sends bots, and tells them what to do. */
const sender = (http: ProviderHttp, read: ReturnType<typeof reader>) => {
  const create = async ({ joinId, meetingUrl, botName }: DispatchRequest): Promise<{ readonly ref: string; readonly adopted: boolean }> => {
    const body = { meeting_url: meetingUrl, bot_name: botName, metadata: { join_id: joinId }, deduplication_key: joinId };
    const answer = await http.call({ name: 'create bot', method: 'POST', path: BOTS, body, schema: Bot, reads: [BAD_REQUEST] });
    if (!answer.refused) return { ref: answer.value.id, adopted: false };
    const isDuplicate = Refusal.parse(answer.body).error.startsWith(DUPLICATE);
    const other = isDuplicate ? await read.ofJoin(joinId) : null;
    if (other === null) throw faultOf(answer.body);
    return { ref: other.id, adopted: true };
  };

  return {
    async dispatch(request: DispatchRequest) {
      if (!SERVED.has(request.platform)) throw permanent('platform_not_supported');
      // Its own guard forgets a run that has ended, and it counts a run whose answer was lost against its limit.
      const known = await read.ofJoin(request.joinId);
      return known === null ? create(request) : { ref: known.id, adopted: true };
    },
    /** What a bot refuses, since it is in no state for it, is done when `isDone`. */
    async tell(ref: string, action: 'leave' | 'delete_data', isDone: (bot: Bot) => boolean): Promise<void> {
      const path = ofBot(ref, `/${action}`);
      const answer = await http.call({ name: action, method: 'POST', path, schema: z.object({}), reads: [BAD_REQUEST, NOT_FOUND] });
      if (!answer.refused || answer.status === NOT_FOUND) return;
      const bot = await read.bot(ref);
      if (bot !== null && !isDone(bot)) throw transient();
    },
  };
};

/** What is kept of runs. */
const keeper = (read: ReturnType<typeof reader>, { download, clock, log }: Omit<Options, 'http' | 'settings'>) => {
  const startOf = (stored: z.infer<typeof StoredRecording> | null, bot: Bot): Date | null => {
    const startedMs = stored?.start_timestamp_ms ?? null;
    return startedMs === null ? recordedSpan(bot).startedAt : new Date(startedMs);
  };
  const spoken = async (bot: Bot): Promise<readonly Segment[]> => {
    const utterances = (await read.utterances(bot.id)) ?? [];
    return utterances.length === 0 ? [] : segmentsOf(utterances, startOf(await read.recording(bot.id), bot));
  };
  /** A recording does not wait for the list of its people for ever. */
  const peopleOf = async (bot: Bot): Promise<Recording['participants']> => {
    try {
      return await read.participants(bot.id);
    } catch (error) {
      if (!isQuiet(bot, clock.now())) throw error;
      log.warn('participants not read', { provider: NAME, error });
      return [];
    }
  };
  /** Its links end after half an hour, so that each try takes a new one. */
  const open = async (ref: string): Promise<MediaFile> => {
    const stored = await read.recording(ref);
    if (stored === null) throw transient();
    return download(stored.url);
  };

  return {
    async recording(ref: string): Promise<Recording | 'pending' | 'none'> {
      const bot = await read.bot(ref);
      if (bot === null) return 'none';
      const isOver = isSettled(bot, clock.now());
      if (isOver && !hasRecorded(bot)) return 'none';
      const stored = await read.recording(ref);
      if (stored === null && !isOver) return 'pending';
      // A run that was to make no file, or lost it, may still have what was said.
      if (stored === null && (await spoken(bot)).length === 0) return 'none';
      return {
        title: null,
        startedAt: startOf(stored, bot),
        durationSeconds: recordedSpan(bot).durationSeconds,
        participants: await peopleOf(bot),
        open: stored === null ? null : () => open(ref),
      };
    },
    async transcript(ref: string): Promise<readonly Segment[] | 'pending' | 'none'> {
      const bot = await read.bot(ref);
      if (bot === null) return 'none';
      const state = transcriptState(bot, clock.now());
      return state === 'ready' ? spoken(bot) : state;
    },
  };
};

/** Notetakers of an Attendee (https://docs.attendee.dev). */
export const createAttendee = ({ http, settings, ...options }: Options): Required<Notetaker> => {
  const read = reader(http);
  const { dispatch, tell } = sender(http, read);
  const { recording, transcript } = keeper(read, options);
  return {
    name: NAME,
    dispatch,
    find: async ({ joinId }) => (await read.ofJoin(joinId))?.id ?? null,
    async snapshot(ref) {
      const bot = await read.bot(ref);
      return bot && snapshotOf(bot);
    },
    leave: (ref) => tell(ref, 'leave', isGone),
    erase: (ref) => tell(ref, 'delete_data', ({ state }) => state === DATA_DELETED),
    recording,
    transcript,
    verify: (webhook) => verifyAttendeeWebhook(webhook, settings.webhookSecrets),
  };
};
