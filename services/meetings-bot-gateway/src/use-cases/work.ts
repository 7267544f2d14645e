import type { Clock } from '@bubbles/kernel/clock.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import type { Seal } from '@bubbles/kernel/seal.ts';
import {
  dispatched,
  ended,
  isFinal,
  type Join,
  left,
  lost,
  notAhead,
  postponed,
  type Snapshot,
  unsent,
  watchedAgain,
  withSnapshot,
} from '../domain/join.ts';
import { LONGEST_WAIT_MS, mayStillDispatch, mayStillLeave, nextLook, nextSearch, overdueReason, retryMs } from '../domain/watchdog.ts';
import { type DispatchRequest, type JoinAdvanced, type JoinStore, type Notetaker, NotetakerError, type Notetakers } from '../ports.ts';

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
  /** Wakes the loop that watches notetakers and makes them leave. */
  readonly wakeWatch: () => void;
  /** Wakes the loop that captures recordings. */
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

const retried = (join: Join, error: NotetakerError, now: Date): Join =>
  postponed(join, new Date(now.getTime() + retryMs(join.tries, error.retryAfterSeconds)));

/** Does work that calls a provider; `failed` says what becomes of the join when that did not do it. */
const calling =
  (ports: WorkPorts, what: string, failed: (join: Join, error: NotetakerError, now: Date) => Join | null) =>
  async (join: Join, call: () => Promise<unknown>): Promise<void> => {
    try {
      await call();
    } catch (error) {
      if (!isNotetakerError(error)) throw error;
      const { kind, reason } = error;
      ports.log.warn(what, { joinId: join.id, provider: join.provider, kind, reason });
      const now = ports.clock.now();
      await endWork(ports)(join, (before) => failed(notAhead(before, now), error, now));
    }
  };

const providerOf = ({ notetakers }: Pick<WorkPorts, 'notetakers'>, { provider }: Join): Notetaker | null =>
  provider === null ? null : notetakers.named(provider);

/** True when another join still needs the run: some providers have one notetaker per meeting for all requesters. */
export const neededByOther =
  ({ joins }: Pick<WorkPorts, 'joins'>, needs: (other: Join) => boolean) =>
  async ({ id, provider }: Pick<Join, 'id' | 'provider'>, ref: string): Promise<boolean> =>
    provider !== null && (await joins.byRefs([{ provider, ref }])).some((other) => other.id !== id && needs(other));

const requestOf = ({ seal, botName }: Pick<WorkPorts, 'seal' | 'botName'>, join: Join, linkSealed: string): DispatchRequest => {
  const meetingUrl = seal.unseal(linkSealed, join.id).toString();
  return { joinId: join.id, meetingUrl, platform: join.platform, botName, tries: join.tries };
};

/** Tried again; a provider that refuses for good has sent nobody, unless it did before and its answer was lost. */
const notDispatched = (join: Join, error: NotetakerError, now: Date): Join => {
  if (error.kind === 'permanent') return join.tries === 0 ? unsent(join, error.reason, now) : lost(join, error.reason, now);
  return mayStillDispatch(join, now) && !isFinal(join.status) ? retried(join, error, now) : lost(join, UNAVAILABLE, now);
};

/**
 * Sends the notetaker of a join. The join was stored before, so that a process that dies here leaves it to the next, which adopts what the provider has.
 */
export const dispatchJoin = (ports: WorkPorts) => {
  const { clock, log, jitter, wakeWatch } = ports;
  const end = endWork(ports);
  const attempt = calling(ports, 'notetaker not dispatched', notDispatched);

  const send = async (join: Join, notetaker: Notetaker): Promise<void> => {
    const { ref, adopted } = await asked(notetaker.dispatch(requestOf(ports, join, join.linkSealed ?? '')));
    if (adopted) log.info('notetaker adopted', { joinId: join.id, provider: notetaker.name });
    const now = clock.now();
    await end(join, (before) => dispatched(before, ref, { now, lookAt: nextLook(before, now, jitter()) }));
  };

  return async (join: Join): Promise<void> => {
    const notetaker = providerOf(ports, join);
    const reason = join.provider === null ? 'platform_not_supported' : UNAVAILABLE;
    if (notetaker === null) await end(join, (before) => unsent(before, reason, clock.now()));
    // It ended after a dispatch whose process is gone.
    else if (isFinal(join.status)) await end(join, (before) => lost(before, UNAVAILABLE, clock.now()));
    else await attempt(join, () => send(join, notetaker));
    wakeWatch();
  };
};

/** Asks the provider of a silent join. */
export const watchJoin = (ports: WorkPorts) => {
  const { clock, jitter, wakeWatch, wakeCapture } = ports;
  const end = endWork(ports);
  const attempt = calling(ports, 'notetaker not reached', (join, error, now) => {
    if (error.kind === 'permanent') return ended(join, error.reason, now);
    return overdueReason(join, now) === null ? retried(join, error, now) : ended(join, UNAVAILABLE, now);
  });

  const lookAt =
    (snapshot: Snapshot | null, now: Date) =>
    (before: Join): Join => {
      const join = notAhead(before, now);
      const heard = snapshot === null ? join : (withSnapshot(join, snapshot, now) ?? join);
      if (isFinal(heard.status)) return heard;
      const overdue = overdueReason(heard, now);
      return (overdue === null ? null : ended(heard, overdue, now)) ?? watchedAgain(heard, nextLook(heard, now, jitter()), now);
    };

  return async (join: Join): Promise<void> => {
    const { providerRef } = join;
    const notetaker = providerOf(ports, join);
    if (notetaker === null || providerRef === null) await end(join, (before) => ended(before, UNAVAILABLE, clock.now()));
    else await attempt(join, async () => end(join, lookAt(await asked(notetaker.snapshot(providerRef)), clock.now())));
    wakeWatch();
    wakeCapture();
  };
};

/**
 * Tells the notetaker of a join that we ended to leave. One whose dispatch was never answered is looked for first: what it took of the quotas is given
 * back when nobody is in the call any more.
 */
export const letLeave = (ports: WorkPorts) => {
  const { clock, log, wakeCapture } = ports;
  const end = endWork(ports);
  const giveUp = (join: Join, now: Date): Join => {
    log.error('notetaker may still be in the call', { joinId: join.id, provider: join.provider });
    return left(join, now);
  };
  const attempt = calling(ports, 'notetaker not told to leave', (join, error, now) =>
    error.kind === 'permanent' || !mayStillLeave(join, now) ? giveUp(join, now) : retried(join, error, now),
  );

  const search = async (join: Join, notetaker: Notetaker): Promise<string | null> => {
    const ref = join.linkSealed === null ? null : await asked(notetaker.find(requestOf(ports, join, join.linkSealed)));
    if (ref !== null) log.info('lost notetaker found', { joinId: join.id, provider: notetaker.name });
    return ref;
  };
  const isInUse = neededByOther(ports, ({ status }) => !isFinal(status));
  const tell = async (join: Join, notetaker: Notetaker): Promise<void> => {
    const ref = join.providerRef ?? (await search(join, notetaker));
    if (ref !== null && (await isInUse(join, ref)))
      log.info('notetaker stays for another join', { joinId: join.id, provider: join.provider });
    else if (ref !== null) await asked(notetaker.leave(ref));
    const again = ref === null ? nextSearch(join, clock.now()) : null;
    await end(join, (before) => (again === null ? left(before, clock.now()) : postponed(before, again)));
  };

  return async (join: Join): Promise<void> => {
    const notetaker = providerOf(ports, join);
    if (notetaker === null) await end(join, (before) => giveUp(before, clock.now()));
    else await attempt(join, () => tell(join, notetaker));
    wakeCapture();
  };
};

const HASTENED_MS = 60_000;
/** Makes work due soon that a clock set back would delay. Takes no lease away: the worker of a join renews it earlier. */
export const hastenJoins =
  ({ joins, clock }: Pick<WorkPorts, 'joins' | 'clock'>) =>
  (): Promise<void> => {
    const now = clock.now().getTime();
    return joins.hasten(new Date(now + LONGEST_WAIT_MS), new Date(now + HASTENED_MS));
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
