import { describe, expect, it } from '@jest/globals';
import type { DispatchRequest } from '../src/ports.ts';
import { MEET, NOON } from './builders.ts';
import { describeNotetaker, PROVIDER_KEY, RECORDED } from './notetaker.contract.ts';
import { describeWire } from './notetaker-wire.contract.ts';
import { endRun, STATES, startVexaWorld, type VexaWorld, vexaProvider } from './vexa-world.ts';

describeNotetaker(vexaProvider);
describeWire(vexaProvider);

const request = (fields: Partial<DispatchRequest> = {}): DispatchRequest => ({
  joinId: 'mj_1',
  meetingUrl: MEET,
  platform: 'google_meet',
  botName: 'Notetaker',
  tries: 0,
  ...fields,
});
const CODE = 'abc-defg-hij';
const within = async (test: (world: VexaWorld) => Promise<void>): Promise<void> => {
  const world = await startVexaWorld();
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
const recorded = async (world: VexaWorld): Promise<string> => {
  const { ref } = await world.notetaker.dispatch(request());
  for (const state of Object.values(STATES)) world.vexa.go(world.vexa.of(CODE), state);
  endRun(world, CODE, { recording: 'there', transcript: 'there' });
  return ref;
};
const openFile = async ({ notetaker }: VexaWorld, ref: string) => {
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

  it('is nothing among hundreds of others, also in a version that lists all of them each time', () =>
    within(async (world) => {
      const { clock, notetaker, vexa } = world;
      Object.assign(vexa, { isOld: true, capacity: 1000 });
      for (let n = 0; n < 120; n += 1) {
        await notetaker.dispatch(request({ meetingUrl: `https://zoom.us/j/${100_000_000 + n}`, platform: 'zoom' }));
        vexa.of(String(100_000_000 + n)).file = RECORDED.bytes;
      }
      const ref = await recorded(world);
      Object.assign(vexa.of(CODE), { file: null, segments: [] });
      await clock.advance(600_000);
      expect(await notetaker.recording(ref)).toBe('none');
      vexa.of(CODE).file = RECORDED.bytes;
      expect(await notetaker.recording(ref)).toMatchObject({ startedAt: NOON });
    }));

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
