import type { Join, JoinStatus } from '../src/domain/join.ts';
import { newJoin, withSnapshot } from '../src/domain/join.ts';
import type { MediaFile, Notetaker } from '../src/ports.ts';

export const NOON = new Date('2026-03-02T12:00:00.000Z');
export const later = (seconds: number): Date => new Date(NOON.getTime() + seconds * 1000);

export const TEAM = '5d0f4a0e-6f0e-4b1c-9a53-0c1f6a1f2b3c';
export const MEET = 'https://meet.google.com/abc-defg-hij';

export const aJoin = (fields: Partial<Join> = {}): Join => ({
  ...newJoin({
    id: 'mj_1',
    requesterId: 'ada',
    teamId: TEAM,
    runningKey: 'key',
    userQuota: 'user ada',
    teamQuota: null,
    platform: 'google_meet',
    linkSealed: 'sealed',
    provider: 'simulator',
    createdAt: NOON,
  }),
  ...fields,
});

/** One whose notetaker was sent and came as far as this. */
export const joinAt = (status: JoinStatus): Join => {
  const sent = aJoin({ providerRef: 'run', work: 'watch' });
  return withSnapshot(sent, { status, reason: null, recordedEver: status === 'done' }, NOON) ?? sent;
};

const notUsed = () => Promise.reject(new Error('is not called here'));

/** A provider whose every call answers as it is told. */
export const aNotetaker = (fields: Partial<Notetaker>): Notetaker => ({
  name: 'simulator',
  dispatch: notUsed,
  find: notUsed,
  snapshot: notUsed,
  leave: notUsed,
  recording: notUsed,
  transcript: notUsed,
  verify: () => null,
  ...fields,
});

/** `chunks` as they come; ends when it is left. */
export const aFile = (chunks: readonly string[], { length = null }: { readonly length?: number | null } = {}): MediaFile => ({
  contentType: 'video/mp4',
  length,
  bytes: (async function* () {
    for (const chunk of chunks) yield await Promise.resolve(Buffer.from(chunk));
  })(),
});
