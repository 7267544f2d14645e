import { type Join, type JoinStatus, RECORDING_DENIED } from './join.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

interface Watchdog {
  /** Without news for this long its provider is asked. */
  readonly silentMs: number;
  /** After this long in the status the join ends. */
  readonly endsMs: number;
  /** Of a join that never recorded. */
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

/** Of a notetaker that is on its way out of the call, where providers let some hang for ever. */
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

/** A notetaker that cannot be told to leave for this long has left by itself. */
const LEAVE_LIMIT_MS = 8 * HOUR_MS;
/** Whether its provider is called again after a fault. */
export const mayStillWatch = (join: Watched, now: Date): boolean =>
  WATCHDOGS[join.status] === null ? now.getTime() - join.updatedAt.getTime() < LEAVE_LIMIT_MS : overdueReason(join, now) === null;

/** When its provider is asked next; never later than its end. `jitter` is 0 to 1. */
export const nextLook = (join: Watched, now: Date, jitter: number): Date => {
  const limits = limitsOf(join);
  if (limits === null) return now;
  const look = now.getTime() + limits.silentMs * (1 + JITTER * jitter);
  return new Date(Math.min(look, Math.max(now.getTime(), limits.endsAtMs)));
};

const RETRY_MS = { first: 5000, max: 5 * MINUTE_MS } as const;

/** How long to wait before the next try of work that failed `tries` times before; at least as long as the provider says. */
export const retryMs = (tries: number, retryAfterSeconds: number | null): number =>
  Math.max(Math.min(RETRY_MS.first * 2 ** Math.min(tries, 10), RETRY_MS.max), (retryAfterSeconds ?? 0) * 1000);

/** A provider that could not be reached for this long is given up. */
const DISPATCH_LIMIT_MS = 10 * MINUTE_MS;
export const mayStillDispatch = ({ createdAt }: Pick<Join, 'createdAt'>, now: Date): boolean =>
  now.getTime() - createdAt.getTime() < DISPATCH_LIMIT_MS;
