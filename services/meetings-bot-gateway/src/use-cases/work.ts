import type { Clock } from '@bubbles/kernel/clock.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import type { Seal } from '@bubbles/kernel/seal.ts';
import { dispatched, ended, isFinal, type Join, left, postponed, type Snapshot, watchedAgain, withSnapshot } from '../domain/join.ts';
import { mayStillDispatch, mayStillWatch, nextLook, overdueReason, retryMs } from '../domain/watchdog.ts';
import { type JoinAdvanced, type JoinStore, type Notetaker, NotetakerError, type Notetakers } from '../ports.ts';

export interface WorkPorts {
  readonly joins: JoinStore;
  readonly notetakers: Notetakers;
  readonly joinAdvanced: JoinAdvanced;
  readonly seal: Seal;
  readonly clock: Clock;
  readonly log: Log;
  readonly botName: string;
  /** Gives 0 to 1. */
  readonly jitter: () => number;
  /** Wakes who watches notetakers. */
  readonly wakeWatch: () => void;
  /** Wakes who captures recordings. */
  readonly wakeCapture: () => void;
}

/** True also for errors of another realm. */
export const isNotetakerError = (error: unknown): error is NotetakerError => Error.isError(error) && error.name === 'NotetakerError';

/** What is no refusal of the provider, such as a socket that broke, may pass later. */
export const asked = async <T>(call: Promise<T>): Promise<T> => {
  try {
    return await call;
  } catch (error) {
    throw isNotetakerError(error) ? error : new NotetakerError('transient', 'notetaker_error', { cause: error });
  }
};

const UNAVAILABLE = 'notetaker_unavailable';

/** What a claimed join became; written only while the claim lasts, with the event of a new status. */
export const endWork =
  ({ joins, joinAdvanced }: Pick<WorkPorts, 'joins' | 'joinAdvanced'>) =>
  (claimed: Join, change: (join: Join) => Join | null): Promise<Join | null> =>
    joins.update(claimed.id, (join) => {
      if (join.leaseToken !== claimed.leaseToken) return null;
      const state = change(join);
      return state && { state, events: state.status === join.status ? [] : [joinAdvanced(state)] };
    });

const laterBy = (now: Date, ms: number): Date => new Date(now.getTime() + ms);

/** The join after a call of its provider that failed: tried again, or ended. */
const afterFault =
  (error: unknown, now: Date, mayRetry: (join: Join) => boolean) =>
  (join: Join): Join | null => {
    const known = isNotetakerError(error) ? error : null;
    const retry = postponed(join, laterBy(now, retryMs(join.tries, known?.retryAfterSeconds ?? null)));
    const isOver = known?.kind === 'permanent' || !mayRetry(join);
    if (isFinal(join.status)) return isOver ? left(join, now) : retry;
    if (known?.kind === 'permanent') return ended({ ...join, leaseToken: null, tries: 0 }, known.reason, now);
    return mayRetry(join) ? retry : ended({ ...join, leaseToken: null, tries: 0 }, UNAVAILABLE, now);
  };

/**
 * Sends the notetaker of a join. The join was stored before, so that a process that dies here leaves it to the next, which adopts what the provider has.
 */
export const dispatchJoin = (ports: WorkPorts) => {
  const { notetakers, seal, clock, log, botName, jitter, wakeWatch } = ports;
  const end = endWork(ports);

  const send = async (join: Join, notetaker: Notetaker): Promise<void> => {
    const meetingUrl = seal.unseal(join.linkSealed ?? '', join.id).toString();
    const { id: joinId, platform, tries } = join;
    const { ref, adopted } = await asked(notetaker.dispatch({ joinId, meetingUrl, platform, botName, tries }));
    if (adopted) log.info('notetaker adopted', { joinId, provider: notetaker.name });
    await end(join, (before) => dispatched(before, ref, isFinal(before.status) ? clock.now() : nextLook(before, clock.now(), jitter())));
    wakeWatch();
  };

  return async (join: Join): Promise<void> => {
    const notetaker = join.provider === null ? null : notetakers.named(join.provider);
    if (notetaker === null) {
      const reason = join.provider === null ? 'platform_not_supported' : UNAVAILABLE;
      await end(join, (before) => ended({ ...before, leaseToken: null, tries: 0 }, reason, clock.now()) ?? left(before, clock.now()));
      return;
    }
    try {
      await send(join, notetaker);
    } catch (error) {
      if (!isNotetakerError(error)) throw error;
      log.warn('notetaker not dispatched', { joinId: join.id, provider: notetaker.name, kind: error.kind, reason: error.reason });
      const now = clock.now();
      await end(
        join,
        afterFault(error, now, (before) => mayStillDispatch(before, now)),
      );
    }
  };
};

/** Asks the provider of a silent join, and lets the notetaker of one that we ended leave. */
export const watchJoin = (ports: WorkPorts) => {
  const { notetakers, clock, log, jitter, wakeCapture } = ports;
  const end = endWork(ports);

  const lookAt =
    (snapshot: Snapshot | null, now: Date) =>
    (join: Join): Join => {
      const heard = snapshot === null ? join : (withSnapshot(join, snapshot, now) ?? join);
      if (isFinal(heard.status)) return heard;
      const overdue = overdueReason(heard, now);
      return (overdue === null ? null : ended(heard, overdue, now)) ?? watchedAgain(heard, nextLook(heard, now, jitter()));
    };

  const letLeave = async (join: Join, notetaker: Notetaker, ref: string): Promise<void> => {
    await asked(notetaker.leave(ref));
    await end(join, (before) => left(before, clock.now()));
  };

  return async (join: Join): Promise<void> => {
    const { providerRef, provider } = join;
    const notetaker = provider === null ? null : notetakers.named(provider);
    if (notetaker === null || providerRef === null) {
      await end(join, (before) => (isFinal(before.status) ? left(before, clock.now()) : ended(before, UNAVAILABLE, clock.now())));
      return;
    }
    try {
      if (isFinal(join.status)) await letLeave(join, notetaker, providerRef);
      else await end(join, lookAt(await asked(notetaker.snapshot(providerRef)), clock.now()));
    } catch (error) {
      if (!isNotetakerError(error)) throw error;
      log.warn('notetaker not reached', { joinId: join.id, provider: notetaker.name, kind: error.kind, reason: error.reason });
      const now = clock.now();
      await end(
        join,
        afterFault(error, now, (before) => mayStillWatch(before, now)),
      );
    }
    wakeCapture();
  };
};

/** The truth about a join, after a hint that there is news of it. */
export const hearOf = (ports: Pick<WorkPorts, 'joins' | 'joinAdvanced' | 'clock' | 'notetakers' | 'wakeCapture'>) => {
  const { joins, joinAdvanced, clock, notetakers, wakeCapture } = ports;
  return async (joinId: string): Promise<Join | null> => {
    const join = await joins.get(joinId);
    const notetaker = join?.provider ? notetakers.named(join.provider) : null;
    if (!join?.providerRef || notetaker === null) return join;
    const snapshot = await notetaker.snapshot(join.providerRef);
    if (snapshot === null) return join;
    const heard = await joins.update(joinId, (before) => {
      const state = withSnapshot(before, snapshot, clock.now());
      return state && { state, events: state.status === before.status ? [] : [joinAdvanced(state)] };
    });
    wakeCapture();
    return heard;
  };
};
