const SAMPLE = 20;
const FAILURES_TO_OPEN = SAMPLE / 2;
const WINDOW_MS = 10_000;
const OPEN_MS = 2_000;

export type BreakerState = 'closed' | 'open' | 'probing';

/** Guards one address. Only transport failures count against it; an answer of any status speaks for it. Times are monotonic milliseconds. */
export interface Breaker {
  state(): BreakerState;
  /** May a request go there now? One that finds the pause over is the probe, and its outcome decides. */
  admits(now: number): boolean;
  /** Would `admits` say yes? Takes no probe. */
  mayAdmit(now: number): boolean;
  succeeded(now: number): void;
  failed(now: number): void;
  /** The probe ended without an outcome (its client went away). */
  abandoned(now: number): void;
}

interface Outcome {
  readonly at: number;
  readonly failed: boolean;
}

export const createBreaker = (): Breaker => {
  let state: BreakerState = 'closed';
  let openUntil = 0;
  let outcomes: Outcome[] = [];
  const open = (now: number) => {
    state = 'open';
    openUntil = now + OPEN_MS;
    outcomes = [];
  };
  const record = (outcome: Outcome) => {
    outcomes.push(outcome);
    if (outcomes.length > SAMPLE) outcomes.shift();
  };
  const failures = (now: number) => outcomes.reduce((sum, { at, failed }) => sum + (failed && now - at <= WINDOW_MS ? 1 : 0), 0);
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
      record({ at: now, failed: false });
    },
    failed: (now) => {
      if (state === 'probing') return open(now);
      if (state === 'open') return;
      record({ at: now, failed: true });
      if (failures(now) >= FAILURES_TO_OPEN) open(now);
    },
    abandoned: (now) => {
      if (state === 'probing') {
        state = 'open';
        openUntil = now;
      }
    },
  };
};
