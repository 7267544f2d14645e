import type { CredentialCheck } from '@bubbles/contracts/internal/identity.ts';
import type { Clock } from '@bubbles/kernel/clock.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import { runInSpan } from '@bubbles/kernel/trace.ts';
import { FairQueue } from '../balancing/fair-queue.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { CheckAnswer } from './check-answers.ts';

const MAX_BATCH = 256;
const MAX_CALLS = 2;
/** The part of a batch that is kept for credentials of which nothing is known yet. */
const KEPT_FOR_UNKNOWN = 64;
/** A check that has waited longer when a call ends is not sent any more. */
const MAX_WAIT_MS = 2000;
/** A call that is unanswered for so long is asked of another replica too, if this one answers nobody. */
const HEDGE_AFTER_MS = 300;

/** How a check waits among others. */
interface CheckTurn {
  /** The name under which it takes turns. */
  readonly caller: string;
  /** The credential was good a short time ago: its checks go before those that may be garbage. */
  readonly known: boolean;
  readonly request: CheckedRequest;
}

/** The request whose credential is checked. A batch continues the trace of its first request; the others log that trace id. */
export type CheckedRequest = Pick<Exchange, 'requestId' | 'span' | 'checkedInTrace'>;

/** A call in flight. */
interface SentChecks {
  /** In the order of the checks. */
  readonly answers: Promise<readonly CheckAnswer[]>;
  /** The address has answered nobody since. */
  isSilent(): boolean;
}

interface CheckBatcherOptions {
  /** Makes one call; throws when none may be made. */
  readonly send: (checks: readonly CredentialCheck[]) => SentChecks;
  readonly perCall: { observe(size: number): void };
  readonly clock: Clock;
  /** Calls back when all that has come is there: what comes in one turn of the event loop goes together. */
  readonly atEndOfTurn: (act: () => void) => void;
}

interface Waiting {
  readonly check: CredentialCheck;
  readonly since: number;
  readonly request: CheckedRequest;
  onSilence(): void;
  resolve(answer: CheckAnswer): void;
  reject(error: unknown): void;
}

export class CheckWaitedTooLong extends DomainError {
  constructor() {
    super('unavailable', 'Too many credentials wait to be checked.');
  }
}

/**
 * Asks one address of identity about credentials, many in one call. It sends at the end of the turn when no call is in flight; else what comes meanwhile
 * goes with the next call, or on a second one when it fills one. Callers take turns, and known credentials go first, up to what is kept for the others.
 */
export class CheckBatcher {
  readonly #options: CheckBatcherOptions;
  readonly #known = new FairQueue<Waiting>();
  readonly #unknown = new FairQueue<Waiting>();
  #calls = 0;
  #isFlushDue = false;

  constructor(options: CheckBatcherOptions) {
    this.#options = options;
  }

  /** Rejects when the call that carried it failed; the other calls are not touched. `onSilence` is called when it may have to wait in vain. */
  submit(check: CredentialCheck, { caller, known, request }: CheckTurn, onSilence: () => void): Promise<CheckAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<CheckAnswer>();
    const since = this.#options.clock.monotonic();
    (known ? this.#known : this.#unknown).push(caller, { check, since, request, onSilence, resolve, reject });
    this.#flushSoon();
    return promise;
  }

  #flushSoon(): void {
    if (this.#isFlushDue) return;
    this.#isFlushDue = true;
    this.#options.atEndOfTurn(this.#flush);
  }

  readonly #flush = (): void => {
    this.#isFlushDue = false;
    for (let size = this.#known.size + this.#unknown.size; size > 0; size = this.#known.size + this.#unknown.size) {
      if (this.#calls > 0 && (this.#calls >= MAX_CALLS || size < MAX_BATCH)) return;
      const batch: Waiting[] = [];
      this.#take(batch, this.#known, MAX_BATCH - Math.min(KEPT_FOR_UNKNOWN, this.#unknown.size));
      this.#take(batch, this.#unknown, MAX_BATCH);
      this.#take(batch, this.#known, MAX_BATCH);
      if (batch.length === 0) return;
      this.#calls += 1;
      this.#options.perCall.observe(batch.length);
      void this.#carry(batch);
    }
  };

  #take(batch: Waiting[], from: FairQueue<Waiting>, most: number): void {
    while (batch.length < most) {
      const next = from.shift();
      if (next === null) return;
      if (this.#options.clock.monotonic() - next.since > MAX_WAIT_MS) next.reject(new CheckWaitedTooLong());
      else batch.push(next);
    }
  }

  async #carry(batch: readonly Waiting[]): Promise<void> {
    let hedge: NodeJS.Timeout | undefined;
    try {
      const { answers, isSilent } = inTraceOfFirst(batch, () => this.#options.send(batch.map(({ check }) => check)));
      hedge = setTimeout(() => this.#lookForSilence(batch, isSilent), HEDGE_AFTER_MS);
      deliver(batch, await answers);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      clearTimeout(hedge);
      this.#calls -= 1;
      this.#flushSoon();
    }
  }

  /** Answers that lie in the socket already are read first: an event loop that is late makes nobody silent. */
  #lookForSilence(batch: readonly Waiting[], isSilent: () => boolean): void {
    setImmediate(() => {
      if (!isSilent()) return;
      for (const { onSilence } of batch) onSilence();
      for (const queue of [this.#known, this.#unknown]) queue.each(({ onSilence }) => onSilence());
    });
  }
}

const inTraceOfFirst = <T>([first, ...others]: readonly Waiting[], work: () => T): T => {
  if (first === undefined) return work();
  const { span, requestId } = first.request;
  for (const { request } of others) request.checkedInTrace = span.traceId;
  return runInSpan(span, work, { requestId });
};

/** An answer in the wrong place would hand one caller's identity to another: either all are where they belong, or none counts. */
const deliver = (batch: readonly Waiting[], answers: readonly CheckAnswer[]): void => {
  const outOfStep = () => new DomainError('internal', 'The answers do not belong to the checks.');
  if (answers.length !== batch.length) throw outOfStep();
  for (const [index, { check }] of batch.entries()) if (answers[index]?.h !== check.h) throw outOfStep();
  for (const [index, answer] of answers.entries()) batch[index]?.resolve(answer);
};
