import { DomainError } from '@bubbles/kernel/errors.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import {
  captured,
  captureLater,
  isFinal,
  type Join,
  type JoinMedia,
  newMedia,
  postponed,
  uncaptured,
  withMedia,
  workedOff,
} from '../domain/join.ts';
import { requesterId, requesterOf } from '../domain/requester.ts';
import { retryMs } from '../domain/watchdog.ts';
import {
  type Access,
  type CapturedRecording,
  type MediaStore,
  type MeetingMetrics,
  type Notetaker,
  NotetakerError,
  type Participant,
  type Recording,
  type RecordingCaptured,
  type Segment,
  type UserAccess,
} from '../ports.ts';
import { asked, isNotetakerError, neededByOther, type WorkPorts } from './work.ts';

interface RetentionPorts extends Pick<WorkPorts, 'joins' | 'notetakers' | 'clock' | 'log'> {
  /** For so long providers keep a recording after the end of its meeting. */
  readonly retentionMs: number;
}

export interface CapturePorts extends RetentionPorts {
  readonly access: Access;
  readonly recordingCaptured: RecordingCaptured;
  readonly media: MediaStore;
  /** Where a file is reached, by its key. */
  readonly mediaUrl: (key: string) => string;
  readonly ids: Pick<Ids, 'bytes'>;
  readonly metrics: Pick<MeetingMetrics, 'captureEnded'>;
}

/** What the history of a join says that lost something. */
const LOST = { recording: 'recording_not_available', video: 'video_not_available', transcript: 'transcript_not_available' } as const;

/** Why a part of a recording is not here. */
interface Missing {
  readonly reason: string;
  readonly mayCome: boolean;
  readonly retryAfterSeconds: number | null;
}
/** A value that is null stands for a part that the recording never had. */
type Part<T> = { readonly value: T; readonly missing: null } | { readonly value: null; readonly missing: Missing };

const PENDING: Missing = { reason: 'pending', mayCome: true, retryAfterSeconds: null };

const partOf = async <T>(work: Promise<T | 'pending'>): Promise<Part<T>> => {
  try {
    const value = await asked(work);
    return value === 'pending' ? { value: null, missing: PENDING } : { value, missing: null };
  } catch (error) {
    if (!isNotetakerError(error)) throw error;
    const { reason, kind, retryAfterSeconds } = error;
    return { value: null, missing: { reason, mayCome: kind === 'transient', retryAfterSeconds } };
  }
};

const refusedFor = (reason: string): { readonly value: null; readonly missing: Missing } => ({
  value: null,
  missing: { reason, mayCome: false, retryAfterSeconds: null },
});

/** Ends the work on a claimed join, or a step of it. Null, and nothing is written, when the claim has ended. */
const endClaim =
  ({ joins, recordingCaptured }: Pick<CapturePorts, 'joins' | 'recordingCaptured'>) =>
  async (claimed: Join, change: (join: Join) => Join, recording: CapturedRecording | null = null): Promise<Join | null> => {
    let isOurs = false;
    const stored = await joins.update(claimed.id, (join) => {
      isOurs = join.leaseToken === claimed.leaseToken;
      if (!isOurs) return null;
      const state = change(join);
      return { state, events: recording === null ? [] : [recordingCaptured(state, recording)] };
    });
    return isOurs ? stored : null;
  };

const isRetained = ({ updatedAt }: Join, { clock, retentionMs }: Pick<RetentionPorts, 'clock' | 'retentionMs'>): boolean =>
  clock.now().getTime() - updatedAt.getTime() < retentionMs;

const dueAfter = (now: Date, join: Join, retryAfterSeconds: number | null): Date =>
  new Date(now.getTime() + retryMs(join.tries, retryAfterSeconds));

const isMember = (user: UserAccess | undefined, teamId: string): boolean => user?.memberships.some((one) => one.teamId === teamId) ?? false;

/** Requesters first, then the people that the provider names: members of the team by their address, everybody else as a person without an account. */
const participantsOf = async (access: Access, { requesterIds, teamId }: Join, named: Recording['participants']): Promise<Participant[]> => {
  const emails = named.flatMap(({ email }) => email ?? []);
  const requesters = requesterIds.map(requesterOf);
  const { users, byEmail } = await access.ask({ userIds: [...new Set(requesters.map(({ userId }) => userId))], emails });
  const found = new Map<string, Participant>();
  for (const { userId, life } of requesters) {
    const user = users.get(userId);
    // An account that was opened again did not take part in what it asked for before.
    if (user?.life === life) found.set(userId, { userId, name: null, email: null, isExternal: !isMember(user, teamId) });
    else found.set(requesterId({ userId, life }), { userId: null, name: null, email: null, isExternal: true });
  }
  for (const { name, email } of named) {
    const user = email === null ? undefined : byEmail.get(email);
    const userId = user?.active && isMember(user, teamId) ? user.id : null;
    const key = userId ?? JSON.stringify([name, email]);
    if (userId === null || !found.has(userId) || found.get(userId)?.name === null)
      found.set(key, { userId, name, email, isExternal: userId === null });
  }
  return [...found.values()];
};

/** Copies the file of a recording to the media store. */
const createCopy = (ports: CapturePorts) => {
  const { media, ids } = ports;
  const end = endClaim(ports);

  const keep = async (join: Join, change: (before: JoinMedia | undefined) => JoinMedia): Promise<JoinMedia> => {
    const stored = await end(join, (before) => withMedia(before, change(before.media)));
    if (stored?.media === undefined) throw new DomainError('unavailable', 'Another process captures this recording.');
    return stored.media;
  };
  /** Stores the key before the first byte is copied, so that a later worker writes to the same file. */
  const chosen = (join: Join): Promise<JoinMedia> => {
    const fresh = newMedia(ids);
    return keep(join, (before) => before ?? fresh);
  };
  const put = async (key: string, open: NonNullable<Recording['open']>, signal: AbortSignal): Promise<void> => {
    const file = await asked(open());
    try {
      await media.put(key, file, signal);
    } catch (error) {
      signal.throwIfAborted();
      throw isNotetakerError(error) ? error : new NotetakerError('transient', 'media_store_unavailable', { cause: error });
    }
  };

  return async (join: Join, { open }: Recording, signal: AbortSignal): Promise<Part<JoinMedia | null>> => {
    if (open === null) return { value: null, missing: null };
    const place = join.media ?? (await chosen(join));
    if (place.isCopied) return { value: place, missing: null };
    if (place.refused !== undefined) return refusedFor(place.refused);
    const { missing } = await partOf(put(place.key, open, signal));
    signal.throwIfAborted();
    if (missing?.mayCome) return { value: null, missing };
    // The outcome is stored at once, so that nothing that fails after it makes anybody transfer a large file again.
    if (missing === null) return { value: await keep(join, () => ({ ...place, isCopied: true })), missing };
    await keep(join, () => ({ ...place, refused: missing.reason }));
    return { value: null, missing };
  };
};

interface Parts {
  readonly file: Part<JoinMedia | null>;
  readonly transcript: Part<readonly Segment[] | null>;
}

const lossesOf = ({ file, transcript }: Parts): readonly string[] => [
  ...(file.missing ? [LOST.video] : []),
  ...(transcript.missing ? [LOST.transcript] : []),
];

/** How the work on a recording ends. */
const createEnds = (ports: CapturePorts) => {
  const { access, clock, log, media, mediaUrl, metrics } = ports;
  const end = endClaim(ports);

  /** A process that died may have left a whole file that no try since then has found again. */
  const forgetFile = async ({ id: joinId, media: place }: Join): Promise<void> => {
    if (place === undefined) return;
    await media.remove(place.key).catch((error: unknown) => log.warn('unused media not removed', { joinId, error }));
  };
  const lose = async (join: Join, reason: string): Promise<void> => {
    if ((await end(join, (before) => uncaptured(before, LOST.recording, clock.now()))) === null) return;
    log.error('recording lost', { joinId: join.id, provider: join.provider, reason });
    metrics.captureEnded('lost');
    await forgetFile(join);
  };
  const later = async (join: Join, missing: readonly Missing[]): Promise<void> => {
    const reasons = missing.map(({ reason }) => reason);
    log.info('recording not captured yet', { joinId: join.id, provider: join.provider, reasons, tries: join.tries });
    const waits = missing.reduce((most, { retryAfterSeconds }) => Math.max(most, retryAfterSeconds ?? 0), 0);
    const now = clock.now();
    await end(join, (before) => captureLater(before, dueAfter(now, join, waits), now));
  };
  const capture = async (join: Join, recording: Recording, { file, transcript, erases }: Parts & { readonly erases: boolean }) => {
    const participants = await participantsOf(access, join, recording.participants);
    const [author] = participants;
    if (author === undefined) throw new DomainError('internal', 'A join has no requester.');
    const { title, startedAt, durationSeconds } = recording;
    const videoUrl = file.value === null ? null : mediaUrl(file.value.key);
    const told = { title, startedAt, durationSeconds, author, participants, segments: transcript.value, videoUrl };
    const lost = lossesOf({ file, transcript });
    // What is lost here the provider alone may still have.
    const ending = { media: file.value, lost, erases: erases && lost.length === 0 };
    if ((await end(join, (before) => captured(before, ending, clock.now()), told)) === null) return;
    if (lost.length > 0) log.error('recording captured in part', { joinId: join.id, provider: join.provider, lost });
    metrics.captureEnded(lost.length > 0 ? 'partly' : 'captured');
    if (file.value === null) await forgetFile(join);
  };
  return { lose, later, capture };
};

/**
 * Makes a bubble of the recording of a join that is done. A process that dies here leaves the join to the next, which makes the same bubble. Video and
 * transcript come or fail each on its own; what the provider keeps no longer is lost, and said in the history. The signal aborts when the claim has ended.
 */
export const captureRecording = (ports: CapturePorts) => {
  const { notetakers } = ports;
  const copyFile = createCopy(ports);
  const { lose, later, capture } = createEnds(ports);
  const laterOrNever = (join: Join, missing: Missing) =>
    missing.mayCome && isRetained(join, ports) ? later(join, [missing]) : lose(join, missing.reason);

  const parts = async (join: Join, recording: Recording, { notetaker, ref, signal }: Attempt): Promise<Parts> => {
    const told = await partOf(notetaker.transcript(ref));
    const transcript = told.value === 'none' ? { value: null, missing: null } : told;
    // What is not 'none' is a transcript, or missing.
    return { transcript: transcript as Parts['transcript'], file: await copyFile(join, recording, signal) };
  };

  const attempt = async (join: Join, call: Attempt): Promise<void> => {
    const { value: recording, missing: none } = await partOf(call.notetaker.recording(call.ref));
    if (none !== null) return laterOrNever(join, none);
    if (recording === 'none') return lose(join, 'the provider has no recording');
    const { file, transcript } = await parts(join, recording, call);
    const missing = [file.missing, transcript.missing].filter((one) => one !== null);
    if (missing.some(({ mayCome }) => mayCome) && isRetained(join, ports)) return later(join, missing);
    const [first] = missing;
    if (first !== undefined && file.value === null && transcript.value === null) return lose(join, first.reason);
    return capture(join, recording, { file, transcript, erases: call.notetaker.erase !== undefined });
  };

  return (join: Join, signal: AbortSignal): Promise<void> => {
    const notetaker = join.provider === null ? null : notetakers.named(join.provider);
    const { providerRef: ref } = join;
    if (notetaker === null || ref === null) return laterOrNever(join, { ...PENDING, reason: 'provider not configured' });
    return attempt(join, { notetaker, ref, signal });
  };
};

interface Attempt {
  readonly notetaker: Notetaker;
  readonly ref: string;
  readonly signal: AbortSignal;
}

/** Lets the provider forget a recording that was captured. What it is not told it forgets when its retention ends. */
export const eraseRecording = (ports: RetentionPorts) => {
  const { joins, notetakers, clock, log } = ports;
  const isInUse = neededByOther(
    ports,
    ({ status, work }) => !isFinal(status) || (status === 'done' && (work === 'leave' || work === 'capture')),
  );
  const erase = async (join: Join): Promise<void> => {
    const notetaker = join.provider === null ? null : notetakers.named(join.provider);
    const ref = join.providerRef ?? '';
    // The last one that needs it erases it.
    if (!(await isInUse(join, ref))) await notetaker?.erase?.(ref);
  };
  return async (join: Join): Promise<void> => {
    const { missing } = await partOf(erase(join));
    const now = clock.now();
    const isAgain = missing?.mayCome === true && isRetained(join, ports);
    if (missing !== null) log.warn('recording not erased', { joinId: join.id, provider: join.provider, reason: missing.reason, isAgain });
    await joins.update(join.id, (before) => {
      if (before.leaseToken !== join.leaseToken) return null;
      const state = isAgain ? postponed(before, dueAfter(now, join, missing.retryAfterSeconds)) : workedOff(before, now);
      return { state, events: [] };
    });
  };
};
