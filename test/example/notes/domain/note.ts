export interface Note {
  readonly id: string;
  readonly ownerId: string;
  readonly text: string;
  readonly writtenAt: Date;
}

const KEPT_MS = 30 * 24 * 60 * 60 * 1000;

/** Notes that were written until then have been kept long enough. */
export const keptUntil = (now: Date): Date => new Date(now.getTime() - KEPT_MS);
