import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { memoryLog } from '@bubbles/testing/memory-log.ts';
import { describe, expect, it } from '@jest/globals';
import { createAttendee } from '../src/adapters/notetakers/attendee.ts';
import { createProviderHttp } from '../src/adapters/notetakers/provider-http.ts';
import type { DispatchRequest, Notetaker } from '../src/ports.ts';
import { type FakeAttendee, startFakeAttendee } from './attendee-server.ts';
import { MEET, NOON } from './builders.ts';
import { describeNotetaker, type NotetakerWorld, PROVIDER_KEY, type Provider, RECORDED } from './notetaker.contract.ts';
import { describeWire } from './notetaker-wire.contract.ts';
import { plainDownload } from './plain-download.ts';

const SECRET = Buffer.alloc(32, 7);
const EVENTS = {
  joining: ['join_requested', 'joining'],
  in_waiting_room: ['put_in_waiting_room', 'waiting_room'],
  in_call: ['joined_meeting', 'joined_not_recording'],
  recording: ['recording_permission_granted', 'joined_recording'],
} as const;
const isStep = (status: string): status is keyof typeof EVENTS => status in EVENTS;

const startWorld = async (deadlineMs = 60_000) => {
  const clock = fakeClock(NOON);
  const log = memoryLog();
  const outcomes: string[] = [];
  const attendee = await startFakeAttendee({ apiKey: PROVIDER_KEY, secret: SECRET, now: () => clock.now() });
  const http = createProviderHttp({
    provider: 'attendee',
    baseUrl: attendee.url,
    headers: { authorization: `Token ${PROVIDER_KEY}` },
    clock,
    log,
    called: (_provider, outcome) => outcomes.push(outcome),
    deadlineMs,
  });
  const notetaker = createAttendee({ http, download: plainDownload, clock, log, settings: { webhookSecrets: [SECRET] } });
  const stop = async () => {
    await http.close();
    await attendee.stop();
  };
  return { clock, log, outcomes, attendee, notetaker, stop };
};
type World = Awaited<ReturnType<typeof startWorld>>;

/** The meeting ends, and there is of it what is kept. */
const end = (attendee: FakeAttendee, joinId: string, { recording, transcript }: Parameters<NotetakerWorld['keep']>[1]): void => {
  const bot = attendee.ofJoin(joinId);
  attendee.happen(bot, 'meeting_ended', 'post_processing');
  if (recording === 'pending') return;
  attendee.happen(bot, 'post_processing_completed', 'ended');
  bot.recordingState = recording === 'there' ? 'complete' : 'failed';
  bot.file = recording === 'there' ? RECORDED.bytes : null;
  bot.transcriptionState = { there: 'complete', pending: 'in_progress', none: 'not_started' }[transcript];
  if (transcript === 'there')
    bot.utterances = RECORDED.segments.map(({ speaker, text, startSeconds, endSeconds }) => ({
      speaker_name: speaker,
      speaker_uuid: '100',
      timestamp_ms: NOON.getTime() + startSeconds * 1000,
      duration_ms: (endSeconds - startSeconds) * 1000,
      transcription: { transcript: text, words: [] },
    }));
};

const open = async ({ deadlineMs }: { readonly deadlineMs: number }): Promise<NotetakerWorld> => {
  const { attendee, notetaker, outcomes, log, stop } = await startWorld(deadlineMs);
  const kept = new Map<string, Parameters<NotetakerWorld['keep']>[1]>();
  return {
    notetaker,
    sent: () => Promise.resolve(attendee.bots.map(({ key }) => key ?? '')),
    move(joinId, status) {
      const bot = attendee.ofJoin(joinId);
      if (isStep(status)) attendee.happen(bot, EVENTS[status][0], EVENTS[status][1]);
      else if (status === 'fatal') attendee.happen(bot, 'could_not_join_meeting', 'fatal_error', 'request_to_join_denied');
      else end(attendee, joinId, kept.get(joinId) ?? { recording: 'there', transcript: 'there' });
      if (status === 'recording') Object.assign(bot, { recordingState: 'in_progress', transcriptionState: 'in_progress' });
      return Promise.resolve();
    },
    hasLeft: (joinId) => Promise.resolve(attendee.ofJoin(joinId).state === 'leaving'),
    hasErased: (joinId) => Promise.resolve(attendee.ofJoin(joinId).state === 'data_deleted'),
    keep: (joinId, what) => void kept.set(joinId, what),
    wire: {
      fail(fault) {
        attendee.apiKey = fault === 'wrong key' ? 'another key' : PROVIDER_KEY;
        attendee.capacity = fault === 'capacity' ? 0 : 100;
        attendee.fail(fault === 'wrong key' || fault === 'capacity' ? null : fault);
      },
      webhook: (joinId) => attendee.webhook(attendee.ofJoin(joinId)),
      sign: attendee.sign,
      told: () => JSON.stringify([log.lines, outcomes]),
      outcomes: () => outcomes,
    },
    stop,
  };
};

const provider: Provider = {
  name: 'Attendee',
  statuses: ['joining', 'in_waiting_room', 'in_call', 'recording'],
  fatalReason: 'entry_denied',
  unknownRef: 'bot_Unknown',
  hasFiles: true,
  open,
};
describeNotetaker(provider);
describeWire(provider);

const request = (fields: Partial<DispatchRequest> = {}): DispatchRequest => ({
  joinId: 'mj_1',
  meetingUrl: MEET,
  platform: 'google_meet',
  botName: 'Notetaker',
  tries: 0,
  ...fields,
});
const within = async (test: (world: World) => Promise<void>): Promise<void> => {
  const world = await startWorld();
  try {
    await test(world);
  } finally {
    await world.stop();
  }
};
const faultOf = (call: Promise<unknown>) =>
  call.then(
    () => null,
    ({ kind, reason }) => [kind, reason],
  );
const sendAndEnd = async ({ notetaker, attendee }: World, kept: Parameters<NotetakerWorld['keep']>[1]): Promise<string> => {
  const { ref } = await notetaker.dispatch(request());
  for (const [type, state] of Object.values(EVENTS)) attendee.happen(attendee.ofJoin('mj_1'), type, state);
  end(attendee, 'mj_1', kept);
  return ref;
};
const recordingOf = async (notetaker: Notetaker, ref: string) => {
  const recording = await notetaker.recording(ref);
  if (recording === 'pending' || recording === 'none') throw new Error(`the recording is ${recording}`);
  return recording;
};

describe('an Attendee that is asked for a notetaker', () => {
  it('gets the link, the name and the join, with the scheme Token', () =>
    within(async ({ notetaker, attendee }) => {
      await notetaker.dispatch(request());
      expect(attendee.requests.at(-1)).toMatchObject({
        method: 'POST',
        path: '/api/v1/bots',
        headers: { authorization: `Token ${PROVIDER_KEY}` },
        body: { meeting_url: MEET, bot_name: 'Notetaker', metadata: { join_id: 'mj_1' }, deduplication_key: 'mj_1' },
      });
    }));

  it.each(['webex', 'goto_meeting'] as const)('is not asked for one in %s', (platform) =>
    within(async ({ notetaker, attendee }) => {
      expect(await faultOf(notetaker.dispatch(request({ platform })))).toEqual(['permanent', 'platform_not_supported']);
      expect(attendee.requests).toEqual([]);
    }),
  );

  it.each([
    ['a link that it refuses', { meetingUrl: 'https://example.com/x' }, {}, ['permanent', 'meeting_link_invalid']],
    [
      'no Zoom app',
      { meetingUrl: 'https://zoom.us/j/123456789', platform: 'zoom' },
      { hasZoomApp: false },
      ['permanent', 'zoom_authorization_required'],
    ],
    ['no credits', {}, { hasCredits: false }, ['transient', 'notetaker_unavailable']],
    ['no room', {}, { capacity: 0 }, ['transient', 'notetaker_unavailable']],
    ['a name that it refuses', { botName: undefined as unknown as string }, {}, ['permanent', 'notetaker_error']],
  ] as const)('refuses with %s', (_name, fields, settings, fault) =>
    within(async ({ notetaker, attendee }) => {
      Object.assign(attendee, settings);
      expect(await faultOf(notetaker.dispatch(request(fields)))).toEqual(fault);
      expect(attendee.bots).toEqual([]);
    }),
  );

  it('[MEET-10] sends no second one after a lost answer, when it is full by the first one, and when the first one has ended', () =>
    within(async ({ notetaker, attendee }) => {
      Object.assign(attendee, { losesAnswers: true, capacity: 1 });
      expect(await faultOf(notetaker.dispatch(request()))).toEqual(['transient', 'notetaker_unavailable']);
      attendee.losesAnswers = false;
      const { id } = attendee.ofJoin('mj_1');
      expect(await notetaker.dispatch(request())).toEqual({ ref: id, adopted: true });
      attendee.happen(attendee.ofJoin('mj_1'), 'could_not_join_meeting', 'fatal_error', 'meeting_not_found');
      expect(await notetaker.dispatch(request())).toEqual({ ref: id, adopted: true });
    }));

  it('[MEET-10] sends one for two requests at once', () =>
    within(async ({ notetaker, attendee }) => {
      const sent = await Promise.all([notetaker.dispatch(request()), notetaker.dispatch(request())]);
      expect(new Set(sent.map(({ ref }) => ref)).size).toBe(1);
      expect(attendee.bots).toHaveLength(1);
    }));

  it('finds the run of a join on a later page, and never that of another join', () =>
    within(async ({ notetaker, attendee }) => {
      attendee.pageSize = 2;
      for (const n of [1, 2, 3, 4, 5]) await notetaker.dispatch(request({ joinId: `mj_${n}` }));
      attendee.isOld = true;
      expect(await notetaker.find(request({ joinId: 'mj_5' }))).toBe(attendee.ofJoin('mj_5').id);
      expect(await notetaker.find(request({ joinId: 'mj_6' }))).toBeNull();
    }));

  it('is not asked for ever by a list without an end', () =>
    within(async ({ notetaker, attendee }) => {
      attendee.fail({ status: 200, body: { results: [], next: `${attendee.url}/api/v1/bots?cursor=again` } });
      expect(await faultOf(notetaker.dispatch(request()))).toEqual(['transient', 'notetaker_unavailable']);
      expect(attendee.requests).toHaveLength(40);
    }));

  it('is asked at its own address alone, wherever its pages are said to be', () =>
    within(async ({ notetaker, attendee }) => {
      for (const next of ['http://127.0.0.1:1/?cursor=a', '//evil.example/?cursor=a', 'cursor=a', '', 'x'.repeat(1e5)]) {
        attendee.fail({ status: 200, body: { results: [], next } });
        const [, reason] = (await faultOf(notetaker.find(request()))) ?? [null, 'found none'];
        expect(['found none', 'notetaker_unavailable']).toContain(reason);
      }
      expect(new Set(attendee.requests.map(({ path }) => path))).toEqual(new Set(['/api/v1/bots']));
    }));
});

describe('what an Attendee keeps of a run', () => {
  const THERE = { recording: 'there', transcript: 'there' } as const;

  it('[MEET-09] is told with its times and people', () =>
    within(async (world) => {
      const ref = await sendAndEnd(world, THERE);
      expect(await world.notetaker.recording(ref)).toMatchObject({
        title: null,
        startedAt: NOON,
        participants: [
          { name: 'Ada', email: null },
          { name: 'Zoe', email: null },
        ],
      });
    }));

  it('waits for its people for an hour', () =>
    within(async (world) => {
      const { clock, notetaker, attendee } = world;
      const ref = await sendAndEnd(world, THERE);
      attendee.hidesPeople = true;
      expect(await faultOf(notetaker.recording(ref))).toEqual(['transient', 'notetaker_unavailable']);
      await clock.advance(3_600_000);
      expect(await notetaker.recording(ref)).toMatchObject({ participants: [], startedAt: NOON });
    }));

  it('is opened by a new link each time, since links end after half an hour', () =>
    within(async (world) => {
      const { clock, notetaker } = world;
      const { open: openFile } = await recordingOf(notetaker, await sendAndEnd(world, THERE));
      await clock.advance(31 * 60_000);
      expect((await openFile?.())?.contentType).toBe('video/mp4');
    }));

  it('is what was said alone, when the file is lost', () =>
    within(async (world) => {
      const ref = await sendAndEnd(world, THERE);
      Object.assign(world.attendee.ofJoin('mj_1'), { file: null, recordingState: 'failed', transcriptionState: 'failed' });
      expect(await world.notetaker.recording(ref)).toMatchObject({ open: null, startedAt: NOON });
      expect(await world.notetaker.transcript(ref)).toEqual(RECORDED.segments);
    }));

  it('is nothing of a run that never recorded', () =>
    within(async ({ notetaker, attendee }) => {
      const { ref } = await notetaker.dispatch(request());
      attendee.happen(attendee.ofJoin('mj_1'), 'meeting_ended', 'ended');
      expect([await notetaker.recording(ref), await notetaker.transcript(ref)]).toEqual(['none', 'none']);
    }));

  it('is taken as it is an hour after a run that hangs', () =>
    within(async (world) => {
      const { clock, notetaker, attendee } = world;
      const ref = await sendAndEnd(world, THERE);
      Object.assign(attendee.ofJoin('mj_1'), { state: 'leaving', file: null, transcriptionState: 'in_progress' });
      expect([await notetaker.recording(ref), await notetaker.transcript(ref)]).toEqual(['pending', 'pending']);
      await clock.advance(3_600_000);
      expect(await notetaker.recording(ref)).toMatchObject({ open: null });
      expect(await notetaker.transcript(ref)).toEqual(RECORDED.segments);
    }));
});

describe('a notetaker of an Attendee', () => {
  it('is told to leave again while it can not yet', () =>
    within(async ({ notetaker }) => {
      const { ref } = await notetaker.dispatch(request());
      expect(await faultOf(notetaker.leave(ref))).toEqual(['transient', 'notetaker_unavailable']);
    }));

  it('keeps its data until it has left', () =>
    within(async ({ notetaker, attendee }) => {
      const { ref } = await notetaker.dispatch(request());
      attendee.happen(attendee.ofJoin('mj_1'), 'join_requested', 'joining');
      expect(await faultOf(notetaker.erase(ref))).toEqual(['transient', 'notetaker_unavailable']);
    }));
});
