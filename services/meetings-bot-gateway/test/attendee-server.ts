import { createHmac, randomUUID } from 'node:crypto';
import type { ProviderWebhook } from '../src/ports.ts';
import { type ProviderReply, type ProviderRequest, type ProviderServer, startProviderServer } from './provider-server.ts';

interface FakeBot {
  readonly id: string;
  readonly meetingUrl: string;
  readonly metadata: unknown;
  readonly key: string | null;
  state: string;
  readonly events: { readonly type: string; readonly sub_type: string | null; readonly created_at: string }[];
  recordingState: string;
  transcriptionState: string;
  /** Null while there is none. */
  file: Buffer | null;
  utterances: readonly object[];
}

export interface FakeAttendee extends ProviderServer {
  readonly bots: readonly FakeBot[];
  /** How many bots may run at once; those that ended do not count. */
  capacity: number;
  hasCredits: boolean;
  hasZoomApp: boolean;
  /** Which key it takes. */
  apiKey: string;
  pageSize: number;
  /** Loses the answers to requests of bots: they were sent all the same. */
  losesAnswers: boolean;
  /** Lists all bots, whatever is asked for. */
  isOld: boolean;
  /** Answers no question about people. */
  hidesPeople: boolean;
  ofJoin(joinId: string): FakeBot;
  /** The bot goes on: the event is the last one, and the state is what it led to. */
  happen(bot: FakeBot, type: string, state: string, subType?: string | null): void;
  /** As Attendee signs and sends it. */
  webhook(bot: FakeBot): ProviderWebhook;
  sign(body: Buffer): ProviderWebhook;
}

interface Options {
  readonly apiKey: string;
  readonly secret: Buffer;
  readonly now: () => Date;
}

const LINK_MS = 30 * 60_000;
const TERMINAL: ReadonlySet<string> = new Set(['ended', 'fatal_error', 'data_deleted']);
const MAY_LEAVE: ReadonlySet<string> = new Set([
  'joining',
  'waiting_room',
  'joined_not_recording',
  'joined_recording',
  'joined_recording_paused',
]);
const LINKS = /^https:\/\/(?:meet\.google\.com|[a-z\d.]*zoom\.us|teams\.(?:microsoft|live)\.com)\//;

const ok = (body: unknown): ProviderReply => ({ status: 200, body });
const refused = (error: string): ProviderReply => ({ status: 400, body: { error } });
const notFound = (error: string): ProviderReply => ({ status: 404, body: { error } });

/** Like Python's `json.dumps(…, sort_keys=True)` for what this server sends. */
const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(',')}}`;
};
const asSent = (value: unknown): string =>
  JSON.stringify(value, null, 1)
    .replace(/\n */g, ' ')
    .replace(/([{[]) | ([}\]])/g, '$1$2');
/** A whole number that Python has as a float. */
const CREDITS = '"2.0 as a number"';
const withCredits = (json: string): string => json.replace(CREDITS, '2.0');

const present = ({ id, meetingUrl, metadata, key, state, events, recordingState, transcriptionState }: FakeBot) => ({
  id,
  metadata,
  meeting_url: meetingUrl,
  state,
  events,
  transcription_state: transcriptionState,
  recording_state: recordingState,
  join_at: null,
  deduplication_key: key,
});

/** The documented API of Attendee, with how its errors look. */
export const startFakeAttendee = async ({ apiKey, secret, now }: Options): Promise<FakeAttendee> => {
  const bots: FakeBot[] = [];
  const links = new Map<string, { readonly bot: FakeBot; readonly until: number }>();
  const isRunning = ({ state }: FakeBot) => !TERMINAL.has(state);

  const create = ({ body }: ProviderRequest): ProviderReply => {
    if (!fake.hasCredits) return refused('Organization has run out of credits. Please add more credits in the Account -> Billing page.');
    if (typeof body.bot_name !== 'string') return { status: 400, body: { bot_name: ['This field is required.'] } };
    if (!LINKS.test(body.meeting_url)) return { status: 400, body: { meeting_url: ['Invalid meeting URL'] } };
    if (body.meeting_url.includes('zoom') && !fake.hasZoomApp)
      return refused('Zoom App credentials are required to create a Zoom bot. Please add Zoom credentials at https://attendee.example/p');
    if (bots.filter(isRunning).length >= fake.capacity)
      return refused(
        `You have exceeded the maximum number of concurrent bots (${fake.capacity}) for your account. Please reach out to customer support.`,
      );
    if (bots.some((bot) => bot.key === body.deduplication_key && isRunning(bot)))
      return refused('Deduplication key already in use. A bot in a non-terminal state with this deduplication key already exists.');
    const bot: FakeBot = {
      id: `bot_${randomUUID().slice(0, 8)}`,
      meetingUrl: body.meeting_url,
      metadata: body.metadata,
      key: body.deduplication_key,
      state: 'ready',
      events: [],
      recordingState: 'not_started',
      transcriptionState: 'not_started',
      file: null,
      utterances: [],
    };
    bots.push(bot);
    return fake.losesAnswers ? { status: 502, body: Buffer.from('<html>Bad gateway</html>') } : { status: 201, body: present(bot) };
  };

  /** Pages by a cursor; `next` has the address that Attendee believes to have. */
  const page = (rows: readonly object[], { path, query }: ProviderRequest): ProviderReply => {
    const from = Number(query.get('cursor') ?? 0);
    const to = from + fake.pageSize;
    const next = to < rows.length ? `http://attendee.internal:8000${path}?cursor=${to}` : null;
    return ok({ next, previous: null, results: rows.slice(from, to) });
  };

  const list = (request: ProviderRequest): ProviderReply => {
    const key = fake.isOld ? null : request.query.get('deduplication_key');
    return page(bots.filter((bot) => key === null || bot.key === key).map(present), request);
  };

  const leave = (bot: FakeBot): ProviderReply => {
    if (!MAY_LEAVE.has(bot.state)) return refused(`Event type Leave requested not allowed when bot is in state ${bot.state}.`);
    fake.happen(bot, 'leave_requested', 'leaving', 'user_requested');
    return ok(present(bot));
  };

  const deleteData = (bot: FakeBot): ProviderReply => {
    if (bot.state !== 'ended' && bot.state !== 'fatal_error') return refused('Bot is not in a valid state for data deletion');
    Object.assign(bot, { file: null, utterances: [] });
    fake.happen(bot, 'data_deleted', 'data_deleted');
    return ok(present(bot));
  };

  const recording = (bot: FakeBot): ProviderReply => {
    if (bot.file === null) return notFound('No recording file found for bot');
    const id = randomUUID();
    links.set(id, { bot, until: now().getTime() + LINK_MS });
    const startedAt = bot.events.find(({ type }) => type === 'recording_permission_granted')?.created_at;
    return ok({ url: `${server.url}/storage/${id}.mp4?X-Amz-Expires=1800`, start_timestamp_ms: Date.parse(startedAt ?? '') });
  };

  const stored = (id: string): ProviderReply => {
    const link = links.get(id);
    if (!link?.bot.file || now().getTime() >= link.until)
      return { status: 403, headers: { 'content-type': 'application/xml' }, body: Buffer.from('<Error><Code>AccessDenied</Code></Error>') };
    return { status: 200, headers: { 'content-type': 'video/mp4' }, body: link.bot.file };
  };

  const participants = [
    { id: 'par_1', name: 'Ada', uuid: 'u1', user_uuid: null, is_host: true },
    { id: 'par_2', name: null },
    { name: 'Zoe' },
  ];
  const ofBot: Readonly<Record<string, (bot: FakeBot, request: ProviderRequest) => ProviderReply>> = {
    'GET ': (bot) => ok(present(bot)),
    'POST /leave': leave,
    'POST /delete_data': deleteData,
    'GET /recording': recording,
    'GET /transcript': (bot) => ok(bot.utterances),
    'GET /participants': (_bot, request) => (fake.hidesPeople ? { status: 500, body: {} } : page(participants, request)),
  };

  const answer = (request: ProviderRequest): ProviderReply => {
    const { method, path, headers } = request;
    const [, file] = /^\/storage\/(.+)\.mp4$/.exec(path) ?? [];
    if (file !== undefined) return stored(file);
    if (headers.authorization !== `Token ${fake.apiKey}`) return { status: 401, body: { detail: 'Invalid or disabled API key' } };
    if (path === '/api/v1/bots') return method === 'POST' ? create(request) : list(request);
    const [, id, rest = ''] = /^\/api\/v1\/bots\/([^/]+)(\/.*)?$/.exec(path) ?? [];
    const handle = ofBot[`${method} ${rest}`];
    if (handle === undefined) return notFound('Not found');
    const bot = bots.find((one) => one.id === id);
    return bot === undefined ? notFound('Bot not found') : handle(bot, request);
  };

  const server = await startProviderServer(answer);
  const signed = (body: Buffer, text: string | Buffer): ProviderWebhook => ({
    headers: { 'x-webhook-signature': createHmac('sha256', secret).update(text).digest('base64'), 'content-type': 'application/json' },
    body,
  });
  const fake: FakeAttendee = {
    ...server,
    bots,
    capacity: 100,
    hasCredits: true,
    hasZoomApp: true,
    apiKey,
    pageSize: 25,
    losesAnswers: false,
    isOld: false,
    hidesPeople: false,
    ofJoin(joinId) {
      const bot = bots.findLast(({ key }) => key === joinId);
      if (bot === undefined) throw new Error(`no bot of ${joinId}`);
      return bot;
    },
    happen(bot, type, state, subType = null) {
      bot.events.push({ type, sub_type: subType, created_at: now().toISOString() });
      bot.state = state;
    },
    webhook(bot) {
      const event = bot.events.at(-1);
      const message = {
        idempotency_key: randomUUID(),
        bot_id: bot.id,
        bot_metadata: bot.metadata,
        trigger: 'bot.state_change',
        data: {
          new_state: bot.state,
          created_at: event?.created_at,
          event_type: event?.type,
          event_sub_type: event?.sub_type,
          event_metadata: { credits_consumed: JSON.parse(CREDITS), note: 'café' },
        },
      };
      const wire = withCredits(asSent(message)).replace('é', '\\u00e9');
      return signed(Buffer.from(wire), withCredits(canonical(message)));
    },
    sign(body) {
      try {
        return signed(body, canonical(JSON.parse(body.toString())));
      } catch {
        return signed(body, body);
      }
    },
  };
  return fake;
};
