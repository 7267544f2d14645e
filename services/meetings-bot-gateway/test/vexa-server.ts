import { createHmac, randomUUID } from 'node:crypto';
import type { ProviderWebhook } from '../src/ports.ts';
import { type ProviderReply, type ProviderRequest, type ProviderServer, startProviderServer } from './provider-server.ts';

interface FakeMeeting {
  readonly id: number;
  readonly platform: string;
  readonly native_meeting_id: string;
  readonly data: Record<string, unknown> & { readonly status_transition: { readonly to: string }[] };
  status: string;
  start_time: string | null;
  end_time: string | null;
  completion_reason: string | null;
  failure_stage: string | null;
  /** Null while there is none. */
  file: Buffer | null;
  segments: readonly object[];
  isErased: boolean;
}

export interface FakeVexa extends ProviderServer {
  readonly meetings: readonly FakeMeeting[];
  /** How many bots may run at once. */
  capacity: number;
  hasTranscription: boolean;
  /** Which key it takes. */
  apiKey: string;
  /** Loses the answers to requests of bots: they were sent all the same. */
  losesAnswers: boolean;
  /** Versions before it know transcripts by meeting alone, and no filters of lists. */
  isOld: boolean;
  /** Where the bytes of recordings are, when not below Vexa itself. */
  mediaBase: string;
  of(native: string): FakeMeeting;
  go(meeting: FakeMeeting, status: string, fields?: Partial<FakeMeeting>): void;
  /** As Vexa signs and sends it. */
  webhook(meeting: FakeMeeting): ProviderWebhook;
  sign(body: Buffer): ProviderWebhook;
}

interface Options {
  readonly apiKey: string;
  readonly secret: Buffer;
  readonly now: () => Date;
}

const PLATFORMS: ReadonlySet<string> = new Set(['google_meet', 'zoom', 'teams', 'jitsi']);
const PLANNED: ReadonlySet<string> = new Set(['idle', 'scheduled']);
const TERMINAL: ReadonlySet<string> = new Set(['completed', 'failed']);
const ODD_ID = /[?#&=/\s]/;
const PAGE_ROWS = 50;

const ok = (body: unknown, status = 200): ProviderReply => ({ status, body });
const refused = (status: number, detail: unknown): ProviderReply => ({ status, body: { detail } });

/** The documented API of Vexa, with how its errors look. */
export const startFakeVexa = async ({ apiKey, secret, now }: Options): Promise<FakeVexa> => {
  const meetings: FakeMeeting[] = [];
  const isLive = ({ status }: FakeMeeting) => !TERMINAL.has(status) && !PLANNED.has(status);
  const present = ({ file: _file, segments: _segments, isErased: _isErased, ...meeting }: FakeMeeting) => ({
    ...meeting,
    user_id: 1,
    constructed_meeting_url: null,
    created_at: now().toISOString(),
    updated_at: now().toISOString(),
  });

  const create = ({ body }: ProviderRequest): ProviderReply => {
    const { platform, native_meeting_id, meeting_url, recording_enabled, transcribe_enabled } = body;
    if (!fake.hasTranscription) return refused(503, 'no transcription backend configured');
    if (!PLATFORMS.has(platform)) return refused(422, `platform '${platform}' cannot be spawned as a meeting bot`);
    if (typeof native_meeting_id !== 'string' || ODD_ID.test(native_meeting_id)) return refused(422, 'must be the bare meeting id');
    if (platform === 'zoom' && !meeting_url) return refused(422, [{ loc: ['body', 'meeting_url'], msg: 'required for zoom' }]);
    const same = meetings.find(
      (meeting) => isLive(meeting) && meeting.platform === platform && meeting.native_meeting_id === native_meeting_id,
    );
    if (same !== undefined) return refused(409, `An active meeting already exists for ${meeting_url}`);
    if (meetings.filter(isLive).length >= fake.capacity)
      return { ...refused(429, 'Bot concurrency limit reached'), headers: { 'retry-after': '11' } };
    const meeting: FakeMeeting = {
      id: meetings.length + 40,
      platform,
      native_meeting_id,
      data: { recording_enabled, ...(transcribe_enabled !== undefined && { transcribe_enabled }), status_transition: [] },
      status: 'requested',
      start_time: null,
      end_time: null,
      completion_reason: null,
      failure_stage: null,
      file: null,
      segments: [],
      isErased: false,
    };
    meetings.push(meeting);
    return fake.losesAnswers ? { status: 502, body: Buffer.from('<html>Bad gateway</html>') } : ok(present(meeting), 201);
  };

  const page = (name: string, rows: readonly object[], { query }: ProviderRequest): ProviderReply => {
    const offset = Number(query.get('offset') ?? 0);
    const limit = Math.min(Number(query.get('limit') ?? PAGE_ROWS), 100);
    const shown = rows.slice(offset, offset + limit);
    return ok({ [name]: shown, ...(!fake.isOld && { has_more: offset + shown.length < rows.length }) });
  };
  const ofList = (request: ProviderRequest): ProviderReply => {
    const platform = fake.isOld ? null : request.query.get('platform');
    const rows = meetings.filter((meeting) => platform === null || meeting.platform === platform).toReversed();
    return page('meetings', rows.map(present), request);
  };
  const recordings = (request: ProviderRequest): ProviderReply => {
    const id = fake.isOld ? null : request.query.get('meeting_id');
    const rows = meetings.filter((meeting) => meeting.file !== null && (id === null || String(meeting.id) === id));
    if (fake.isOld) return ok({ recordings: rows.map((meeting) => ({ id: meeting.id + 1000, meeting_id: meeting.id, media_files: [] })) });
    return page(
      'recordings',
      rows.map((meeting) => ({ id: meeting.id + 1000, meeting_id: meeting.id, status: 'completed' })),
      request,
    );
  };

  const find = (id: string | undefined) => meetings.find((meeting) => String(meeting.id) === id);
  const transcript = (meeting: FakeMeeting | undefined): ProviderReply =>
    meeting === undefined || meeting.isErased
      ? refused(404, 'Meeting not found')
      : ok({ ...present(meeting), recordings: [], segments: meeting.segments });

  const stop = (platform: string, native: string): ProviderReply => {
    if (!PLATFORMS.has(platform)) return refused(422, `unsupported platform '${platform}'`);
    const meeting = meetings.find((one) => isLive(one) && one.platform === platform && one.native_meeting_id === native);
    if (meeting === undefined) return refused(404, 'No active meeting for this bot');
    fake.go(meeting, 'stopping');
    return ok({ status: 'stopping', meeting_id: meeting.id });
  };
  const erase = (meeting: FakeMeeting | undefined): ProviderReply => {
    if (meeting === undefined) return refused(404, 'Meeting not found');
    if (isLive(meeting)) return refused(409, 'Meeting is in flight');
    Object.assign(meeting, { file: null, segments: [], isErased: true });
    return { status: 204 };
  };
  const master = (meeting: FakeMeeting | undefined): ProviderReply =>
    meeting?.file == null
      ? refused(404, 'No such media file to finalize')
      : ok({
          id: meeting.id + 1000,
          raw_url: `${fake.mediaBase}/recordings/${meeting.id + 1000}/media/7/raw?type=audio`,
          duration_seconds: 61.5,
        });
  const raw = (meeting: FakeMeeting | undefined, { headers }: ProviderRequest): ProviderReply => {
    if (meeting?.file == null) return refused(404, 'No such media file');
    const [, start] = /^bytes=(\d+)-$/.exec(headers.range ?? '') ?? [];
    const body = meeting.file.subarray(Number(start ?? 0));
    const range = start === undefined ? {} : { 'content-range': `bytes ${start}-${meeting.file.length - 1}/${meeting.file.length}` };
    return { status: start === undefined ? 200 : 206, headers: { 'content-type': 'video/mp4', 'accept-ranges': 'bytes', ...range }, body };
  };

  const routes: readonly (readonly [RegExp, (parts: readonly string[], request: ProviderRequest) => ProviderReply])[] = [
    [/^POST \/bots$/, (_parts, request) => create(request)],
    [/^GET \/meetings$/, (_parts, request) => ofList(request)],
    [/^GET \/meetings\/([^/]+)$/, ([id]) => (find(id) ? ok(present(find(id) as FakeMeeting)) : refused(404, 'Meeting not found'))],
    [/^DELETE \/meetings\/([^/]+)$/, ([id]) => erase(find(id))],
    [/^DELETE \/bots\/([^/]+)\/([^/]+)$/, ([platform = '', native = '']) => stop(platform, native)],
    [/^GET \/recordings$/, (_parts, request) => recordings(request)],
    [/^GET \/recordings\/(\d+)\/master$/, ([id]) => master(find(String(Number(id) - 1000)))],
    [/^GET \/recordings\/(\d+)\/media\/7\/raw$/, ([id], request) => raw(find(String(Number(id) - 1000)), request)],
    [/^GET \/transcripts\/by-id\/([^/]+)$/, ([id]) => (fake.isOld ? refused(422, 'not a platform') : transcript(find(id)))],
    [
      /^GET \/transcripts\/([^/]+)\/([^/]+)$/,
      ([platform, native]) => transcript(meetings.findLast((one) => one.platform === platform && one.native_meeting_id === native)),
    ],
  ];
  const answer = (request: ProviderRequest): ProviderReply => {
    if (request.headers['x-api-key'] !== fake.apiKey) return refused(401, 'Invalid API key');
    for (const [pattern, handle] of routes) {
      const parts = pattern.exec(`${request.method} ${request.path}`);
      if (parts !== null) return handle(parts.slice(1).map(decodeURIComponent), request);
    }
    return refused(404, 'Not Found');
  };

  const server = await startProviderServer(answer);
  const sign = (body: Buffer): ProviderWebhook => {
    const timestamp = String(Math.floor(now().getTime() / 1000));
    const signature = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex');
    const headers = {
      'content-type': 'application/json',
      authorization: `Bearer ${secret}`,
      'x-webhook-timestamp': timestamp,
      'x-webhook-signature': `sha256=${signature}`,
    };
    return { headers, body };
  };
  const fake: FakeVexa = {
    ...server,
    meetings,
    capacity: 100,
    hasTranscription: true,
    apiKey,
    losesAnswers: false,
    isOld: false,
    mediaBase: '',
    of(native) {
      const meeting = meetings.findLast(({ native_meeting_id }) => native_meeting_id === native);
      if (meeting === undefined) throw new Error(`no meeting ${native}`);
      return meeting;
    },
    go(meeting, status, fields = {}) {
      meeting.data.status_transition.push({ to: status });
      const at = now().toISOString();
      const times = { ...(status === 'active' && { start_time: at }), ...(TERMINAL.has(status) && { end_time: at }) };
      Object.assign(meeting, { status, ...times, ...fields });
    },
    webhook(meeting) {
      const change = { old_status: 'requested', new_status: meeting.status, reason: null, transition_source: 'bot_callback' };
      const data = { meeting: present(meeting), status_change: change };
      const message = { event_id: `evt_${randomUUID()}`, event_type: 'meeting.status_change', api_version: '2026-03-01', data };
      return sign(Buffer.from(JSON.stringify(message)));
    },
    sign,
  };
  return fake;
};
