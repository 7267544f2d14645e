import type { Dispatcher } from 'undici';
import type { RetryBudget } from '../domain/retry-budget.ts';
import { fail } from '../edge/answer.ts';
import type { Exchange, GatewayReason } from '../edge/exchange.ts';
import { type Address, insistence } from './address.ts';
import { type AttemptEnd, attempt } from './attempt.ts';
import { wasCut, wasRefused } from './transport-errors.ts';

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

const IDEMPOTENT: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/** Sends a request to a service and its answer to the client. Resolves when the service's part is over, whatever its end. */
export const relay = async (exchange: Exchange, plan: RelayPlan, budget: RetryBudget): Promise<void> => {
  budget.earn();
  const { timeoutMs, answerHeaders } = plan;
  const request = requestOf(exchange, plan);
  const untried = [...plan.candidates];
  const insists = insistence(plan.candidates);
  const repeats = { left: IDEMPOTENT.has(exchange.method) ? 1 : 0 };
  let closed: GatewayReason = 'upstream-down';
  let failure: Failure | null = null;
  let failed: Address | null = null;
  for (let address = untried.shift(); address !== undefined; address = untried.shift()) {
    const refusal = address.enter(insists(address, failed !== null && failed !== address));
    if (refusal !== null) {
      closed = refusal;
      continue;
    }
    const end = await attempt(exchange, { address, request, timeoutMs, answerHeaders });
    if (end.kind === 'over') return;
    failure = end;
    failed = address;
    if (exchange.res.destroyed) return;
    if (wasRefused(end.error)) continue;
    if (!mayRepeat(end, repeats, budget)) break;
    if (untried.length === 0) untried.push(address);
  }
  giveUp(exchange, failure, closed);
};

type Failure = Extract<AttemptEnd, { readonly kind: 'failed' }>;

const giveUp = (exchange: Exchange, failure: Failure | null, closed: GatewayReason): void => {
  if (failure === null) fail(exchange, closed);
  else fail(exchange, failure.timedOut ? 'upstream-timeout' : 'upstream-down', failure.error);
};

/** Something may have been sent: only what changes nothing goes again, once, and never after a time limit. */
const mayRepeat = ({ timedOut, error }: Failure, repeats: { left: number }, budget: RetryBudget): boolean => {
  if (timedOut || repeats.left === 0 || !wasCut(error)) return false;
  repeats.left -= 1;
  return budget.spend();
};

const requestOf = ({ target, method }: Exchange, { headers, body }: RelayPlan): Dispatcher.DispatchOptions => ({
  path: target,
  method,
  headers: [...headers],
  body,
});
