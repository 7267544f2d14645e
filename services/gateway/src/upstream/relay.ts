import { errorCode } from '@bubbles/shared/errors.ts';
import type { Dispatcher } from 'undici';
import type { RetryBudget } from '../domain/retry-budget.ts';
import { fail } from '../edge/answer.ts';
import type { Exchange } from '../edge/exchange.ts';
import type { Address } from './address.ts';
import { attempt } from './attempt.ts';

export interface RelayPlan {
  /** Best first. */
  readonly candidates: readonly Address[];
  /** Header lines for the service. */
  readonly headers: readonly string[];
  readonly body: Buffer | null;
  readonly timeoutMs: number;
  /** Header lines of ours for the client. */
  readonly answerHeaders: readonly string[];
}

const REFUSED: ReadonlySet<string | number> = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND']);
const RESET: ReadonlySet<string | number> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);
const IDEMPOTENT: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/** Nothing was sent: any request may go to another replica. */
export const wasRefused = (error: unknown): boolean => REFUSED.has(errorCode(error) ?? '');

/** Sends a request to a service and its answer to the client. Resolves when the service's part is over, whatever its end. */
export const relay = async (exchange: Exchange, plan: RelayPlan, budget: RetryBudget): Promise<void> => {
  budget.earn();
  const request = requestOf(exchange, plan);
  const { timeoutMs, answerHeaders } = plan;
  const untried = [...plan.candidates];
  let refusal: Parameters<typeof fail>[1] = 'upstream-down';
  let cause: unknown;
  let retried = false;
  for (let address = untried.shift(); address !== undefined; address = untried.shift()) {
    const closed = address.enter();
    if (closed !== null) {
      refusal = cause === undefined ? closed : refusal;
      continue;
    }
    const end = await attempt(exchange, { address, request, timeoutMs, answerHeaders });
    if (end.kind === 'over') return;
    if (end.timedOut) return fail(exchange, 'upstream-timeout', end.error);
    refusal = 'upstream-down';
    cause = end.error;
    if (wasRefused(end.error)) continue;
    if (retried || !mayRepeat(exchange, end.error) || !budget.spend()) break;
    retried = true;
    if (untried.length === 0) untried.push(address);
  }
  fail(exchange, refusal, cause);
};

const requestOf = ({ target, method }: Exchange, { headers, body }: RelayPlan): Dispatcher.DispatchOptions => ({
  path: target,
  method,
  headers: [...headers],
  body,
});

/** Something may have been sent: only what changes nothing goes again. */
const mayRepeat = ({ method }: Exchange, error: Error): boolean => IDEMPOTENT.has(method) && RESET.has(errorCode(error) ?? '');
