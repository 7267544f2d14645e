const SAMPLE = 20;
const FAILURES_TO_OPEN = SAMPLE / 2;
const WINDOW_MS = 10_000;
const OPEN_MS = 2_000;
/** Whoever waits for a silent replica loses the whole time limit: two of them are enough. */
const SILENT_WEIGHT = FAILURES_TO_OPEN / 2;

export type BreakerState = 'closed' | 'open' | 'probing';

/** Guards one address. Only transport failures count against it; an answer of any status speaks for it. Times are monotonic milliseconds. */
export interface Breaker {
  state(): BreakerState;
  /** May a request go there now? One that finds the pause over is the probe, and its outcome decides. */
  admits(now: number): boolean;
  /** Would `admits` say yes? Takes no probe. */
  mayAdmit(now: number): boolean;
  succeeded(now: number): void;
  /** `silent`: its time limit passed, and nobody else had an answer meanwhile. The next probe goes at once then, since it waits long enough itself. */
  failed(now: number, silent?: boolean): void;
  /** The probe ended without an outcome (its client went away). */
  abandoned(now: number): void;
}

interface Outcome {
  readonly at: number;
  /** Of the failure; 0 for a success. */
  readonly weight: number;
}

export const createBreaker = (): Breaker => {
  let state: BreakerState = 'closed';
  let openUntil = 0;
  let outcomes: Outcome[] = [];
  const open = (until: number) => {
    state = 'open';
    openUntil = until;
    outcomes = [];
  };
  const record = (outcome: Outcome) => {
    outcomes.push(outcome);
    if (outcomes.length > SAMPLE) outcomes.shift();
  };
  const failures = (now: number) => outcomes.reduce((sum, { at, weight }) => sum + (now - at <= WINDOW_MS ? weight : 0), 0);
  const mayAdmit = (now: number) => state === 'closed' || (state === 'open' && now >= openUntil);
  return {
    state: () => state,
    mayAdmit,
    admits: (now) => {
      if (!mayAdmit(now)) return false;
      if (state === 'open') state = 'probing';
      return true;
    },
    succeeded: (now) => {
      if (state !== 'closed') {
        state = 'closed';
        outcomes = [];
      }
      record({ at: now, weight: 0 });
    },
    failed: (now, silent = false) => {
      if (state === 'open') return;
      record({ at: now, weight: silent ? SILENT_WEIGHT : 1 });
      if (state === 'probing' || failures(now) >= FAILURES_TO_OPEN) open(silent ? now : now + OPEN_MS);
    },
    abandoned: (now) => {
      if (state === 'probing') open(now);
    },
  };
};
