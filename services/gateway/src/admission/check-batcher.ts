import type { CheckAnswer, CredentialCheck } from '@bubbles/contracts/internal/checks.ts';
import { DomainError } from '@bubbles/shared/errors.ts';

const MAX_BATCH = 256;
const MAX_CALLS = 2;
/** About half a second of work for one identity address. */
const MAX_WAITING = 4096;

/** Asks one identity address about credentials, many in one call. */
export interface CheckBatcher {
  /** Rejects when the call that carried it failed; the other calls are not touched. */
  submit(check: CredentialCheck): Promise<CheckAnswer>;
}

export interface CheckBatcherOptions {
  /** One call: the answers in the order of the checks. */
  readonly send: (checks: readonly CredentialCheck[]) => Promise<readonly CheckAnswer[]>;
  readonly onBatch: (size: number) => void;
}

interface Waiting {
  readonly check: CredentialCheck;
  resolve(answer: CheckAnswer): void;
  reject(error: unknown): void;
}

/** Sends at once when no call is under way; else what comes meanwhile goes together with the next, or on a second call when it fills one. */
export const checkBatcher = ({ send, onBatch }: CheckBatcherOptions): CheckBatcher => {
  let waiting: Waiting[] = [];
  let calls = 0;
  const flush = () => {
    while (waiting.length > 0 && (calls === 0 || (calls < MAX_CALLS && waiting.length >= MAX_BATCH))) {
      const batch = waiting.slice(0, MAX_BATCH);
      waiting = waiting.slice(MAX_BATCH);
      calls += 1;
      onBatch(batch.length);
      void carry(batch);
    }
  };
  const carry = async (batch: readonly Waiting[]) => {
    try {
      deliver(batch, await send(batch.map(({ check }) => check)));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      calls -= 1;
      flush();
    }
  };
  return {
    submit: (check) => {
      if (waiting.length >= MAX_WAITING) return Promise.reject(new CheckQueueFull());
      const { promise, resolve, reject } = Promise.withResolvers<CheckAnswer>();
      waiting.push({ check, resolve, reject });
      flush();
      return promise;
    },
  };
};

export class CheckQueueFull extends DomainError {
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
