import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { memoryLog } from '@bubbles/testing/memory-log.ts';
import { createProviderHttp } from '../src/adapters/notetakers/provider-http.ts';
import { createVexa } from '../src/adapters/notetakers/vexa.ts';
import type { DispatchRequest, Download } from '../src/ports.ts';
import { NOON } from './builders.ts';
import { type NotetakerWorld, PROVIDER_KEY, type Provider, RECORDED } from './notetaker.contract.ts';
import { plainDownload } from './plain-download.ts';
import { startFakeVexa } from './vexa-server.ts';

const SECRET = Buffer.from('whsec_demo_secret');
export const STATES = { joining: 'joining', in_waiting_room: 'awaiting_admission', recording: 'active' } as const;
const isStep = (status: string): status is keyof typeof STATES => status in STATES;
/** Of the form of MEET. Each join has a meeting of its own, since Vexa has one notetaker a meeting. */
const codeOf = (joinId: string): string => `abc-defg-hi${'jklmnop'[Number(joinId.slice(3)) - 1]}`;

/** A Vexa with nobody in a meeting, and the notetakers of it. */
export const startVexaWorld = async (deadlineMs = 60_000) => {
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
export type VexaWorld = Awaited<ReturnType<typeof startVexaWorld>>;

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
export const endRun = (
  { clock, vexa }: VexaWorld,
  native: string,
  { recording, transcript }: Parameters<NotetakerWorld['keep']>[1],
): void => {
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
  const world = await startVexaWorld(deadlineMs);
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
      else if (status === 'done') endRun(world, codeOf(joinId), kept.get(joinId) ?? { recording: 'there', transcript: 'there' });
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

export const vexaProvider: Provider = {
  name: 'Vexa',
  // It has one state for a call and for a recording in it.
  statuses: ['joining', 'in_waiting_room', 'recording'],
  fatalReason: 'entry_denied',
  unknownRef: '999',
  hasFiles: true,
  open,
};
