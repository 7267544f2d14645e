import type { Clock, SleepKind } from '@bubbles/shared/clock.ts';

interface Sleeper {
  readonly at: number;
  readonly kind: SleepKind;
  wake(): void;
}

export interface SteppingClock extends Clock {
  /**
   * Moves on by `ms`, from due time to due time, standing still while each piece of work runs. Recovery polls are not stepped to: those that were
   * passed wake once at the end. Answers the time reached.
   */
  advance(ms: number): Promise<Date>;
  /** Back to real time. */
  reset(): Promise<void>;
}

export interface SteppingClockOptions {
  /** How far this clock is ahead of real time at the start, milliseconds. */
  readonly aheadMs: number;
  /** Keeps the figure for the next start; called before the work of a step runs. */
  readonly keep: (aheadMs: number) => Promise<void>;
  /** Resolves when nothing is in flight and all that is due has been done. */
  readonly settle: () => Promise<void>;
}

const MAX_TIMER_MS = 2 ** 31 - 1;

/** Real time plus what it was moved on by; the one clock of the sandbox. */
export function steppingClock({ aheadMs, keep, settle }: SteppingClockOptions): SteppingClock {
  const bootedAt = Date.now() - performance.now();
  const sleepers = new Set<Sleeper>();
  let ahead = aheadMs;
  let frozenAt: number | null = null;
  let timer: NodeJS.Timeout | undefined;

  const nowMs = () => frozenAt ?? bootedAt + performance.now() + ahead;

  const wake = (sleeper: Sleeper) => {
    sleepers.delete(sleeper);
    sleeper.wake();
  };
  const wakePassed = (kinds: readonly SleepKind[]) => {
    for (const sleeper of [...sleepers].sort((a, b) => a.at - b.at))
      if (sleeper.at <= nowMs() && kinds.includes(sleeper.kind)) wake(sleeper);
  };
  const earliest = (kinds: readonly SleepKind[]) =>
    sleepers
      .values()
      .reduce((least, sleeper) => (kinds.includes(sleeper.kind) ? Math.min(least, sleeper.at) : least), Number.POSITIVE_INFINITY);

  const arm = () => {
    clearTimeout(timer);
    const next = earliest(['due', 'poll']);
    if (frozenAt !== null || next === Number.POSITIVE_INFINITY) return;
    timer = setTimeout(onTimer, Math.min(Math.max(0, Math.ceil(next - nowMs())), MAX_TIMER_MS));
    timer.unref();
  };
  const onTimer = () => {
    wakePassed(['due', 'poll']);
    arm();
  };

  const standAt = async (at: number) => {
    frozenAt = at;
    ahead = at - (bootedAt + performance.now());
    await keep(ahead);
  };
  const runOn = () => {
    if (frozenAt !== null) ahead = frozenAt - (bootedAt + performance.now());
    frozenAt = null;
    arm();
  };

  const stepTo = async (target: number) => {
    for (let next = earliest(['due']); next <= target; next = earliest(['due'])) {
      await standAt(Math.max(nowMs(), next));
      wakePassed(['due']);
      await settle();
    }
    await standAt(target);
    wakePassed(['due', 'poll']);
    await settle();
  };

  return {
    now: () => new Date(Math.floor(nowMs())),
    monotonic: nowMs,
    sleepUntil(at, kind, signal) {
      const { promise, resolve } = Promise.withResolvers<void>();
      if (signal?.aborted || at.getTime() <= nowMs()) return Promise.resolve();
      const onAbort = () => wake(sleeper);
      const sleeper: Sleeper = {
        at: at.getTime(),
        kind,
        wake: () => {
          signal?.removeEventListener('abort', onAbort);
          resolve();
        },
      };
      signal?.addEventListener('abort', onAbort);
      sleepers.add(sleeper);
      arm();
      return promise;
    },
    async advance(ms) {
      const target = nowMs() + ms;
      frozenAt = nowMs();
      try {
        await settle();
        await stepTo(target);
      } finally {
        runOn();
      }
      return new Date(Math.floor(nowMs()));
    },
    async reset() {
      frozenAt = null;
      ahead = 0;
      await keep(0);
      arm();
    },
  };
}
