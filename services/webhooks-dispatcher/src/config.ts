import type { SealKey } from '@bubbles/shared/seal.ts';
import type { DispatchLimits } from './use-cases/dispatch.ts';

/** What the dispatcher itself has to know; the environment of its process is read in `main.ts`. */
export interface Config {
  /** The service-specific part of the header names, `X-<name>-Signature`. */
  readonly headerName: string;
  readonly userAgent: string;
  /** Seal the secrets of subscriptions; the first one seals. */
  readonly sealKeys: readonly SealKey[];
  /** Authenticate the cursors of the delivery log. */
  readonly cursorKeys: { readonly current: Buffer; readonly previous: Buffer | null };
  readonly receivers: {
    /** Networks that may be dialled although they are not public. */
    readonly allow: readonly string[];
    /** Networks that may not be dialled although they are public. */
    readonly deny: readonly string[];
    readonly http: boolean;
    /** Loopback literals and `localhost`: the sandbox. */
    readonly loopback: boolean;
    /** Certificate authorities beside the built-in ones, PEM. */
    readonly extraCa: readonly string[];
  };
  readonly timing: {
    readonly deadlineMs: number;
    readonly connectMs: number;
    /** How often to look for work that nobody announced. */
    readonly pollMs: number;
  };
  readonly limits: DispatchLimits;
  /** At start, claims of this store belong to a process that is gone: true where there is one process only. */
  readonly releaseLeasesAtStart: boolean;
}

export const PRODUCTION_TIMING: Config['timing'] = { deadlineMs: 15_000, connectMs: 5000, pollMs: 1000 };
export const PRODUCTION_LIMITS: DispatchLimits = { perSubscription: 4, perProcess: 256, reservedForFirst: 64, leaseMs: 60_000 };

/** The lease must outlive an attempt with the time to record it, or a second worker would post beside the first. */
export function checkTiming({ timing, limits }: Pick<Config, 'timing' | 'limits'>): void {
  if (limits.leaseMs < 2 * timing.deadlineMs) throw new Error('the lease of a delivery must be at least twice the deadline of an attempt');
  if (limits.reservedForFirst >= limits.perProcess) throw new Error('not every slot can be kept for first attempts');
}
