import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { backOffMs } from './back-off.ts';

/** A consumer's own trouble: while it lasts no handler begins. */
export interface ConsumerPause {
  isOn(): boolean;
  /** Backs off, longer with each time in a row. */
  begin(error: unknown): void;
  /** A handler was through: the trouble is over. */
  forget(): void;
}

export interface ConsumerPauseOptions {
  readonly queue: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly jitter: () => number;
  readonly signal: AbortSignal;
  readonly onEnd: () => void;
}

export const consumerPause = ({ queue, clock, log, jitter, signal, onEnd }: ConsumerPauseOptions): ConsumerPause => {
  let failures = 0;
  let on = false;

  const sleep = async (ms: number) => {
    on = true;
    await clock.sleepUntil(new Date(clock.now().getTime() + ms), 'poll', signal);
    on = false;
    if (!signal.aborted) onEnd();
  };
  return {
    isOn: () => on,
    begin(error) {
      if (on) return;
      const ms = backOffMs(failures, jitter);
      failures += 1;
      log.warn('A consumer is unavailable and backs off.', { queue, failures, forMs: ms, error });
      void sleep(ms);
    },
    forget() {
      if (!on) failures = 0;
    },
  };
};
