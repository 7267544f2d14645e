import type { Clock } from '@bubbles/kernel/clock.ts';
import { sleepers } from './sleepers.ts';

export interface SteppingClock extends Clock {
  /**
   * Moves on by `ms`, from due time to due time, standing still while each piece of work runs. Recovery polls are not stepped to: those that were
   * passed wake once at the end. Answers the time reached.
   */
  advance(ms: number): Promise<Date>;
  /** Returns to real time. Wakes all sleepers, because their ends may now be years away. */
  reset(): Promise<void>;
}

interface SteppingClockOptions {
  /** How far this clock is ahead of real time at the start, milliseconds. */
  readonly aheadMs: number;
  /** Keeps the figure for the next start; called before the work of a step runs. */
  readonly keep: (aheadMs: number) => Promise<void>;
  /** Resolves when nothing is in flight and all that is due has been done. */
  readonly settle: () => Promise<void>;
}

const MAX_TIMER_MS = 2 ** 31 - 1;

interface Time {
  now(): number;
  /** Stands still at `at`, and keeps it before anything else happens. */
  standAt(at: number): Promise<void>;
  /** Real time goes on from where it stands. */
  runOn(): void;
  readonly standing: boolean;
}

function time(aheadMs: number, keep: SteppingClockOptions['keep']): Time {
  const bootedAt = Date.now() - performance.now();
  const real = () => bootedAt + performance.now();
  let ahead = aheadMs;
  let standing: number | null = null;
  return {
    now: () => standing ?? real() + ahead,
    async standAt(at) {
      standing = at;
      await keep(at - real());
    },
    runOn() {
      if (standing !== null) ahead = standing - real();
      standing = null;
    },
    get standing() {
      return standing !== null;
    },
  };
}

/** Real time plus what it was moved on by; the one clock of the sandbox. */
export function steppingClock({ aheadMs, keep, settle }: SteppingClockOptions): SteppingClock {
  let current = time(aheadMs, keep);
  /** How far time was set back by resets. */
  let setBackMs = 0;
  const waiting = sleepers();
  let timer: NodeJS.Timeout | undefined;

  const monotonic = () => current.now() + setBackMs;
  const arm = () => {
    clearTimeout(timer);
    const next = waiting.earliest(['due', 'poll']);
    if (current.standing || next === Number.POSITIVE_INFINITY) return;
    timer = setTimeout(onTimer, Math.min(Math.max(0, Math.ceil(next - current.now())), MAX_TIMER_MS));
    timer.unref();
  };
  const onTimer = () => {
    waiting.wakePassed(current.now(), ['due', 'poll']);
    arm();
  };

  const stepTo = async (target: number) => {
    for (let next = waiting.earliest(['due']); next <= target; next = waiting.earliest(['due'])) {
      await current.standAt(Math.max(current.now(), next));
      waiting.wakePassed(current.now(), ['due']);
      await settle();
    }
    await current.standAt(target);
    waiting.wakePassed(target, ['due', 'poll']);
    await settle();
  };

  return {
    now: () => new Date(Math.floor(current.now())),
    monotonic,
    sleepUntil(at, kind, signal) {
      if (signal?.aborted || at.getTime() <= current.now()) return Promise.resolve();
      const sleeping = waiting.sleep(at.getTime(), kind, signal);
      arm();
      return sleeping;
    },
    async advance(ms) {
      const from = current.now();
      await current.standAt(from);
      try {
        await settle();
        await stepTo(from + ms);
      } finally {
        current.runOn();
        arm();
      }
      return new Date(Math.floor(current.now()));
    },
    async reset() {
      const reached = monotonic();
      await keep(0);
      current = time(0, keep);
      setBackMs = Math.max(0, reached - current.now());
      waiting.wakePassed(Number.POSITIVE_INFINITY, ['due', 'poll']);
      arm();
    },
  };
}
