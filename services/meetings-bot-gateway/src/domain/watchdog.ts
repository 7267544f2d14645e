import { type Join, type JoinStatus, RECORDING_DENIED } from './join.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

interface Watchdog {
  /** Without news for this long its provider is asked. */
  readonly silentMs: number;
  /** After this long in the status the join ends. */
  readonly endsMs: number;
  /** Reason of a join that never recorded. */
  readonly reason: string;
}

const WATCHDOGS: Readonly<Record<JoinStatus, Watchdog | null>> = {
  dispatched: { silentMs: 3 * MINUTE_MS, endsMs: 15 * MINUTE_MS, reason: 'notetaker_unavailable' },
  joining: { silentMs: MINUTE_MS, endsMs: 20 * MINUTE_MS, reason: 'notetaker_error' },
  in_waiting_room: { silentMs: MINUTE_MS, endsMs: 35 * MINUTE_MS, reason: 'waiting_room_timeout' },
  in_call: { silentMs: 2 * MINUTE_MS, endsMs: 65 * MINUTE_MS, reason: 'notetaker_error' },
  recording: { silentMs: 5 * MINUTE_MS, endsMs: 8 * HOUR_MS, reason: 'notetaker_error' },
  done: null,
  fatal: null,
};
/** Spreads the questions about joins that began together. */
const JITTER = 0.2;

/** Limit for a leaving notetaker, because some hang for ever at their provider. */
const STUCK_LEAVING: Watchdog = { silentMs: MINUTE_MS, endsMs: 10 * MINUTE_MS, reason: 'notetaker_error' };

type Watched = Pick<Join, 'status' | 'updatedAt' | 'isDenied' | 'leavingSince'>;

/** When the join must end, and how long its provider is not asked until then; null for one that is over. */
const limitsOf = ({ status, updatedAt, leavingSince }: Watched): (Omit<Watchdog, 'endsMs'> & { readonly endsAtMs: number }) | null => {
  const watchdog = WATCHDOGS[status];
  if (watchdog === null) return null;
  const { reason, silentMs, endsMs } = watchdog;
  const endsAtMs = updatedAt.getTime() + endsMs;
  if (leavingSince === null) return { reason, silentMs, endsAtMs };
  return {
    reason,
    silentMs: Math.min(silentMs, STUCK_LEAVING.silentMs),
    endsAtMs: Math.min(endsAtMs, leavingSince.getTime() + STUCK_LEAVING.endsMs),
  };
};

/** Why the join must end now; null while it may go on. */
export const overdueReason = (join: Watched, now: Date): string | null => {
  const limits = limitsOf(join);
  if (limits === null || now.getTime() < limits.endsAtMs) return null;
  if (join.status === 'in_call' && join.isDenied) return RECORDING_DENIED;
  return join.leavingSince === null ? limits.reason : STUCK_LEAVING.reason;
};

/** When its provider is asked next; never later than its end. `jitter` is 0 to 1. */
export const nextLook = (join: Watched, now: Date, jitter: number): Date => {
  const limits = limitsOf(join);
  if (limits === null) return now;
  const look = now.getTime() + limits.silentMs * (1 + JITTER * jitter);
  return new Date(Math.min(look, Math.max(now.getTime(), limits.endsAtMs)));
};

const RETRY_MS = { first: 5000, max: 5 * MINUTE_MS, longest: 10 * MINUTE_MS } as const;

/** How long to wait before the next try of work that failed `tries` times before; as long as the provider says, within reason. */
export const retryMs = (tries: number, retryAfterSeconds: number | null): number => {
  const own = Math.min(RETRY_MS.first * 2 ** Math.min(tries, 10), RETRY_MS.max);
  return Math.min(Math.max(own, (retryAfterSeconds ?? 0) * 1000), RETRY_MS.longest);
};

/** Nothing is ever due later than this: what seems to be was written before the clock was set back. */
export const LONGEST_WAIT_MS = 15 * MINUTE_MS;

/** Bounds in time, and in tries for a clock that was set back. */
const DISPATCH_LIMIT = { ms: 10 * MINUTE_MS, tries: 8 } as const;
const LEAVE_LIMIT = { ms: 8 * HOUR_MS, tries: 110 } as const;
/** A provider may still be making the run of a request whose answer was lost. */
const SETTLED = { ms: MINUTE_MS, tries: 5 } as const;

const isWithin = (
  limit: { readonly ms: number; readonly tries: number },
  since: Date,
  { tries, now }: { readonly tries: number; readonly now: Date },
) => now.getTime() - since.getTime() < limit.ms && tries < limit.tries;

/** A provider that could not be reached for so long is given up. */
export const mayStillDispatch = ({ createdAt, tries }: Pick<Join, 'createdAt' | 'tries'>, now: Date): boolean =>
  isWithin(DISPATCH_LIMIT, createdAt, { tries, now });

type Over = Pick<Join, 'updatedAt' | 'tries'>;
/** A notetaker that cannot be told to leave for so long has left by itself. */
export const mayStillLeave = ({ updatedAt, tries }: Over, now: Date): boolean => isWithin(LEAVE_LIMIT, updatedAt, { tries, now });
/** When a notetaker that was not found is looked for again; null when there is none. */
export const nextSearch = ({ updatedAt, tries }: Over, now: Date): Date | null =>
  isWithin(SETTLED, updatedAt, { tries, now }) ? new Date(now.getTime() + SETTLED.ms) : null;

/** A hint about a run that no join knows waits while the answer to its dispatch may still be stored, also after the death of a process. */
const HINT_WAITS = { ms: 3 * MINUTE_MS, eachMs: 10_000 } as const;
/** When such a hint is followed again; null when it is about nothing of ours. */
export const hintWaitsUntil = ({ receivedAt }: { readonly receivedAt: Date }, now: Date): Date | null =>
  Math.abs(now.getTime() - receivedAt.getTime()) < HINT_WAITS.ms ? new Date(now.getTime() + HINT_WAITS.eachMs) : null;
