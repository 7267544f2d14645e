import { describe, expect, it } from '@jest/globals';
import type { JoinStatus } from '../src/domain/join.ts';
import type { DispatchRequest, Notetaker, ProviderWebhook, Segment } from '../src/ports.ts';
import { MEET } from './builders.ts';
import type { WireFault } from './provider-server.ts';

/** What the provider has of a recording or transcript. */
type Availability = 'pending' | 'none' | 'there';

/** A provider, and the meetings that its notetakers are in. */
export interface NotetakerWorld {
  readonly notetaker: Notetaker;
  /** The joins that a notetaker was sent for, each as often as one was. */
  sent(): Promise<readonly string[]>;
  /** `fatal` in a word of ours, with one of the provider's reasons for it; `done` after it recorded. */
  move(joinId: string, status: JoinStatus): Promise<void>;
  hasLeft(joinId: string): Promise<boolean>;
  hasErased(joinId: string): Promise<boolean>;
  /** What there is of the meeting once it is over: `RECORDED`, where it is there. */
  keep(joinId: string, kept: { readonly recording: Availability; readonly transcript: Availability }): void;
  /** Null for a provider that is not called over HTTP, and sends no webhooks. */
  readonly wire: WireWorld | null;
  stop(): Promise<void>;
}

export interface WireWorld {
  fail(fault: WireFault | 'wrong key' | 'capacity' | null): void;
  /** About what just happened to the run. */
  webhook(joinId: string): ProviderWebhook;
  /** Signed as far as these bytes can be. */
  sign(body: Buffer): ProviderWebhook;
  /** What was logged and counted so far, as text. */
  told(): string;
  outcomes(): readonly string[];
}

interface OpenOptions {
  /** For each call. */
  readonly deadlineMs: number;
}

export interface Provider {
  readonly name: string;
  /** The statuses that it can tell before the end, in their order. */
  readonly statuses: readonly JoinStatus[];
  /** How it tells that a notetaker failed in the way of `move(…, 'fatal')`. */
  readonly fatalReason: string;
  /** Of the form of a reference to a run. */
  readonly unknownRef: string;
  /** False where recordings come with no file, at once and always. */
  readonly hasFiles: boolean;
  open(options: OpenOptions): Promise<NotetakerWorld>;
}

/** What a fake provider has of the meeting. */
export const RECORDED = {
  title: 'Weekly',
  bytes: Buffer.from('the recording'),
  contentType: 'video/mp4',
  segments: [
    { speaker: 'Ada', text: 'Shall we begin?', startSeconds: 1, endSeconds: 2.5 },
    { speaker: null, text: 'Yes.', startSeconds: 3, endSeconds: 3.5 },
  ] satisfies readonly Segment[],
} as const;
/** Of every world; it must show up nowhere. */
export const PROVIDER_KEY = 'k3y-that-nobody-may-see';
export const PASSCODE = 'sesamopen';
const LONG_MS = 60_000;

export const request = (fields: Partial<DispatchRequest> = {}): DispatchRequest => ({
  joinId: 'mj_1',
  meetingUrl: `${MEET}?pwd=${PASSCODE}`,
  platform: 'google_meet',
  botName: 'Notetaker',
  tries: 0,
  ...fields,
});

const readAll = async (chunks: AsyncIterable<Uint8Array>): Promise<string> => {
  const read: Uint8Array[] = [];
  for await (const chunk of chunks) read.push(chunk);
  return Buffer.concat(read).toString();
};

/** The world of a test, which ends with it. */
export const inWorld =
  (open: Provider['open'], deadlineMs = LONG_MS) =>
  async (test: (world: NotetakerWorld) => Promise<void>) => {
    const world = await open({ deadlineMs });
    try {
      await test(world);
    } finally {
      await world.stop();
    }
  };

const describeRuns = ({ open, statuses, fatalReason, unknownRef }: Provider): void => {
  const within = inWorld(open);

  it('[MEET-10] sends one notetaker a join, and adopts it when it is asked again', () =>
    within(async ({ notetaker, sent }) => {
      const { ref } = await notetaker.dispatch(request());
      expect((await notetaker.dispatch(request())).ref).toBe(ref);
      expect(await notetaker.dispatch(request({ tries: 1 }))).toEqual({ ref, adopted: true });
      expect(await sent()).toEqual(['mj_1']);
    }));

  it('finds the run of a join whose dispatch was never answered', () =>
    within(async ({ notetaker }) => {
      expect(await notetaker.find(request())).toBeNull();
      const { ref } = await notetaker.dispatch(request());
      expect(await notetaker.find(request())).toBe(ref);
    }));

  it('[MEET-07] tells each status of a run that recorded', () =>
    within(async ({ notetaker, move }) => {
      const { ref } = await notetaker.dispatch(request());
      expect(await notetaker.snapshot(ref)).toMatchObject({ status: 'dispatched', recordedEver: false });
      for (const status of statuses) {
        await move('mj_1', status);
        expect(await notetaker.snapshot(ref)).toMatchObject({ status, recordedEver: status === 'recording' });
      }
      await move('mj_1', 'done');
      expect(await notetaker.snapshot(ref)).toMatchObject({ status: 'done', recordedEver: true });
    }));

  it('[MEET-07] tells why a run failed', () =>
    within(async ({ notetaker, move }) => {
      const { ref } = await notetaker.dispatch(request());
      await move('mj_1', 'fatal');
      expect(await notetaker.snapshot(ref)).toMatchObject({ status: 'fatal', reason: fatalReason, recordedEver: false });
    }));

  it('lets the notetaker leave, again too, and also one that was never there', () =>
    within(async ({ notetaker, move, hasLeft }) => {
      const { ref } = await notetaker.dispatch(request());
      await move('mj_1', 'joining');
      await notetaker.leave(ref);
      expect(await hasLeft('mj_1')).toBe(true);
      await notetaker.leave(ref);
    }));

  it('knows no run that was never begun', () =>
    within(async ({ notetaker }) => {
      await notetaker.dispatch(request());
      expect(await notetaker.snapshot(unknownRef)).toBeNull();
      await notetaker.leave(unknownRef);
      await notetaker.erase?.(unknownRef);
      expect(await notetaker.recording(unknownRef)).toBe('none');
      expect(await notetaker.transcript(unknownRef)).toBe('none');
    }));
};

const describeMedia = ({ open, hasFiles }: Provider): void => {
  const within = inWorld(open);
  const over = async ({ notetaker, move, keep }: NotetakerWorld, recording: Availability, transcript: Availability): Promise<string> => {
    const { ref } = await notetaker.dispatch(request());
    await move('mj_1', 'recording');
    keep('mj_1', { recording, transcript });
    await move('mj_1', 'done');
    return ref;
  };

  it('[MEET-09] hands over recording and transcript once they are there', () =>
    within(async (world) => {
      const ref = await over(world, 'there', 'there');
      const recording = await world.notetaker.recording(ref);
      if (recording === 'pending' || recording === 'none') throw new Error(`the recording is ${recording}`);
      expect(recording.startedAt).toBeInstanceOf(Date);
      expect(await world.notetaker.transcript(ref)).toEqual(RECORDED.segments);
      if (!hasFiles) return;
      for (const _ of ['first', 'again']) {
        const file = await recording.open?.();
        expect(file?.contentType).toBe(RECORDED.contentType);
        expect(await readAll(file?.bytes ?? (async function* () {})())).toBe(RECORDED.bytes.toString());
      }
    }));

  it.each(hasFiles ? (['pending', 'none'] as const) : (['none'] as const))('tells that the transcript is %s', (transcript) =>
    within(async (world) => {
      const ref = await over(world, 'there', transcript);
      expect(await world.notetaker.transcript(ref)).toBe(transcript);
    }),
  );

  it('erases what it keeps, again too', () =>
    within(async (world) => {
      const ref = await over(world, 'there', 'there');
      await world.notetaker.erase?.(ref);
      expect(await world.hasErased('mj_1')).toBe(true);
      await world.notetaker.erase?.(ref);
    }));

  if (!hasFiles) return;
  it.each(['pending', 'none'] as const)('tells that the recording is %s', (recording) =>
    within(async (world) => {
      const ref = await over(world, recording, recording);
      expect(await world.notetaker.recording(ref)).toBe(recording);
    }),
  );
};

/** What holds for every provider of notetakers; `notetaker-wire.contract.ts` says what does for those that are called over HTTP. */
export const describeNotetaker = (provider: Provider): void =>
  describe(`${provider.name} as a notetaker`, () => {
    describeRuns(provider);
    describeMedia(provider);
  });
