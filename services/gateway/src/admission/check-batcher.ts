import type { CheckAnswer, CredentialCheck } from '@bubbles/contracts/internal/checks.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import { createFairQueue } from '../balancing/fair-queue.ts';

const MAX_BATCH = 256;
const MAX_CALLS = 2;
/** The part of a batch that is kept for credentials of which nothing is known yet. */
const KEPT_FOR_UNKNOWN = 64;
/** A check that has waited longer when a call ends is not sent any more. */
const MAX_WAIT_MS = 2000;
/** A call that is unanswered for so long is asked of another replica too, if this one answers nobody. */
const PATIENCE_MS = 300;

/** Who asks, and how a check waits among others. */
export interface CheckTurn {
  /** The name under which it takes turns. */
  readonly caller: string;
  /** The credential was good a short time ago: its checks go before those that may be garbage. */
  readonly known: boolean;
}

/** Asks one identity address about credentials, many in one call. */
export interface CheckBatcher {
  /** Rejects when the call that carried it failed; the other calls are not touched. `onSilence` is called when it may have to wait in vain. */
  submit(check: CredentialCheck, turn: CheckTurn, onSilence: () => void): Promise<CheckAnswer>;
}

/** A call on its way. */
export interface SentChecks {
  /** In the order of the checks. */
  readonly answers: Promise<readonly CheckAnswer[]>;
  /** The address has answered nobody since. */
  isSilent(): boolean;
}

export interface CheckBatcherOptions {
  /** Makes one call; throws when none may be made. */
  readonly send: (checks: readonly CredentialCheck[]) => SentChecks;
  readonly onBatch: (size: number) => void;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Calls back when all that has come is there: what comes in one turn of the event loop goes together. */
  readonly atEndOfTurn: (act: () => void) => void;
}

interface Waiting {
  readonly check: CredentialCheck;
  readonly since: number;
  onSilence(): void;
  resolve(answer: CheckAnswer): void;
  reject(error: unknown): void;
}

/** Sends at the end of the turn when no call is under way; else what comes meanwhile goes together with the next, or on a second call when it fills one. */
export const checkBatcher = ({ send, onBatch, now, atEndOfTurn }: CheckBatcherOptions): CheckBatcher => {
  const line = checkLine(now);
  let calls = 0;
  let isFlushDue = false;
  const flushSoon = () => {
    if (isFlushDue) return;
    isFlushDue = true;
    atEndOfTurn(flush);
  };
  const flush = () => {
    isFlushDue = false;
    while (line.size() > 0 && (calls === 0 || (calls < MAX_CALLS && line.size() >= MAX_BATCH))) {
      const batch = line.next();
      if (batch.length === 0) return;
      calls += 1;
      onBatch(batch.length);
      void carry(batch);
    }
  };
  const carry = async (batch: readonly Waiting[]) => {
    let patience: NodeJS.Timeout | undefined;
    try {
      const { answers, isSilent } = send(batch.map(({ check }) => check));
      patience = setTimeout(lookForSilence, PATIENCE_MS, batch, isSilent);
      deliver(batch, await answers);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      clearTimeout(patience);
      calls -= 1;
      flushSoon();
    }
  };
  /** Answers that lie in the socket already are read first: an event loop that is late makes nobody silent. */
  const lookForSilence = (batch: readonly Waiting[], isSilent: () => boolean) => {
    setImmediate(() => {
      if (!isSilent()) return;
      for (const { onSilence } of batch) onSilence();
      line.each(({ onSilence }) => onSilence());
    });
  };
  return {
    submit: (check, turn, onSilence) => {
      const { promise, resolve, reject } = Promise.withResolvers<CheckAnswer>();
      line.add({ check, since: now(), onSilence, resolve, reject }, turn);
      flushSoon();
      return promise;
    },
  };
};

/** Those that wait to be sent: callers take turns, and credentials that are known go first, up to what is kept for the others. */
const checkLine = (now: () => number) => {
  const [known, unknown] = [createFairQueue<Waiting>(), createFairQueue<Waiting>()];
  const take = (batch: Waiting[], from: typeof known, most: number) => {
    while (batch.length < most) {
      const next = from.shift();
      if (next === null) return;
      if (now() - next.since > MAX_WAIT_MS) next.reject(new CheckWaitedTooLong());
      else batch.push(next);
    }
  };
  return {
    size: () => known.size() + unknown.size(),
    add: (waiting: Waiting, turn: CheckTurn) => (turn.known ? known : unknown).push(turn.caller, waiting),
    next: (): readonly Waiting[] => {
      const batch: Waiting[] = [];
      take(batch, known, MAX_BATCH - Math.min(KEPT_FOR_UNKNOWN, unknown.size()));
      take(batch, unknown, MAX_BATCH);
      take(batch, known, MAX_BATCH);
      return batch;
    },
    each: (act: (waiting: Waiting) => void) => {
      known.each(act);
      unknown.each(act);
    },
  };
};

export class CheckWaitedTooLong extends DomainError {
  constructor() {
    super('unavailable', 'Too many credentials wait to be checked.');
  }
}

/** An answer in the wrong place would hand one caller's identity to another: either all are where they belong, or none counts. */
const deliver = (batch: readonly Waiting[], answers: readonly CheckAnswer[]): void => {
  const inStep = answers.length === batch.length && batch.every(({ check }, index) => answers[index]?.h === check.h);
  if (!inStep) throw new DomainError('internal', 'The answers do not belong to the checks.');
  batch.forEach(({ resolve }, index) => {
    const answer = answers[index];
    if (answer !== undefined) resolve(answer);
  });
};
