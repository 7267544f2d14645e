import { setImmediate } from 'node:timers/promises';
import type { Clock, SleepKind } from '@bubbles/kernel/clock.ts';

interface Sleeper {
  readonly at: number;
  readonly kind: SleepKind;
  wake(): void;
}

export interface FakeClock extends Clock {
  /**
   * Moves on by `ms`, from due time to due time, letting what woke run before the next. Polls are not stepped to: those that were passed wake once at
   * the end, as in the sandbox.
   */
  advance(ms: number): Promise<void>;
  /** Jumps to `date` and wakes all sleepers that are due by then. */
  set(date: Date): Promise<void>;
}

/** Turns of the event loop that woken work gets before time moves on: enough for a chain of group commits. */
const TURNS = 12;

const letRun = async () => {
  for (let turn = 0; turn < TURNS; turn += 1) await setImmediate();
};

/** Stands still until it is moved. */
export function fakeClock(start = new Date('2026-01-01T00:00:00.000Z')): FakeClock {
  const sleepers = new Set<Sleeper>();
  let nowMs = start.getTime();

  const inOrder = () => [...sleepers].sort((a, b) => a.at - b.at);
  const wakePassed = async (kinds: readonly SleepKind[]) => {
    for (const sleeper of inOrder()) if (sleeper.at <= nowMs && kinds.includes(sleeper.kind)) sleeper.wake();
    await letRun();
  };
  const nextDue = (until: number) => inOrder().find((sleeper) => sleeper.kind === 'due' && sleeper.at <= until);

  return {
    now: () => new Date(nowMs),
    monotonic: () => nowMs,
    sleepUntil(at, kind, signal) {
      if (signal?.aborted || at.getTime() <= nowMs) return Promise.resolve();
      const { promise, resolve } = Promise.withResolvers<void>();
      const sleeper: Sleeper = {
        at: at.getTime(),
        kind,
        wake: () => {
          sleepers.delete(sleeper);
          signal?.removeEventListener('abort', sleeper.wake);
          resolve();
        },
      };
      signal?.addEventListener('abort', sleeper.wake);
      sleepers.add(sleeper);
      return promise;
    },
    async advance(ms) {
      const target = nowMs + ms;
      await letRun();
      for (let next = nextDue(target); next; next = nextDue(target)) {
        nowMs = Math.max(nowMs, next.at);
        await wakePassed(['due']);
      }
      nowMs = target;
      await wakePassed(['due', 'poll']);
    },
    async set(date) {
      nowMs = date.getTime();
      await wakePassed(['due', 'poll']);
    },
  };
}
