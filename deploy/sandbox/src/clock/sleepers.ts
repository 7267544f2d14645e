import type { SleepKind } from '@bubbles/kernel/clock.ts';

interface Sleeper {
  readonly at: number;
  readonly kind: SleepKind;
  wake(): void;
}

/** Pending sleeps with their ends, in milliseconds of the sandbox's clock. */
interface Sleepers {
  sleep(at: number, kind: SleepKind, signal?: AbortSignal): Promise<void>;
  /** The earliest time that somebody of these kinds waits for; infinity when nobody does. */
  earliest(kinds: readonly SleepKind[]): number;
  /** Wakes those of these kinds whose time has come, in the order of their times. */
  wakePassed(now: number, kinds: readonly SleepKind[]): void;
}

export function sleepers(): Sleepers {
  const asleep = new Set<Sleeper>();
  const wake = (sleeper: Sleeper) => {
    asleep.delete(sleeper);
    sleeper.wake();
  };
  return {
    sleep(at, kind, signal) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const onAbort = () => wake(sleeper);
      const sleeper: Sleeper = {
        at,
        kind,
        wake: () => {
          signal?.removeEventListener('abort', onAbort);
          resolve();
        },
      };
      signal?.addEventListener('abort', onAbort);
      asleep.add(sleeper);
      return promise;
    },
    earliest: (kinds) =>
      asleep.values().reduce((least, { at, kind }) => (kinds.includes(kind) ? Math.min(least, at) : least), Number.POSITIVE_INFINITY),
    wakePassed(now, kinds) {
      for (const sleeper of [...asleep].toSorted((a, b) => a.at - b.at))
        if (sleeper.at <= now && kinds.includes(sleeper.kind)) wake(sleeper);
    },
  };
}
