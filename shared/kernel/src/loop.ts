import { setImmediate } from 'node:timers/promises';
import type { Clock } from './clock.ts';
import { backoffMs } from './concurrency.ts';
import type { Log } from './log.ts';
import { inUnrecordedSpan } from './trace.ts';

/** A background worker: relay, claimer, flusher. */
export interface Loop {
  /** There may be work: run now, or once more when running. */
  poke(): void;
  /** Resolves when all that is due has been done and the loop sleeps. After a failed run it waits for one more run and no longer. */
  idle(): Promise<void>;
  /** Ends the loop after the run in progress. */
  stop(): Promise<void>;
}

/** Options that all loops of a process share. */
export interface LoopContext {
  readonly clock: Clock;
  readonly log: Log;
  /** Called with the name of a loop whenever a run of it, or a piece of its work, has failed. */
  readonly onFailure?: ((loop: string) => void) | undefined;
}

interface LoopOptions extends LoopContext {
  readonly name: string;
  /** Does all that is due now; answers when the next piece falls due, null when nothing is scheduled. */
  readonly run: () => Promise<Date | null>;
  /** How often to look without being poked, milliseconds. */
  readonly pollMs: number;
  /** Gives 0 to 1; spreads the retries of replicas. */
  readonly jitter?: () => number;
}

/** The reason of each wake-up; made once, since a loop may be woken thousands of times a second. */
const WAKE_REASON = 'awake';

type LoopRun = { readonly failed: false; readonly next: Date | null } | { readonly failed: true; readonly retryAfterMs: number };

const createRun = ({ name, log, run, onFailure, jitter = Math.random }: LoopOptions) => {
  let failures = 0;
  const runOnce = async (): Promise<LoopRun> => {
    try {
      const next = await run();
      if (failures > 0) log.info('background run succeeded again', { loop: name, failures });
      failures = 0;
      return { failed: false, next };
    } catch (error) {
      failures += 1;
      onFailure?.(name);
      // The first, the second, the fourth, …: what goes on failing does not fill the log.
      if (Number.isInteger(Math.log2(failures))) log.warn('background run failed, retrying', { loop: name, failures, error });
      return { failed: true, retryAfterMs: backoffMs(failures - 1, jitter) };
    }
  };
  return () => inUnrecordedSpan(runOnce);
};

/** Runs at once, then whenever it is poked, something falls due, or `pollMs` have passed. A run that throws is tried again, later each time. */
export function startLoop(options: LoopOptions): Loop {
  const { clock, pollMs } = options;
  const runOnce = createRun(options);
  let poked = true;
  let stopped = false;
  let failing = false;
  let asleepUntil: number | null = null;
  let alarm = new AbortController();
  const waiters = new Set<() => void>();

  const answerWaiters = () => {
    for (const resolve of waiters) resolve();
    waiters.clear();
  };
  const wake = () => {
    poked = true;
    if (asleepUntil !== null) alarm.abort(WAKE_REASON);
  };
  const hasCome = (atMs: number) => atMs <= clock.now().getTime();

  const sleep = async (last: LoopRun) => {
    const pollAt = new Date(clock.now().getTime() + (last.failed ? last.retryAfterMs : pollMs));
    const dueAt = last.failed ? null : last.next;
    failing = last.failed;
    alarm = new AbortController();
    asleepUntil = Math.min(pollAt.getTime(), dueAt?.getTime() ?? Number.POSITIVE_INFINITY);
    answerWaiters();
    const sleeps = [clock.sleepUntil(pollAt, 'poll', alarm.signal)];
    if (dueAt) sleeps.push(clock.sleepUntil(dueAt, 'due', alarm.signal));
    await Promise.race(sleeps);
    asleepUntil = null;
    alarm.abort(WAKE_REASON);
  };

  const turn = async () => {
    while (!stopped) {
      poked = false;
      const last = await runOnce();
      if (stopped || poked) continue;
      if (!last.failed && last.next && hasCome(last.next.getTime())) await setImmediate();
      else await sleep(last);
    }
    answerWaiters();
  };
  const ended = Promise.resolve().then(turn);

  return {
    poke: wake,
    async idle() {
      // A loop that the clock woke begins its run within one turn of the event loop.
      if (asleepUntil !== null && hasCome(asleepUntil)) await setImmediate();
      if (stopped || (asleepUntil !== null && !poked && !failing)) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      waiters.add(resolve);
      if (asleepUntil !== null) wake();
      await promise;
    },
    async stop() {
      stopped = true;
      alarm.abort();
      await ended;
    },
  };
}
