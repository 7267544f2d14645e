import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { memoryLog } from '@bubbles/testing/memory-log.ts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createAttendee } from '../src/adapters/notetakers/attendee.ts';
import { createProviderHttp } from '../src/adapters/notetakers/provider-http.ts';
import { createVexa } from '../src/adapters/notetakers/vexa.ts';
import { withinBounds } from '../src/adapters/notetakers/within-bounds.ts';
import type { Notetaker } from '../src/ports.ts';
import { MEET, NOON } from './builders.ts';
import { request } from './notetaker.contract.ts';
import { plainDownload } from './plain-download.ts';
import { type ProviderReply, type ProviderServer, startProviderServer } from './provider-server.ts';

const STATUSES = ['dispatched', 'joining', 'in_waiting_room', 'in_call', 'recording', 'done', 'fatal'];
const WORDS = [
  ...['ended', 'fatal_error', 'leaving', 'joined_recording', 'data_deleted', 'joining', 'complete', 'failed', 'not_started', 'in_progress'],
  ...[
    'completed',
    'active',
    'stopping',
    'awaiting_admission',
    'requested',
    'join_failure',
    'stopped',
    'zoom',
    'google_meet',
    'abc-defg-hij',
  ],
  ...['recording_permission_granted', 'meeting_ended', 'leave_requested', '2026-03-02T12:00:00Z', '2026-13-41', '+275760-09-13T00:00:00Z'],
  ...['..', '../../admin', 'http://127.0.0.1:1/x', '//evil', 'mj_1', '42', '', '\u0000', '\ud800', 'x'.repeat(5000)],
];
const NAMES = [
  ...['id', 'state', 'events', 'type', 'sub_type', 'created_at', 'recording_state', 'transcription_state', 'deduplication_key', 'metadata'],
  ...[
    'join_id',
    'results',
    'next',
    'error',
    'meeting_url',
    'url',
    'start_timestamp_ms',
    'name',
    'speaker_name',
    'timestamp_ms',
    'duration_ms',
  ],
  ...[
    'transcription',
    'transcript',
    'platform',
    'native_meeting_id',
    'status',
    'start_time',
    'end_time',
    'updated_at',
    'completion_reason',
  ],
  ...['data', 'title', 'status_transition', 'to', 'meetings', 'recordings', 'has_more', 'meeting_id', 'raw_url', 'duration_seconds'],
  ...['segments', 'segment_id', 'speaker', 'text', 'start', 'end', 'completed', 'source', 'detail', '__proto__', 'constructor'],
];

/** What somebody answers who knows the words of the API, and means no good. */
const { answer: anyAnswer } = fc.letrec<{ answer: unknown }>((tie) => ({
  answer: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom(...WORDS),
    fc.oneof(fc.constant(null), fc.boolean(), fc.double(), fc.integer(), fc.constantFrom(1e308, -1e308, 8.64e15, 1.7e12, 42)),
    fc.array(tie('answer'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom(...NAMES), tie('answer'), { maxKeys: 12 }),
  ),
}));

const OBJECT = fc.dictionary(fc.constantFrom(...NAMES), anyAnswer, { maxKeys: 30 });
/** Whole answers, in which one thing is odd. */
const BOT = {
  id: 'bot_1',
  state: 'ended',
  events: [
    { type: 'recording_permission_granted', sub_type: null, created_at: '2026-03-02T11:00:00Z' },
    { type: 'meeting_ended', sub_type: null, created_at: '2026-03-02T11:30:00Z' },
  ],
  recording_state: 'complete',
  transcription_state: 'complete',
  deduplication_key: 'mj_1',
  results: [],
  next: null,
  url: 'http://127.0.0.1:1/file.mp4',
  start_timestamp_ms: 1_772_449_200_000,
};
const MEETING = {
  id: 42,
  platform: 'google_meet',
  native_meeting_id: 'abc-defg-hij',
  status: 'completed',
  start_time: '2026-03-02T11:00:00Z',
  end_time: '2026-03-02T11:30:00Z',
  updated_at: '2026-03-02T11:30:00Z',
  completion_reason: 'left_alone',
  failure_stage: null,
  data: { status_transition: [{ to: 'active' }] },
  meetings: [],
  recordings: [{ id: 7, meeting_id: 42 }],
  has_more: false,
  raw_url: '/recordings/7/media/1/raw',
  duration_seconds: 61,
  segments: [{ segment_id: 'a', speaker: 'Ada', text: 'Yes.', start: 1, end: 2, completed: true }],
};
const nearlyRight = (whole: object) => OBJECT.map((odd) => ({ ...whole, ...Object.fromEntries(Object.entries(odd).slice(0, 2)) }));
const reply = (whole: object): fc.Arbitrary<ProviderReply> =>
  fc.record({
    status: fc.constantFrom(200, 200, 200, 200, 201, 204, 400, 404, 409, 422, 500),
    body: fc.oneof(nearlyRight(whole), nearlyRight(whole), OBJECT, anyAnswer, fc.array(OBJECT, { maxLength: 5 })),
  });

const isFiniteOrNull = (value: number | null): boolean => value === null || Number.isFinite(value);
const isState = (value: unknown): value is 'pending' | 'none' => value === 'pending' || value === 'none';

const isSnapshot = (told: Awaited<ReturnType<Notetaker['snapshot']>>): boolean =>
  told === null || (STATUSES.includes(told.status) && (told.reason === null || /^[a-z0-9_]{1,64}$/.test(told.reason)));
const isRecording = (told: Awaited<ReturnType<Notetaker['recording']>>): boolean =>
  isState(told) ||
  (isFiniteOrNull(told.startedAt?.getTime() ?? null) && isFiniteOrNull(told.durationSeconds) && (told.title?.length ?? 0) <= 1000);
const isTranscript = (told: Awaited<ReturnType<Notetaker['transcript']>>): boolean =>
  isState(told) ||
  told.every(({ startSeconds, endSeconds, text }) => Number.isFinite(endSeconds) && startSeconds <= endSeconds && text.isWellFormed());

/** Each call, and whether its answer is one that the rest of the service can live with. */
const CALLS: Readonly<Record<string, (notetaker: Notetaker) => Promise<boolean>>> = {
  dispatch: async (notetaker) => /^[\w-]+$/.test((await notetaker.dispatch(request({ meetingUrl: MEET }))).ref),
  find: async (notetaker) => /^[\w-]+$/.test((await notetaker.find(request({ meetingUrl: MEET }))) ?? 'none'),
  snapshot: async (notetaker) => isSnapshot(await notetaker.snapshot('42')),
  leave: async (notetaker) => (await notetaker.leave('42')) === undefined,
  recording: async (notetaker) => isRecording(await notetaker.recording('42')),
  transcript: async (notetaker) => isTranscript(await notetaker.transcript('42')),
  erase: async (notetaker) => (await notetaker.erase?.('42')) === undefined,
};

describe.each([
  ['an Attendee', BOT],
  ['a Vexa', MEETING],
] as const)('%s that answers whatever it likes', (name, whole) => {
  let server: ProviderServer;
  let notetaker: Notetaker;
  let close: () => Promise<void>;
  beforeAll(async () => {
    server = await startProviderServer(() => ({ status: 500 }));
    const clock = fakeClock(NOON);
    const log = memoryLog();
    const http = createProviderHttp({ provider: name, baseUrl: server.url, headers: {}, clock, log, called: () => undefined });
    const options = { http, download: plainDownload, clock, log, settings: { url: server.url, apiKey: 'key', webhookSecrets: [] } };
    notetaker = withinBounds(name === 'a Vexa' ? createVexa(options) : createAttendee(options), clock);
    close = http.close;
  });
  afterAll(async () => {
    await close();
    await server.stop();
  });

  it.each(Object.entries(CALLS))('[MEET-10] is refused or understood in %s, and breaks nothing', async (_name, call) => {
    let understood = 0;
    await fc.assert(
      fc.asyncProperty(reply(whole), async (answer) => {
        server.fail(answer);
        const [isSound, error] = await call(notetaker).then(
          (sound) => [sound, null],
          (fault: unknown) => [null, fault],
        );
        if (error === null) understood += 1;
        if (error === null) expect(isSound).toBe(true);
        else expect(error).toMatchObject({ name: 'NotetakerError' });
      }),
      { numRuns: 150 },
    );
    expect(understood).toBeGreaterThan(0);
  });
});
