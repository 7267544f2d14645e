import { createHash } from 'node:crypto';
import type { MeetingPlatform } from './meeting-link.ts';

const RANK = { dispatched: 0, joining: 1, in_waiting_room: 2, in_call: 3, recording: 4, done: 5, fatal: 5 } as const;
export type JoinStatus = keyof typeof RANK;

interface StatusChange {
  readonly status: JoinStatus;
  readonly at: Date;
  /** Why it ended; null for progress. */
  readonly reason: string | null;
}

export interface JoinMedia {
  /** Chosen before the first byte is copied, so that each try writes to the same place. */
  readonly key: string;
  /** Whether it is there whole. */
  readonly isCopied: boolean;
  /** Why it never will be. */
  readonly refused?: string;
}

/** The one notetaker that a team has in a meeting. */
export interface Join {
  readonly id: string;
  readonly teamId: string;
  /** The `requesterId` of everybody who asked for it, in order. The join belongs to each of them. */
  readonly requesterIds: readonly string[];
  readonly platform: MeetingPlatform;
  /** The quotas that it took a place of: of its first requester, and of a team on plan free. */
  readonly userQuota: string;
  readonly teamQuota: string | null;
  /** Hash of team and meeting. Absent once it is final, so that the meeting is free for the next join. */
  readonly runningKey?: string;
  /** The link with its passcode; null when it was erased. */
  readonly linkSealed: string | null;
  /** When the link is erased. Absent while the join runs, and once it was erased. */
  readonly linkUntil?: Date;
  /** Null when no provider serves the platform. */
  readonly provider: string | null;
  /** What the provider calls the run; null until the dispatch was answered. */
  readonly providerRef: string | null;
  readonly status: JoinStatus;
  readonly fatalReason: string | null;
  readonly history: readonly StatusChange[];
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** Whether the provider said that the host does not let it record. */
  readonly isDenied: boolean;
  /** Since when the provider says that the notetaker is leaving; null while it does not. */
  readonly leavingSince: Date | null;
  /** The bubble that the recording became; null before it was captured. */
  readonly bubbleId: string | null;
  /** Where the file of its recording lies. Absent when there is none. */
  readonly media?: JoinMedia;
  /** Whether its provider was, or may have been, asked to send a notetaker. */
  readonly isAsked: boolean;
  /** What is to be done with it next, in one of the work queues; null for nothing. `leave`: its notetaker must be told to. */
  readonly work: 'dispatch' | 'watch' | 'leave' | 'capture' | 'erase' | 'refund' | null;
  readonly dueAt: Date;
  /** Order in which providers are asked about watched joins: those with a hint, those whose notetaker is on its way, all others. */
  readonly urgency: 'hinted' | 'early' | 'silent';
  /** When the provider told of news; null when it told of none since it was asked. */
  readonly hintedAt: Date | null;
  /** When the provider last answered where its notetaker is, or was last asked for its recording; null before the first time. */
  readonly lookedAt: Date | null;
  readonly leaseToken: string | null;
  /** Failed tries of the work. */
  readonly tries: number;
}

/** A run as its provider tells of it. */
export interface Snapshot {
  readonly status: JoinStatus;
  /** Why it ended, as the provider's adapter names it. */
  readonly reason: string | null;
  readonly recordedEver: boolean;
  /** The host does not let it record; absent where the provider cannot tell. */
  readonly isDenied?: boolean;
  /** It is on its way out of the call, and `status` is where it was before; absent where the provider cannot tell. */
  readonly isLeaving?: boolean;
}

/** For so long the answer to a request, which holds its link, is given again. */
export const IDEMPOTENCY_WINDOW_MS = 24 * 3_600_000;
const NEVER_RECORDED = 'notetaker_error';
export const RECORDING_DENIED = 'recording_permission_denied';
/** Ended by a requester. */
export const CANCELLED = 'cancelled';
export const ENDED_BY_OPERATOR = 'ended_by_operator';

export const isFinal = (status: JoinStatus): boolean => RANK[status] === RANK.done;
/** Whether the notetaker is in the call. */
export const isInCall = (status: JoinStatus): boolean => status === 'in_call' || status === 'recording';
/** Forward only; steps may be skipped; done and fatal are final. */
export const mayMove = (from: JoinStatus, to: JoinStatus): boolean => RANK[to] > RANK[from];

const ID_BYTES = 13;
export const newJoinId = (ids: { bytes(count: number): Uint8Array }): string => `mj_${Buffer.from(ids.bytes(ID_BYTES)).toString('hex')}`;

export const runningKeyOf = (teamId: string, linkKey: string): string =>
  createHash('sha256')
    .update(JSON.stringify([teamId, linkKey]))
    .digest('hex');

/** The same for every capture of the join: a uuid made of a hash (RFC 9562, 5.8). */
export const bubbleIdOf = (joinId: string): string =>
  createHash('sha256')
    .update(`bubble of ${joinId}`)
    .digest('hex')
    .replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-8$3-a$4-$5');

type NewJoin = Pick<Join, 'id' | 'teamId' | 'userQuota' | 'teamQuota' | 'platform' | 'linkSealed' | 'provider' | 'createdAt'> & {
  readonly requesterId: string;
  readonly runningKey: string;
};

/** The intent to send a notetaker, which any worker carries out. */
export const newJoin = ({ requesterId, ...join }: NewJoin): Join => ({
  ...join,
  requesterIds: [requesterId],
  providerRef: null,
  status: 'dispatched',
  fatalReason: null,
  history: [{ status: 'dispatched', at: join.createdAt, reason: null }],
  updatedAt: join.createdAt,
  isDenied: false,
  leavingSince: null,
  bubbleId: null,
  isAsked: false,
  work: 'dispatch',
  dueAt: join.createdAt,
  urgency: 'early',
  hintedAt: null,
  lookedAt: null,
  leaseToken: null,
  tries: 0,
});

/** Null when it is one already, or when the join is over. */
export const withRequester = (join: Join, requesterId: string): Join | null =>
  isFinal(join.status) || join.requesterIds.includes(requesterId) ? null : { ...join, requesterIds: [...join.requesterIds, requesterId] };

const recorded = ({ status, history }: Pick<Join, 'status' | 'history'>): boolean =>
  status === 'recording' || history.some((change) => change.status === 'recording');

const moved = (join: Join, change: StatusChange): Join => {
  const next = {
    ...join,
    status: change.status,
    fatalReason: change.status === 'fatal' ? change.reason : null,
    history: [...join.history, change],
    updatedAt: change.at,
  };
  if (!isFinal(change.status)) return next;
  const { runningKey: _, ...final } = next;
  const replayedUntil = join.createdAt.getTime() + IDEMPOTENCY_WINDOW_MS;
  return { ...final, linkUntil: new Date(Math.max(replayedUntil, change.at.getTime())) };
};

/** Work that somebody holds a lease on is left to them. */
const withWork = (join: Join, work: Join['work'], dueAt: Date): Join => ({ ...join, work, dueAt, leaseToken: null, tries: 0 });

const withSigns = (
  join: Join,
  { isDenied = false, isLeaving = false }: Omit<Snapshot, 'status' | 'reason' | 'recordedEver'>,
  now: Date,
): Join => {
  const signs = { isDenied: join.isDenied || isDenied, leavingSince: isLeaving ? (join.leavingSince ?? now) : null };
  return signs.isDenied === join.isDenied && signs.leavingSince === join.leavingSince ? join : { ...join, ...signs };
};

/**
 * The join after what its provider tells; null when that is no news. A run that ended without a recording is fatal, whatever the provider calls it,
 * and the first end wins. `now` is when it was heard.
 */
export const withSnapshot = (before: Join, { status, reason, recordedEver, ...signs }: Snapshot, now: Date): Join | null => {
  const join = withSigns(before, signs, now);
  const isRecorded = recordedEver || recorded(join);
  const ended = isFinal(status) ? (isRecorded ? 'done' : 'fatal') : status;
  if (!mayMove(join.status, ended)) return join === before || isFinal(join.status) ? null : join;
  const unrecorded = join.isDenied ? RECORDING_DENIED : NEVER_RECORDED;
  const change = { status: ended, at: now, reason: ended === 'fatal' ? (reason ?? unrecorded) : null } as const;
  const next = moved(join, change);
  if (ended === 'done') return withWork(next, 'capture', now);
  return ended === 'fatal' ? withWork(next, 'refund', now) : next;
};

/**
 * The join ended by us: by a requester, an operator, or a watchdog. Null when it is over already. The notetaker must leave where one was or may have been
 * sent; what was recorded is captured after that.
 */
export const ended = (join: Join, reason: string, now: Date): Join | null => {
  if (isFinal(join.status)) return null;
  const next = moved(join, { status: recorded(join) ? 'done' : 'fatal', at: now, reason });
  if (join.providerRef === null && !join.isAsked) return withWork(next, 'refund', now);
  // A dispatch in progress is finished first: its answer identifies the notetaker that must leave.
  return join.providerRef === null && join.leaseToken !== null ? next : withWork(next, 'leave', now);
};

/** The join of a dispatch by which nobody was sent. */
export const unsent = (join: Join, reason: string, now: Date): Join =>
  withWork(ended({ ...join, isAsked: false }, reason, now) ?? join, 'refund', now);

/** The join of a dispatch that may have sent somebody, whatever was answered. */
export const lost = (join: Join, reason: string, now: Date): Join => withWork(ended(join, reason, now) ?? join, 'leave', now);

/** Hints of a join may come in floods: between two looks lies some time. */
const LOOK_GAP_MS = 3000;

/** As soon as the gap lets. */
const soon = ({ lookedAt }: Join, now: Date): Date =>
  new Date(Math.min(Math.max(now.getTime(), (lookedAt?.getTime() ?? 0) + LOOK_GAP_MS), now.getTime() + LOOK_GAP_MS));

/** Watched from now on, due at that time, or soon when the provider told of news. */
const watched = (join: Join, dueAt: Date, now: Date): Join => {
  if (join.hintedAt === null) return { ...withWork(join, 'watch', dueAt), urgency: RANK[join.status] < RANK.in_call ? 'early' : 'silent' };
  return { ...withWork(join, 'watch', soon(join, now)), urgency: 'hinted' };
};

/** The join after a hint of its provider; null when a look is due for an earlier one, or when none is needed any more. */
export const hinted = (join: Join, now: Date): Join | null => {
  const isCapture = join.work === 'capture';
  if (isCapture && join.leaseToken === null) {
    const dueAt = soon(join, now);
    return dueAt < join.dueAt ? { ...join, dueAt } : null;
  }
  if ((isFinal(join.status) && !isCapture) || join.hintedAt !== null) return null;
  const told = { ...join, hintedAt: now };
  // A worker that holds the lease sees the hint when it finishes.
  return join.work === 'watch' && join.leaseToken === null ? watched(told, now, now) : told;
};

/** The answer to its dispatch. One that ended meanwhile has a notetaker that must leave. */
export const dispatched = (join: Join, providerRef: string, { now, lookAt }: { readonly now: Date; readonly lookAt: Date }): Join => {
  const answered = { ...join, providerRef };
  return isFinal(join.status) ? withWork(answered, 'leave', now) : watched(answered, lookAt, now);
};

/** Its notetaker has left, or there never was one. */
export const left = (join: Join, now: Date): Join => withWork(join, join.status === 'done' ? 'capture' : 'refund', now);

/** The work is tried again at that time. */
export const postponed = (join: Join, dueAt: Date): Join => ({ ...join, dueAt, leaseToken: null, tries: join.tries + 1 });

/** Its recording is asked for again at that time, or soon when the provider told of news since it was asked. */
export const captureLater = (join: Join, dueAt: Date, now: Date): Join => {
  const asked = { ...join, lookedAt: now, hintedAt: null };
  const next = soon(asked, now);
  return postponed(asked, join.hintedAt !== null && next < dueAt ? next : dueAt);
};

/** The join with no time ahead of the clock, so that one that was set back delays no end. */
export const notAhead = (join: Join, now: Date): Join => {
  const { updatedAt, leavingSince } = join;
  const isAhead = updatedAt > now || (leavingSince !== null && leavingSince > now);
  return isAhead ? { ...join, updatedAt: updatedAt > now ? now : updatedAt, leavingSince: leavingSince && now } : join;
};

/** Looked at, without an end of the work. */
export const watchedAgain = (join: Join, dueAt: Date, now: Date): Join => watched({ ...join, lookedAt: now }, dueAt, now);

/** What did not come before the provider's retention ended. The join stays done. */
const withLosses = (join: Join, lost: readonly string[], now: Date): Join => ({
  ...join,
  history: [...join.history, ...lost.map((reason) => ({ status: join.status, at: now, reason }))],
});

interface Capture {
  /** Null without a file. */
  readonly media: JoinMedia | null;
  readonly lost: readonly string[];
  /** Whether the provider is to forget it. */
  readonly erases: boolean;
}

export const withoutMedia = ({ media: _, ...join }: Join): Join => join;

/** Its recording is a bubble. */
export const captured = (join: Join, { media, lost, erases }: Capture, now: Date): Join => ({
  ...withLosses(withWork(withoutMedia(join), erases ? 'erase' : null, now), lost, now),
  ...(media && { media }),
  bubbleId: bubbleIdOf(join.id),
});
/** Its recording is lost. */
export const uncaptured = (join: Join, reason: string, now: Date): Join =>
  withLosses(withWork(withoutMedia(join), null, now), [reason], now);
const KEY_BYTES = 32;
export const newMedia = (ids: { bytes(count: number): Uint8Array }): JoinMedia => ({
  key: Buffer.from(ids.bytes(KEY_BYTES)).toString('hex'),
  isCopied: false,
});
export const withMedia = (join: Join, media: JoinMedia): Join => ({ ...join, media });
/** The quotas whose places a fatal join gives back: it never recorded, and one that was never sent counts in no hour. */
export const refunds = ({ userQuota, teamQuota, providerRef, fatalReason }: Join): readonly string[] =>
  [providerRef === null && fatalReason !== CANCELLED ? userQuota : null, teamQuota].filter((key) => key !== null);

/** Nothing is to be done with it any more. */
export const workedOff = (join: Join, now: Date): Join => withWork(join, null, now);
