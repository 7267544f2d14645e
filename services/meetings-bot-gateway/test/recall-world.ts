import { createHmac } from 'node:crypto';
import { addressPolicy } from '@bubbles/address-guard/public-address.ts';
import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { memoryLog } from '@bubbles/testing/memory-log.ts';
import { createDownloads } from '../src/adapters/media/download.ts';
import { createProviderHttp } from '../src/adapters/notetakers/provider-http.ts';
import { createRecall } from '../src/adapters/notetakers/recall.ts';
import type { JoinStatus } from '../src/domain/join.ts';
import type { ProviderWebhook } from '../src/ports.ts';
import { NOON } from './builders.ts';
import { type NotetakerWorld, PROVIDER_KEY, RECORDED } from './notetaker.contract.ts';
import { type ProviderReply, type ProviderRequest, startProviderServer } from './provider-server.ts';

type Kept = Parameters<NotetakerWorld['keep']>[1];

interface FakeBot {
  readonly id: string;
  readonly joinId: string;
  readonly metadata: { readonly join_id: string };
  readonly status_changes: { code: string; sub_code: string | null; message: null; created_at: string }[];
  kept: Kept;
  isErased: boolean;
}

const RECALL_SECRET = Buffer.alloc(24, 7);
const PAGE = 2;
const AT = NOON.toISOString();
const LATER = '2026-03-02T12:30:00.500Z';
const CODES: Readonly<Record<JoinStatus, string>> = {
  dispatched: 'ready',
  joining: 'joining_call',
  in_waiting_room: 'in_waiting_room',
  in_call: 'in_call_not_recording',
  recording: 'in_call_recording',
  done: 'call_ended',
  fatal: 'fatal',
};
const ENDED: ReadonlySet<string> = new Set(['call_ended', 'done', 'fatal']);
const TURNS = [
  {
    participant: { id: 100, name: 'Ada' },
    words: [
      { text: 'Shall we', start_timestamp: { relative: 1 }, end_timestamp: { relative: 2 } },
      { text: 'begin?', start_timestamp: { relative: 2 }, end_timestamp: { relative: 2.5 } },
    ],
  },
  { participant: { id: 200, name: null }, words: [{ text: 'Yes.', start_timestamp: { relative: 3 }, end_timestamp: { relative: 3.5 } }] },
  { participant: { id: 200, name: 'Ada' }, words: [] },
];
const PEOPLE = [
  { id: 100, name: 'Ada', is_host: true, platform: 'unknown', extra_data: null },
  { id: 200, name: null, is_host: null, platform: 'unknown', extra_data: null, email: 'ben@acme.example' },
];
const STATES = { there: 'done', pending: 'processing', none: 'failed' } as const;

/** Recall.ai as its documentation describes it: bots, idempotency keys that repeat answers, pages, a pool that can be empty, and links to files. */
export const startRecallServer = async () => {
  const bots: FakeBot[] = [];
  const answers = new Map<string, ProviderReply>();
  /** `video`: where it is no further than this, though the recording is ready. */
  const state = {
    key: PROVIDER_KEY,
    isPoolEmpty: false,
    ignoresFilters: false,
    beginsLate: false,
    isInFlight: false,
    isBroken: false,
    token: 'signed',
    title: RECORDED.title as string,
    video: null as string | null,
  };

  const link = (file: string) => `${server.url}/download/${file}?token=${state.token}`;
  const shown = (bot: FakeBot) => {
    const { kept, isErased, joinId: _, ...fields } = bot;
    const recorded = bot.status_changes.some(({ code }) => code === 'in_call_recording');
    const artifact = (kind: keyof Kept, file: string) => ({
      id: file,
      status: { code: isErased ? 'deleted' : STATES[kept[kind]], sub_code: null },
      data: { download_url: kept[kind] === 'there' && !isErased ? link(file) : null },
    });
    const recording = {
      id: `rec-${bot.id}`,
      started_at: AT,
      completed_at: LATER,
      status: { code: isErased ? 'deleted' : STATES[kept.recording], sub_code: null },
      media_shortcuts: {
        video_mixed: { ...artifact('recording', 'video'), ...(state.video !== null && { status: { code: state.video } }) },
        transcript: artifact('transcript', 'transcript'),
        participant_events: { data: { participants_download_url: link('people') } },
        meeting_metadata: { data: { title: state.title } },
      },
    };
    return { ...fields, recordings: recorded ? [recording] : [], meeting_url: { meeting_id: 'abc', platform: 'google_meet' } };
  };

  const create = ({ body, headers }: ProviderRequest): ProviderReply => {
    const key = String(headers['idempotency-key']);
    const known = answers.get(key);
    if (known !== undefined) return known;
    if (state.isInFlight) return { status: 409, body: { detail: 'A request with this key is in flight.' } };
    if (state.isBroken) {
      answers.set(key, { status: 500, body: { detail: 'Internal error.' } });
      return { status: 500, body: { detail: 'Internal error.' } };
    }
    if (!/^https:\/\//.test(body.meeting_url)) return { status: 400, body: { meeting_url: ['Enter a valid meeting URL.'] } };
    const id = `0b85d2f9-d54a-47f6-b28d-${String(bots.length).padStart(12, '0')}`;
    const bot: FakeBot = {
      id,
      joinId: body.metadata.join_id,
      metadata: body.metadata,
      status_changes: [],
      kept: { recording: 'pending', transcript: 'pending' },
      isErased: false,
    };
    if (!state.isPoolEmpty) bots.push(bot);
    const answer = state.isPoolEmpty ? { status: 507, body: { detail: 'out of adhoc bots' } } : { status: 201, body: shown(bot) };
    answers.set(key, answer);
    return answer;
  };
  const list = ({ query }: ProviderRequest): ProviderReply => {
    const page = Number(query.get('page') ?? 1);
    const wanted = bots.filter(({ joinId }) => state.ignoresFilters || joinId === query.get('metadata__join_id'));
    const results = wanted.slice((page - 1) * PAGE, page * PAGE).map(shown);
    const next = wanted.length > page * PAGE ? 'http://127.0.0.1:1/elsewhere/?page=2' : null;
    return { status: 200, body: { count: wanted.length, next, previous: null, results } };
  };
  const move = (bot: FakeBot, code: string, sub_code: string | null = null) =>
    void bot.status_changes.push({ code, sub_code, message: null, created_at: AT });
  const refuse = (code: string): ProviderReply => ({ status: 400, body: { code, detail: 'Cannot send a command to it.' } });
  const command = (bot: FakeBot, method: string, name: string): ProviderReply => {
    const isEnded = bot.status_changes.some(({ code }) => ENDED.has(code));
    const isBegun = bot.status_changes.some(({ code }) => code !== 'ready');
    if (name === '' && method === 'GET') return { status: 200, body: shown(bot) };
    if (name === 'delete_media') bot.isErased = true;
    else if (isEnded) return refuse('cannot_command_completed_bot');
    else if (name === '' && method === 'DELETE') {
      if (state.beginsLate) move(bot, 'joining_call');
      if (isBegun || state.beginsLate) return { status: 405, body: { detail: 'Method not allowed.' } };
      bots.splice(bots.indexOf(bot), 1);
      return { status: 204 };
    } else if (!isBegun) return refuse('cannot_command_unstarted_bot');
    else move(bot, 'call_ended', 'bot_received_leave_call');
    return { status: 200, body: shown(bot) };
  };
  const files: Record<string, ProviderReply> = {
    video: { status: 200, headers: { 'content-type': RECORDED.contentType }, body: RECORDED.bytes },
    transcript: { status: 200, body: TURNS },
    people: { status: 200, body: PEOPLE },
  };

  const server = await startProviderServer((request) => {
    const [, , , , id, name = ''] = request.path.split('/');
    if (request.path.startsWith('/download/')) return files[request.path.slice('/download/'.length)] ?? { status: 404 };
    if (request.headers.authorization !== `Token ${state.key}`) return { status: 401, body: { code: 'not_authenticated' } };
    if (!request.path.startsWith('/api/v1/bot/')) return { status: 404, body: { detail: 'Not found.' } };
    if (id === '' || id === undefined) return request.method === 'POST' ? create(request) : list(request);
    const bot = bots.find((one) => one.id === id);
    return bot === undefined ? { status: 404, body: { detail: 'Not found.' } } : command(bot, request.method, name);
  });
  const botOf = (joinId: string): FakeBot => {
    const bot = bots.find((one) => one.joinId === joinId);
    if (bot === undefined) throw new Error(`no bot was sent for ${joinId}`);
    return bot;
  };
  return { ...server, bots, botOf, files, state, move };
};

export type RecallServer = Awaited<ReturnType<typeof startRecallServer>>;

/** What a gateway is told whose meetings it serves. */
export const recallSettings = ({ url }: Pick<RecallServer, 'url'>) => ({
  NOTETAKERS: 'google_meet=recall,zoom=recall',
  RECALL_URL: url,
  RECALL_API_KEY: PROVIDER_KEY,
  RECALL_WEBHOOK_SECRET: `whsec_${RECALL_SECRET.toString('base64')}`,
  // It is on loopback.
  MEDIA_ALLOW_CIDRS: '127.0.0.0/8',
  MEDIA_ALLOW_HTTP: '1',
});

/** Signed as Recall does since 2025-12-15. */
export const recallWebhook = (id: string, body: Buffer, { at = NOON, secret = RECALL_SECRET } = {}): ProviderWebhook => {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const digest = createHmac('sha256', secret).update(`${id}.${timestamp}.`).update(body).digest('base64');
  return { headers: { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${digest}` }, body };
};

export const recallEvent = ({ id, metadata, status_changes }: FakeBot): Buffer => {
  const { code, sub_code, created_at } = status_changes.at(-1) ?? { code: 'ready', sub_code: null, created_at: AT };
  const data = { data: { code, sub_code, updated_at: created_at }, bot: { id, metadata } };
  return Buffer.from(JSON.stringify({ event: `bot.${code}`, data }));
};

export const openRecallWorld = async ({
  deadlineMs,
  transcription = 'recallai_streaming',
}: {
  deadlineMs: number;
  transcription?: 'recallai_streaming' | 'none';
}) => {
  const server = await startRecallServer();
  const clock = fakeClock(NOON);
  const log = memoryLog();
  const outcomes: string[] = [];
  const http = createProviderHttp({
    provider: 'recall',
    baseUrl: server.url,
    headers: { authorization: `Token ${PROVIDER_KEY}` },
    clock,
    log,
    called: (_provider, outcome) => void outcomes.push(outcome),
    deadlineMs,
  });
  const downloads = createDownloads({
    policy: { addresses: addressPolicy({ allow: ['127.0.0.0/8'], deny: [] }), http: true, loopback: false },
    resolver: { resolve4: () => Promise.resolve([]), resolve6: () => Promise.resolve([]) },
    extraCa: [],
    maxBytes: 1_000_000,
    idleMs: 10_000,
  });
  const options = { http, settings: { webhookSecrets: [RECALL_SECRET] }, transcription, retentionMs: 71.5 * 3_600_000, clock, log };
  const started = () => createRecall({ ...options, ...downloads });
  const notetaker = started();
  const world: NotetakerWorld = {
    notetaker,
    sent: () => Promise.resolve(server.bots.map(({ joinId }) => joinId)),
    move(joinId, status) {
      const bot = server.botOf(joinId);
      server.move(bot, CODES[status], status === 'fatal' ? 'meeting_requires_sign_in' : null);
      if (status === 'done') server.move(bot, 'done');
      return Promise.resolve();
    },
    hasLeft: (joinId) =>
      Promise.resolve(server.botOf(joinId).status_changes.some(({ sub_code }) => sub_code === 'bot_received_leave_call')),
    hasErased: (joinId) => Promise.resolve(server.botOf(joinId).isErased),
    keep(joinId, kept) {
      server.botOf(joinId).kept = kept;
    },
    wire: {
      fail(fault) {
        server.state.key = fault === 'wrong key' ? 'another' : PROVIDER_KEY;
        server.state.isPoolEmpty = fault === 'capacity';
        server.fail(fault === 'wrong key' || fault === 'capacity' ? null : fault);
      },
      webhook(joinId) {
        const bot = server.botOf(joinId);
        return recallWebhook(`msg_${bot.id}_${bot.status_changes.length}`, recallEvent(bot));
      },
      sign: (body) => recallWebhook('msg_odd', body),
      told: () => JSON.stringify(log.lines),
      outcomes: () => outcomes,
    },
    async stop() {
      await Promise.all([http.close(), downloads.close()]);
      await server.stop();
    },
  };
  return { ...world, server, clock, restarted: started };
};
