/** What a sleep waits for: `due` is work that falls due at that time, `poll` is a look for work (recovery, cron). */
export type SleepKind = 'due' | 'poll';

/** The one source of time. Relays, claims and jobs wait only through it, so that the sandbox can step it. */
export interface Clock {
  now(): Date;
  /** Milliseconds that never go back; for windows and durations. */
  monotonic(): number;
  /** Resolves when `at` has come, or when `signal` aborts. A poll also when that much time has passed after the clock was set back. */
  sleepUntil(at: Date, kind: SleepKind, signal?: AbortSignal): Promise<void>;
}

/** A timer stands still while its machine is suspended and knows nothing of a clock that is set forward, so the time is read again. */
const LONGEST_TIMER_MS = 60_000;

export const systemClock = (wallMs: () => number = Date.now): Clock => ({
  now: () => new Date(wallMs()),
  monotonic: () => performance.now(),
  sleepUntil: (at, kind, signal) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    if (signal?.aborted) return Promise.resolve();
    const untilAt = () => at.getTime() - wallMs();
    const enoughAt = kind === 'poll' ? performance.now() + untilAt() : Number.POSITIVE_INFINITY;
    let timer: NodeJS.Timeout;
    const arm = () => {
      const left = Math.min(untilAt(), enoughAt - performance.now());
      if (left <= 0) return finish();
      timer = setTimeout(arm, Math.min(left, LONGEST_TIMER_MS));
      timer.unref();
    };
    const finish = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', finish);
      resolve();
    };
    signal?.addEventListener('abort', finish);
    arm();
    return promise;
  },
});
