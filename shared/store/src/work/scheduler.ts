/** A piece of work that comes again and again. */
export interface Scheduled {
  /** Resolves when no run is in progress. */
  idle(): Promise<void>;
  /** No run begins any more; resolves when the one in progress is over. */
  stop(): Promise<void>;
}

export interface ScheduledWork {
  readonly name: string;
  /** UTC, five fields. */
  readonly cron: string;
  /** Called with the minute that the expression names, never twice at once. Must not reject. */
  tick(at: Date): Promise<void>;
}

export interface Scheduler {
  schedule(work: ScheduledWork): Scheduled;
}

const MINUTE_MS = 60_000;

export const minuteOf = (date: Date): Date => new Date(Math.floor(date.getTime() / MINUTE_MS) * MINUTE_MS);
