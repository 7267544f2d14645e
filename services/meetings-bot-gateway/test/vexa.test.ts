import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { memoryLog } from '@bubbles/testing/memory-log.ts';
import { describe, expect, it } from '@jest/globals';
import { createProviderHttp } from '../src/adapters/notetakers/provider-http.ts';
import { createVexa } from '../src/adapters/notetakers/vexa.ts';
import type { DispatchRequest, Download } from '../src/ports.ts';
import { MEET, NOON } from './builders.ts';
import { describeNotetaker, type NotetakerWorld, PROVIDER_KEY, type Provider, RECORDED } from './notetaker.contract.ts';
import { describeWire } from './notetaker-wire.contract.ts';
import { plainDownload } from './plain-download.ts';
import { startFakeVexa } from './vexa-server.ts';

const SECRET = Buffer.from('whsec_demo_secret');
const STATES = { joining: 'joining', in_waiting_room: 'awaiting_admission', recording: 'active' } as const;
const isStep = (status: string): status is keyof typeof STATES => status in STATES;
/** Of the form of MEET. Each join has a meeting of its own, since Vexa has one notetaker a meeting. */
const codeOf = (joinId: string): string => `abc-defg-hi${'jklmnop'[Number(joinId.slice(3)) - 1]}`;

const startWorld = async (deadlineMs = 60_000) => {
  const clock = fakeClock(NOON);
  const log = memoryLog();
  const outcomes: string[] = [];
  const downloads: (readonly [string, Readonly<Record<string, string>>])[] = [];
  const download: Download = (url, headers = {}) => {
    downloads.push([url, headers]);
    return plainDownload(url, headers);
  };
  const vexa = await startFakeVexa({ apiKey: PROVIDER_KEY, secret: SECRET, now: () => clock.now() });
  const http = createProviderHttp({
    provider: 'vexa',
    baseUrl: vexa.url,
    headers: { 'x-api-key': PROVIDER_KEY },
    clock,
    log,
    called: (_provider, outcome) => outcomes.push(outcome),
    deadlineMs,
  });
  const notetaker = createVexa({ http, download, clock, log, settings: { url: vexa.url, apiKey: PROVIDER_KEY, webhookSecrets: [SECRET] } });
  const stop = async () => {
    await http.close();
    await vexa.stop();
  };
  return { clock, log, outcomes, downloads, vexa, notetaker, stop };
};
type World = Awaited<ReturnType<typeof startWorld>>;

const SPOKEN = RECORDED.segments.map(({ speaker, text, startSeconds, endSeconds }, index) => ({
  segment_id: `s${index}`,
  speaker: speaker ?? '',
  text,
  start: startSeconds,
  end: endSeconds,
  completed: true,
  absolute_start_time: null,
}));

/** What there is of a meeting that is over, or how far it is when something is still to come. */
const end = ({ clock, vexa }: World, native: string, { recording, transcript }: Parameters<NotetakerWorld['keep']>[1]): void => {
  const meeting = vexa.of(native);
  if (transcript === 'none') Object.assign(meeting.data, { transcribe_enabled: false });
  if (transcript === 'there') meeting.segments = SPOKEN;
  if (recording === 'there') meeting.file = RECORDED.bytes;
  if (recording === 'pending' || transcript === 'pending') return;
  vexa.go(meeting, 'stopping');
  vexa.go(meeting, 'completed', { completion_reason: 'left_alone' });
  if (recording === 'none') meeting.end_time = new Date(clock.now().getTime() - 600_000).toISOString();
};

const open = async ({ deadlineMs }: { readonly deadlineMs: number }): Promise<NotetakerWorld> => {
  const world = await startWorld(deadlineMs);
  const { vexa, notetaker, outcomes, log, stop } = world;
  const kept = new Map<string, Parameters<NotetakerWorld['keep']>[1]>();
  const joins: string[] = [];
  const inOwnMeeting = (request: DispatchRequest) => ({ ...request, meetingUrl: `https://meet.google.com/${codeOf(request.joinId)}` });
  const meetingOf = (joinId: string) => vexa.of(codeOf(joinId));
  return {
    notetaker: {
      ...notetaker,
      dispatch: (request) => notetaker.dispatch(inOwnMeeting(request)),
      find: (request) => notetaker.find(inOwnMeeting(request)),
    },
    sent: () => Promise.resolve(vexa.meetings.map(({ native_meeting_id }) => `mj_${'jk'.indexOf(native_meeting_id.at(-1) ?? '') + 1}`)),
    move(joinId, status) {
      const meeting = meetingOf(joinId);
      if (isStep(status)) vexa.go(meeting, STATES[status]);
      else if (status === 'fatal') vexa.go(meeting, 'failed', { completion_reason: 'awaiting_admission_rejected' });
      else if (status === 'done') end(world, codeOf(joinId), kept.get(joinId) ?? { recording: 'there', transcript: 'there' });
      return Promise.resolve();
    },
    hasLeft: (joinId) => Promise.resolve(meetingOf(joinId).status === 'stopping'),
    hasErased: (joinId) => Promise.resolve(meetingOf(joinId).isErased),
    keep: (joinId, what) => void kept.set(joinId, what),
    wire: {
      fail(fault) {
        vexa.apiKey = fault === 'wrong key' ? 'another key' : PROVIDER_KEY;
        vexa.capacity = fault === 'capacity' ? 0 : 100;
        vexa.fail(fault === 'wrong key' || fault === 'capacity' ? null : fault);
      },
      webhook: (joinId) => vexa.webhook(meetingOf(joinId)),
      sign: vexa.sign,
      told: () => JSON.stringify([log.lines, outcomes, joins]),
      outcomes: () => outcomes,
    },
    stop,
  };
};

const provider: Provider = {
  name: 'Vexa',
  // It has one state for a call and for a recording in it.
  statuses: ['joining', 'in_waiting_room', 'recording'],
  fatalReason: 'entry_denied',
  unknownRef: '999',
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
const CODE = 'abc-defg-hij';
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
    ({ kind, reason, retryAfterSeconds }) => [kind, reason, retryAfterSeconds],
  );
/** Of a run that is over. */
const recorded = async (world: World): Promise<string> => {
  const { ref } = await world.notetaker.dispatch(request());
  for (const state of Object.values(STATES)) world.vexa.go(world.vexa.of(CODE), state);
  end(world, CODE, { recording: 'there', transcript: 'there' });
  return ref;
};
const openFile = async ({ notetaker }: World, ref: string) => {
  const recording = await notetaker.recording(ref);
  if (recording === 'pending' || recording === 'none') throw new Error(`the recording is ${recording}`);
  return recording.open?.();
};

describe('a Vexa that is asked for a notetaker', () => {
  it('gets platform, id, passcode and the whole link', () =>
    within(async ({ notetaker, vexa }) => {
      const meetingUrl = 'https://acme.zoom.us/j/84114270867?pwd=QmFmZXNo.1';
      await notetaker.dispatch(request({ platform: 'zoom', meetingUrl }));
      expect(vexa.requests.at(-1)).toMatchObject({
        headers: { 'x-api-key': PROVIDER_KEY },
        body: {
          platform: 'zoom',
          native_meeting_id: '84114270867',
          passcode: 'QmFmZXNo.1',
          meeting_url: meetingUrl,
          bot_name: 'Notetaker',
          recording_enabled: true,
        },
      });
    }));

  it('is not asked for one in Webex or GoTo', () =>
    within(async ({ notetaker, vexa }) => {
      for (const meetingUrl of ['https://acme.webex.com/meet/ada', 'https://meet.goto.com/123456789'])
        expect(await faultOf(notetaker.dispatch(request({ meetingUrl })))).toEqual(['permanent', 'platform_not_supported', null]);
      expect(vexa.requests).toEqual([]);
    }));

  it.each([
    ['no room', { capacity: 0 }, ['transient', 'notetaker_unavailable', 11]],
    ['nobody to transcribe', { hasTranscription: false }, ['transient', 'notetaker_unavailable', null]],
  ])('refuses with %s', (_name, settings, fault) =>
    within(async ({ notetaker, vexa }) => {
      Object.assign(vexa, settings);
      expect(await faultOf(notetaker.dispatch(request()))).toEqual(fault);
    }),
  );

  it('refuses a link that it does not take for good, and its words, which hold the link, are told nobody', () =>
    within(async ({ notetaker, vexa, log }) => {
      vexa.fail({ status: 422, body: { detail: `not derived from ${MEET}` } });
      expect(await faultOf(notetaker.dispatch(request()))).toEqual(['permanent', 'meeting_link_invalid', null]);
      expect(JSON.stringify(log.lines)).not.toContain(CODE);
    }));

  it('[MEET-10] sends no second one after a lost answer', () =>
    within(async ({ notetaker, vexa, log }) => {
      vexa.losesAnswers = true;
      expect(await faultOf(notetaker.dispatch(request()))).toEqual(['transient', 'notetaker_unavailable', null]);
      const ref = String(vexa.of(CODE).id);
      expect(await notetaker.dispatch(request({ tries: 1 }))).toEqual({ ref, adopted: true });
      expect(log.lines.some(({ message }) => message === 'notetaker shared with another join')).toBe(false);
    }));

  it('shares the notetaker of another join in the meeting, with a warning', () =>
    within(async ({ notetaker, vexa, log }) => {
      const { ref } = await notetaker.dispatch(request());
      expect(await notetaker.dispatch(request({ joinId: 'mj_2' }))).toEqual({ ref, adopted: true });
      expect(vexa.meetings).toHaveLength(1);
      expect(log.lines).toContainEqual(expect.objectContaining({ level: 'warn', message: 'notetaker shared with another join' }));
    }));

  it('sends none while the one before is on its way out', () =>
    within(async ({ notetaker, vexa }) => {
      await notetaker.dispatch(request());
      vexa.go(vexa.of(CODE), 'stopping');
      expect(await faultOf(notetaker.dispatch(request({ joinId: 'mj_2' })))).toEqual(['transient', 'notetaker_unavailable', null]);
    }));

  it.each([true, false])('finds the run that is live among many, also in a version that is old: %p', (isOld) =>
    within(async ({ notetaker, vexa }) => {
      Object.assign(vexa, { isOld, capacity: 1000 });
      const { ref } = await notetaker.dispatch(request());
      for (let n = 0; n < 230; n += 1) {
        const meetingUrl = `https://zoom.us/j/${100_000_000 + n}`;
        await notetaker.dispatch(request({ meetingUrl, platform: 'zoom' }));
      }
      expect(await notetaker.find(request())).toBe(ref);
      expect(await notetaker.find(request({ meetingUrl: 'https://meet.google.com/zzz-zzzz-zzz' }))).toBeNull();
    }),
  );

  it('is not asked for ever by a list without an end', () =>
    within(async ({ notetaker, vexa }) => {
      vexa.fail({ status: 200, body: { meetings: [null], has_more: true } });
      expect(await faultOf(notetaker.find(request()))).toEqual(['transient', 'notetaker_unavailable', null]);
      expect(vexa.requests).toHaveLength(20);
    }));
});

describe('what a Vexa keeps of a run', () => {
  it('is fetched with its key', () =>
    within(async (world) => {
      await openFile(world, await recorded(world));
      expect(world.downloads).toEqual([[expect.stringContaining(`${world.vexa.url}/recordings/`), { 'x-api-key': PROVIDER_KEY }]]);
    }));

  it.each(['http://127.0.0.1:1', 'https://storage.example', '//127.0.0.1:1', 'javascript:'])(
    'is fetched without its key from %s',
    (mediaBase) =>
      within(async (world) => {
        const ref = await recorded(world);
        world.vexa.mediaBase = mediaBase;
        await openFile(world, ref).catch(() => null);
        expect(world.downloads).toEqual([[expect.stringContaining(mediaBase), {}]]);
      }),
  );

  it('is of this run, not of a later one in the same meeting', () =>
    within(async (world) => {
      const { notetaker, vexa } = world;
      const ref = await recorded(world);
      const later = await notetaker.dispatch(request({ joinId: 'mj_2' }));
      vexa.go(vexa.of(CODE), 'failed');
      expect([await notetaker.transcript(ref), await notetaker.transcript(later.ref)]).toEqual([RECORDED.segments, []]);
      vexa.isOld = true;
      expect([await notetaker.transcript(ref), await notetaker.transcript(later.ref)]).toEqual(['none', []]);
      await notetaker.leave(ref);
    }));

  it('is what was said alone, when there is no file ten minutes after the end', () =>
    within(async (world) => {
      const { clock, notetaker, vexa } = world;
      const ref = await recorded(world);
      vexa.of(CODE).file = null;
      expect(await notetaker.recording(ref)).toBe('pending');
      await clock.advance(600_000);
      expect(await notetaker.recording(ref)).toMatchObject({ open: null, startedAt: NOON });
    }));
});

describe('a notetaker of a Vexa', () => {
  it('[MEET-10] that has left does not take a later one in the same meeting with it', () =>
    within(async (world) => {
      const ref = await recorded(world);
      await world.notetaker.dispatch(request({ joinId: 'mj_2' }));
      await world.notetaker.leave(ref);
      expect(world.vexa.of(CODE).status).toBe('requested');
    }));

  it('keeps its data until it has left', () =>
    within(async ({ notetaker }) => {
      const { ref } = await notetaker.dispatch(request());
      expect(await faultOf(notetaker.erase(ref))).toEqual(['transient', 'notetaker_unavailable', null]);
    }));
});
