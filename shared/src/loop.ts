import type { Clock } from './clock.ts';
import type { Log } from './log.ts';

/** A background worker: relay, claimer, flusher. */
export interface Loop {
  /** There may be work: run now, or once more when running. */
  poke(): void;
  /** Resolves when everything that is due has been done and the loop sleeps. */
  idle(): Promise<void>;
  /** Ends the loop after the run in progress. */
  stop(): Promise<void>;
}

export interface LoopOptions {
  readonly name: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Does all that is due now; answers when the next piece falls due, null when nothing is scheduled. */
  readonly run: () => Promise<Date | null>;
  /** How often to look without being poked, milliseconds. */
  readonly pollMs: number;
}
