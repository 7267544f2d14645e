import type { Clock } from '@bubbles/kernel/clock.ts';
import type { Log } from '@bubbles/kernel/log.ts';

interface HoldOptions {
  /** Of the lease; it is renewed three times within it, so that it outlives two renewals that fail. */
  readonly leaseMs: number;
  /** False when another worker has taken over. */
  readonly renew: (until: Date) => Promise<boolean>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Keeps a lease while `work` runs, however long that takes. The signal aborts when the lease was lost. */
export const holdLease = async <R>({ leaseMs, renew, clock, log }: HoldOptions, work: (lost: AbortSignal) => Promise<R>): Promise<R> => {
  const lost = new AbortController();
  const over = new AbortController();
  const after = (ms: number) => new Date(clock.now().getTime() + ms);
  const renewOnce = async () => {
    try {
      if (await renew(after(leaseMs))) return;
      log.warn('lease lost');
      lost.abort();
      over.abort();
    } catch (error) {
      log.warn('lease not renewed, trying again', { error });
    }
  };
  const renewing = (async () => {
    while (!over.signal.aborted) {
      await clock.sleepUntil(after(leaseMs / 3), 'poll', over.signal);
      if (!over.signal.aborted) await renewOnce();
    }
  })();
  try {
    return await work(lost.signal);
  } finally {
    over.abort();
    await renewing;
  }
};
