import { DomainError } from '@bubbles/kernel/errors.ts';
import { fakeClock } from '@bubbles/testing/fake-clock.ts';
import { memoryLog } from '@bubbles/testing/memory-log.ts';
import { describe, expect, it, jest } from '@jest/globals';
import { aFile, aNotetaker, joinAt, later, NOON, TEAM } from '../../test/builders.ts';
import { recordingCaptured } from '../adapters/bus/events.ts';
import { bubbleIdOf, type Join } from '../domain/join.ts';
import { type JoinStore, type MediaStore, type Notetaker, NotetakerError, type Recording, type Segment } from '../ports.ts';
import { captureRecording, eraseRecording } from './capture.ts';

const HOUR_SECONDS = 3600;
const KEY = '07'.repeat(32);
const SEGMENTS: readonly Segment[] = [{ speaker: 'Ada', text: 'Hello.', startSeconds: 0, endSeconds: 2 }];
const aRecording = (open: Recording['open'] = null): Recording => ({
  title: 'Planning',
  startedAt: NOON,
  durationSeconds: 60,
  participants: [],
  open,
});
const transient = (reason: string, retryAfterSeconds?: number) => () =>
  Promise.reject(new NotetakerError('transient', reason, retryAfterSeconds === undefined ? {} : { retryAfterSeconds }));
const permanent = (reason: string) => () => Promise.reject(new NotetakerError('permanent', reason));
const openedBy = (open: NonNullable<Recording['open']>) => () => Promise.resolve(aRecording(open));
const withFile = () => Promise.resolve(aRecording(() => Promise.resolve(aFile(['some', 'bytes']))));
const withoutFile = () => Promise.resolve(aRecording());
const withTranscript = () => Promise.resolve(SEGMENTS);
const none = () => Promise.resolve('none' as const);
const pending = () => Promise.resolve('pending' as const);

interface Setting {
  readonly join?: Partial<Join>;
  readonly atSeconds?: number;
  readonly store?: Partial<MediaStore>;
  /** Rejects while identity is away. */
  readonly answered?: () => Promise<void>;
}

/** One join that is done, claimed, and what becomes of it. */
const scene = (provider: Partial<Notetaker>, { join, atSeconds = 1, store = {}, answered = () => Promise.resolve() }: Setting = {}) => {
  const claimed: Join = { ...joinAt('done'), work: 'capture', leaseToken: 'lease', ...join };
  const kept = new Map<string, string>();
  const told: unknown[] = [];
  const outcomes: string[] = [];
  let stored = claimed;
  const joins: Pick<JoinStore, 'byRefs' | 'update'> = {
    byRefs: () => Promise.resolve([claimed]),
    update(_id, change) {
      const changed = change(stored);
      stored = changed?.state ?? stored;
      for (const { data } of changed?.events ?? []) told.push(data);
      return Promise.resolve(stored);
    },
  };
  const media: MediaStore = {
    async put(key, { bytes }) {
      kept.set(key, Buffer.concat(await Array.fromAsync(bytes)).toString());
    },
    remove: (key) => Promise.resolve(void kept.delete(key)),
    ...store,
  };
  const member = { id: 'ada', active: true, life: 1, memberships: [{ teamId: TEAM, role: 'member', hidden: false }] };
  const ports = {
    joins: joins as JoinStore, // The work calls nothing else of the store.
    notetakers: { named: () => aNotetaker(provider), forPlatform: () => null },
    access: { ask: () => answered().then(() => ({ users: new Map([['ada', member]]), teams: new Map(), byEmail: new Map() })) },
    recordingCaptured,
    media,
    mediaUrl: (key: string) => `https://media.test/${key}`,
    ids: { bytes: (length: number) => Buffer.alloc(length, 7) },
    metrics: { captureEnded: (outcome: string) => void outcomes.push(outcome) },
    retentionMs: 72 * HOUR_SECONDS * 1000,
    clock: fakeClock(later(atSeconds)),
    log: memoryLog(),
  };
  const claim = new AbortController();
  return {
    capture: () => captureRecording(ports)(stored, claim.signal),
    erase: () => eraseRecording(ports)(stored),
    stored: () => stored,
    steal: () => {
      stored = { ...stored, leaseToken: 'another' };
      claim.abort();
    },
    kept,
    told,
    outcomes,
    log: ports.log,
  };
};

const OVER = { atSeconds: 72 * HOUR_SECONDS };
const reasons = ({ history }: Join) => history.flatMap(({ reason }) => reason ?? []);

describe('a capture', () => {
  it('copies the file, and tells of it with the write that ends it', async () => {
    const { capture, stored, kept, told, outcomes } = scene({ recording: withFile, transcript: withTranscript });
    await capture();
    expect(stored()).toMatchObject({ bubbleId: bubbleIdOf('mj_1'), work: null, leaseToken: null, media: { key: KEY, isCopied: true } });
    expect(kept).toEqual(new Map([[KEY, 'somebytes']]));
    expect(told).toMatchObject([{ video_url: `https://media.test/${KEY}`, title: 'Planning', segments: [{ text: 'Hello.' }] }]);
    expect(outcomes).toEqual(['captured']);
  });

  it('stores the key before the first byte is copied', async () => {
    const seen: unknown[] = [];
    const { capture, stored } = scene({
      recording: () =>
        Promise.resolve(
          aRecording(() => {
            seen.push(stored().media);
            return Promise.resolve(aFile(['x']));
          }),
        ),
      transcript: none,
    });
    await capture();
    expect(seen).toEqual([{ key: KEY, isCopied: false }]);
  });

  it('writes to the place that a try before it has chosen', async () => {
    const { capture, stored, kept } = scene(
      { recording: withFile, transcript: none },
      { join: { media: { key: 'chosen', isCopied: false } } },
    );
    await capture();
    expect([...kept.keys(), stored().media?.key]).toEqual(['chosen', 'chosen']);
  });

  it.each([
    ['without a file', withoutFile, withTranscript, { video_url: null, segments: [{ text: 'Hello.' }] }],
    ['without a transcript', withFile, none, { video_url: `https://media.test/${KEY}`, segments: null }],
    ['without either', withoutFile, none, { video_url: null, segments: null }],
  ])('of a recording %s tells so', async (_what, recording, transcript, expected) => {
    const { capture, told, outcomes } = scene({ recording, transcript });
    await capture();
    expect([told, outcomes]).toMatchObject([[expected], ['captured']]);
  });

  it.each([
    ['the recording', pending, none],
    ['the transcript', withFile, pending],
    ['a provider that is away', transient('notetaker_error'), none],
    ['a transcript that fails', withFile, transient('notetaker_error')],
    ['a link that has expired', () => Promise.resolve(aRecording(transient('media_http_404'))), withTranscript],
  ])('waits for %s', async (_what, recording, transcript) => {
    const { capture, stored, told } = scene({ recording, transcript });
    await capture();
    expect(stored()).toMatchObject({ work: 'capture', tries: 1, leaseToken: null, dueAt: later(6) });
    expect(told).toEqual([]);
  });

  it('waits as long as the provider says', async () => {
    const { capture, stored } = scene({ recording: transient('notetaker_error', 300), transcript: none });
    await capture();
    expect(stored().dueAt).toEqual(later(301));
  });

  it('does not copy again what it has while it waits for the transcript', async () => {
    const open = jest.fn(() => Promise.resolve(aFile(['x'])));
    let transcript: () => Promise<'none' | 'pending'> = pending;
    const { capture, stored, told } = scene({ recording: openedBy(open), transcript: () => transcript() });
    await capture();
    expect(stored()).toMatchObject({ work: 'capture', media: { key: KEY, isCopied: true } });
    transcript = none;
    await capture();
    expect([open.mock.calls.length, stored().bubbleId]).toEqual([1, bubbleIdOf('mj_1')]);
    expect(told).toMatchObject([{ video_url: `https://media.test/${KEY}` }]);
  });

  it.each([
    ['copy', () => Promise.resolve(aFile(['x'])), `https://media.test/${KEY}`],
    ['open', permanent('media_too_large'), null],
  ])('does not %s the file again when nobody says who took part', async (_what, opens, url) => {
    const open = jest.fn<NonNullable<Recording['open']>>(opens);
    let answered = (): Promise<void> => Promise.reject(new DomainError('unavailable', 'Nobody is there.'));
    const { capture, told } = scene({ recording: openedBy(open), transcript: withTranscript }, { answered: () => answered() });
    await expect(capture()).rejects.toMatchObject({ kind: 'unavailable' });
    answered = () => Promise.resolve();
    await capture();
    expect([open.mock.calls.length, told]).toMatchObject([1, [{ video_url: url }]]);
  });

  it('does not open again a file that may not be kept while it waits for the transcript', async () => {
    const open = jest.fn(permanent('media_too_large'));
    let transcript: () => Promise<readonly Segment[] | 'pending'> = pending;
    const { capture, stored, told, outcomes } = scene({ recording: openedBy(open), transcript: () => transcript() });
    for (let n = 0; n < 3; n += 1) await capture();
    expect([open.mock.calls.length, stored().work]).toEqual([1, 'capture']);
    transcript = withTranscript;
    await capture();
    expect([outcomes, reasons(stored()), stored().media]).toEqual([['partly'], ['video_not_available'], undefined]);
    expect(open).toHaveBeenCalledTimes(1);
    expect(told).toMatchObject([{ video_url: null }]);
  });

  it('waits for a media store that is away', async () => {
    const away = { put: () => Promise.reject(new DomainError('unavailable', 'Nobody is there.')) };
    const { capture, stored, log } = scene({ recording: withFile, transcript: withTranscript }, { store: away });
    await capture();
    expect(stored()).toMatchObject({ work: 'capture', tries: 1, media: { key: KEY, isCopied: false } });
    expect(JSON.stringify(log.lines)).toContain('media_store_unavailable');
  });

  it('stops when its claim was lost, and leaves all to the one who has it', async () => {
    const stalled = Promise.withResolvers<void>();
    const { capture, stored, steal, told } = scene(
      { recording: withFile, transcript: none },
      {
        store: {
          put: (_key, _file, signal) => {
            const { promise, reject } = Promise.withResolvers<void>();
            signal.addEventListener('abort', () => reject(new Error('left')));
            stalled.resolve();
            return promise;
          },
        },
      },
    );
    const work = capture();
    await stalled.promise;
    steal();
    await expect(work).rejects.toMatchObject({ name: 'AbortError' });
    expect([stored(), told]).toMatchObject([{ leaseToken: 'another', tries: 0, work: 'capture' }, []]);
  });
});

describe('the end of the retention', () => {
  const failing = transient('notetaker_error');
  it.each([
    ['video', () => Promise.resolve(aRecording(failing)), withTranscript, 'video_not_available'],
    ['transcript', withFile, failing, 'transcript_not_available'],
  ])('captures what there is without the %s, and says what is lost', async (_what, recording, transcript, reason) => {
    const { capture, stored, told, outcomes, log } = scene({ recording, transcript }, OVER);
    await capture();
    expect([told.length, outcomes]).toEqual([1, ['partly']]);
    expect([stored().status, stored().work, reasons(stored())]).toEqual(['done', null, [reason]]);
    expect(log.lines.filter(({ level }) => level === 'error')).toHaveLength(1);
  });

  it.each([
    ['the recording', failing, withTranscript],
    ['video and transcript', () => Promise.resolve(aRecording(failing)), pending],
    ['all that was still coming', pending, pending],
  ])('gives up a recording of which it takes %s, and the join stays done', async (_what, recording, transcript) => {
    const { capture, stored, told, outcomes } = scene({ recording, transcript }, OVER);
    await capture();
    expect([told, outcomes, reasons(stored())]).toEqual([[], ['lost'], ['recording_not_available']]);
    expect(stored()).toMatchObject({ status: 'done', fatalReason: null, bubbleId: null, work: null });
    expect(stored().media).toBeUndefined();
  });

  it('leaves no file of which nobody tells', async () => {
    const join = { media: { key: 'chosen', isCopied: false } };
    const recording = () => Promise.resolve(aRecording(failing));
    const { capture, kept, stored } = scene({ recording, transcript: withTranscript }, { ...OVER, join });
    kept.set('chosen', 'of a process that died');
    await capture();
    expect([kept.size, stored().media]).toEqual([0, undefined]);
  });

  it('is not waited for where the provider has no recording, or none that may be kept', async () => {
    const without = scene({ recording: none });
    await without.capture();
    expect([without.outcomes, reasons(without.stored())]).toEqual([['lost'], ['recording_not_available']]);
    const large = scene({ recording: () => Promise.resolve(aRecording(permanent('media_too_large'))), transcript: withTranscript });
    await large.capture();
    expect([large.outcomes, large.told]).toMatchObject([['partly'], [{ video_url: null }]]);
  });
});

describe('a provider that can forget', () => {
  it('is told to once all is captured', async () => {
    const erased: string[] = [];
    const erase = (ref: string) => Promise.resolve(void erased.push(ref));
    const { capture, erase: work, stored } = scene({ recording: withFile, transcript: withTranscript, erase });
    await capture();
    expect([stored().work, erased]).toEqual(['erase', []]);
    await work();
    expect([stored().work, erased]).toEqual([null, ['run']]);
  });

  it('keeps what is lost here', async () => {
    const { capture, stored } = scene({ recording: withFile, transcript: transient('x'), erase: () => Promise.resolve() }, OVER);
    await capture();
    expect(stored()).toMatchObject({ work: null, bubbleId: bubbleIdOf('mj_1') });
  });

  it.each([
    ['is told again while it is away', transient('x'), 1, { work: 'erase', tries: 1, dueAt: later(6) }],
    ['is told no more when it refuses', permanent('x'), 1, { work: null }],
    ['is told no more when its retention is over', transient('x'), OVER.atSeconds, { work: null }],
  ])('%s', async (_what, erase, atSeconds, expected) => {
    const { erase: work, stored } = scene({ erase }, { atSeconds, join: { work: 'erase' } });
    await work();
    expect(stored()).toMatchObject(expected);
  });
});
