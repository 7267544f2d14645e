import type { Clock } from '@bubbles/kernel/clock.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import { z } from 'zod';
import type { ProviderSettings } from '../../config.ts';
import {
  type DispatchRequest,
  type Download,
  type MediaFile,
  type Notetaker,
  NotetakerError,
  type Recording,
  type Segment,
} from '../../ports.ts';
import type { ProviderHttp } from './provider-http.ts';
import { hasRecorded, isLive, isOver, Meeting, nativeMeeting, segmentsOf, snapshotOf, Transcript, VexaId } from './vexa-meeting.ts';
import { verifyVexaWebhook } from './vexa-webhook.ts';

interface Options {
  readonly http: ProviderHttp;
  readonly settings: ProviderSettings;
  readonly download: Download;
  readonly clock: Clock;
  readonly log: Log;
}

const NAME = 'vexa';
const KEY_HEADER = 'x-api-key';
const NOT_FOUND = 404;
const CONFLICT = 409;
const UNPROCESSABLE = 422;
const PAGE_ROWS = 100;
/** A list that goes on after them is no answer. */
const MAX_PAGES = 20;
const MAX_BYTES = 32 * 1024 * 1024;
/** A file that is not there for this long after the end never comes. */
const SETTLED_AFTER_MS = 10 * 60_000;

const Done = z.object({}).nullable();
const Page = z.object({ has_more: z.boolean().nullable().catch(null) });
const Meetings = Page.extend({ meetings: z.array(z.unknown()) });
const Recordings = Page.extend({ recordings: z.array(z.unknown()) });
const ListedRecording = z.object({ id: VexaId, meeting_id: VexaId });
const Master = z.object({ raw_url: z.string().min(1).nullable().catch(null), duration_seconds: z.number().min(0).nullable().catch(null) });

const transient = () => new NotetakerError('transient', 'notetaker_unavailable');
const permanent = (reason: string) => new NotetakerError('permanent', reason);
const segment = (value: string): string => encodeURIComponent(value);

interface Rows {
  readonly rows: readonly unknown[];
  readonly hasMore: boolean | null;
}

/** Reads from a Vexa; null for what it does not know. */
const reader = (http: ProviderHttp) => {
  const orNull = async <T>(name: string, path: string, schema: z.ZodType<T>): Promise<T | null> => {
    // A transcript is large, and so is a list of meetings with all that is known of them.
    const answer = await http.call({ name, method: 'GET', path, schema, reads: [NOT_FOUND, UNPROCESSABLE], maxBytes: MAX_BYTES });
    return answer.refused ? null : answer.value;
  };

  /** The first row that `pick` takes, page by page. */
  const first = async <T>(page: (query: string) => Promise<Rows>, pick: (row: unknown) => readonly T[]): Promise<T | null> => {
    let offset = 0;
    let before: string | undefined;
    for (let count = 0; count < MAX_PAGES; count += 1) {
      const { rows, hasMore } = await page(`limit=${PAGE_ROWS}&offset=${offset}`);
      const [picked] = rows.flatMap(pick);
      if (picked !== undefined) return picked;
      const start = JSON.stringify(rows[0]);
      // Older versions say nothing of more, and some answer with the whole list each time.
      const isLast = hasMore === null ? rows.length < PAGE_ROWS || start === before : !hasMore;
      if (isLast) return null;
      offset += rows.length;
      before = start;
    }
    throw transient();
  };

  const meeting = (ref: string) => orNull('read meeting', `/meetings/${segment(ref)}`, Meeting);
  return {
    meeting,
    /** The run that is live in the meeting of a link. */
    live: ({ platform, native_meeting_id }: NonNullable<ReturnType<typeof nativeMeeting>>): Promise<Meeting | null> =>
      first(
        async (query) => {
          const path = `/meetings?platform=${platform}&exclude_planned=true&${query}`;
          const answer = await orNull('list meetings', path, Meetings);
          return { rows: answer?.meetings ?? [], hasMore: answer?.has_more ?? null };
        },
        (row) => {
          const { data } = Meeting.safeParse(row);
          const isSame = data?.platform === platform && data.native_meeting_id === native_meeting_id;
          return data !== undefined && isSame && isLive(data) ? [data] : [];
        },
      ),
    async master(ref: string): Promise<z.infer<typeof Master> | null> {
      const id = await first(
        async (query) => {
          const answer = await orNull('list recordings', `/recordings?meeting_id=${segment(ref)}&${query}`, Recordings);
          return { rows: answer?.recordings ?? [], hasMore: answer?.has_more ?? null };
        },
        (row) => {
          const { data } = ListedRecording.safeParse(row);
          // Versions that do not know the filter list all recordings.
          return data?.meeting_id === ref ? [data.id] : [];
        },
      );
      return id === null ? null : orNull('read recording', `/recordings/${segment(id)}/master?type=audio`, Master);
    },
    async spoken({ id, platform, native_meeting_id }: Meeting): Promise<readonly Segment[] | null> {
      const exact = await orNull('read transcript', `/transcripts/by-id/${segment(id)}`, Transcript);
      if (exact !== null) return segmentsOf(exact);
      if (native_meeting_id === null) return null;
      // Older versions know the newest run of a meeting alone, which may be a later one.
      const path = `/transcripts/${segment(platform)}/${segment(native_meeting_id)}`;
      const newest = await orNull('read newest transcript', path, Transcript);
      return newest?.id === id ? segmentsOf(newest) : null;
    },
  };
};

/** URL of the bytes with the credentials for it; only Vexa gets its key. */
const linkOf = (rawUrl: string, { url, apiKey }: ProviderSettings): [string, Readonly<Record<string, string>>] => {
  if (rawUrl.startsWith('/') && !rawUrl.startsWith('//')) return [`${url}${rawUrl}`, { [KEY_HEADER]: apiKey }];
  const isOwn = URL.parse(rawUrl)?.origin === new URL(url).origin;
  return [rawUrl, isOwn ? { [KEY_HEADER]: apiKey } : {}];
};

/** What is kept of runs. */
const keeper = (read: ReturnType<typeof reader>, { settings, download, clock }: Omit<Options, 'http' | 'log'>) => {
  const isSettled = ({ end_time, updated_at }: Meeting): boolean => {
    const ended = end_time ?? updated_at;
    return ended !== null && clock.now().getTime() - ended.getTime() >= SETTLED_AFTER_MS;
  };

  const open = async (ref: string): Promise<MediaFile> => {
    const rawUrl = (await read.master(ref))?.raw_url ?? null;
    if (rawUrl === null) throw transient();
    return download(...linkOf(rawUrl, settings));
  };

  const recordingOf = async (meeting: Meeting): Promise<Recording | 'pending' | 'none'> => {
    const master = await read.master(meeting.id);
    const hasFile = master !== null && master.raw_url !== null;
    if (!hasFile && !isSettled(meeting)) return 'pending';
    // A run that lost its file may still have what was said.
    if (!hasFile && !(await read.spoken(meeting))?.length) return 'none';
    return {
      title: meeting.title,
      startedAt: meeting.start_time,
      durationSeconds: master?.duration_seconds ?? null,
      participants: [],
      open: hasFile ? () => open(meeting.id) : null,
    };
  };

  return {
    async recording(ref: string) {
      const meeting = await read.meeting(ref);
      if (meeting === null) return 'none';
      if (!isOver(meeting)) return 'pending';
      return hasRecorded(meeting) ? recordingOf(meeting) : 'none';
    },
    async transcript(ref: string): Promise<readonly Segment[] | 'pending' | 'none'> {
      const meeting = await read.meeting(ref);
      if (meeting === null || !meeting.isTranscribed) return 'none';
      return isOver(meeting) ? ((await read.spoken(meeting)) ?? 'none') : 'pending';
    },
  };
};

/** Notetakers of a Vexa (https://docs.vexa.ai). */
export const createVexa = ({ http, log, ...options }: Options): Required<Notetaker> => {
  const { settings, clock } = options;
  const read = reader(http);
  const { recording, transcript } = keeper(read, options);

  const nativeOf = ({ meetingUrl }: DispatchRequest) => {
    const native = nativeMeeting(meetingUrl);
    if (native === null) throw permanent('platform_not_supported');
    return native;
  };

  return {
    name: NAME,
    async dispatch(request) {
      const native = nativeOf(request);
      const body = { ...native, meeting_url: request.meetingUrl, bot_name: request.botName, recording_enabled: true };
      const call = { name: 'create bot', method: 'POST', path: '/bots', body, schema: Meeting, reads: [CONFLICT, UNPROCESSABLE] } as const;
      const answer = await http.call(call);
      if (!answer.refused) return { ref: answer.value.id, adopted: false };
      if (answer.status === UNPROCESSABLE) throw permanent('meeting_link_invalid');
      const live = await read.live(native);
      if (live === null) throw transient();
      // A user of Vexa has one notetaker per meeting for all requesters.
      if (request.tries === 0) log.warn('notetaker shared with another join', { joinId: request.joinId, provider: NAME, ref: live.id });
      return { ref: live.id, adopted: true };
    },
    find: async (request) => (await read.live(nativeOf(request)))?.id ?? null,
    async snapshot(ref) {
      const meeting = await read.meeting(ref);
      return meeting && snapshotOf(meeting);
    },
    async leave(ref) {
      const meeting = await read.meeting(ref);
      // Vexa lets leave by meeting, where a later run may be by now.
      if (meeting === null || !isLive(meeting)) return;
      if (meeting.native_meeting_id === null) throw transient();
      const path = `/bots/${segment(meeting.platform)}/${segment(meeting.native_meeting_id)}`;
      await http.call({ name: 'leave', method: 'DELETE', path, schema: Done, reads: [NOT_FOUND] });
    },
    async erase(ref) {
      const path = `/meetings/${segment(ref)}`;
      const answer = await http.call({ name: 'delete meeting', method: 'DELETE', path, schema: Done, reads: [NOT_FOUND, CONFLICT] });
      // It deletes nothing of a run that is not over.
      if (answer.refused && answer.status === CONFLICT) throw transient();
    },
    recording,
    transcript,
    verify: (webhook) => verifyVexaWebhook(webhook, { secrets: settings.webhookSecrets, now: clock.now() }),
  };
};
