import type { Dispatcher } from 'undici';
import type { RetryBudget } from '../balancing/retry-budget.ts';
import { fail } from '../exchange/answer.ts';
import type { Exchange, GatewayReason } from '../exchange/exchange.ts';
import type { SlowReaders } from '../exchange/slow-readers.ts';
import type { ResponseHeaders } from '../messages/header-rules.ts';
import { type Address, breakerBypass } from './address.ts';
import { type AttemptEnd, attempt } from './attempt.ts';
import { wasCut, wasRefused } from './transport-errors.ts';

export interface RelayPlan {
  /** Best first. */
  readonly candidates: readonly Address[];
  /** Under which name it takes turns with others. */
  readonly caller: string;
  /** Header lines for the service. */
  readonly headers: string[];
  readonly body: Buffer | null;
  readonly timeoutMs: number;
  /** Header lines of ours for the client. */
  readonly answerHeaders: readonly string[];
  /** Comes before a request goes to another replica than the first one. */
  readonly onMove: ((address: Address) => Promise<void>) | null;
  readonly onAnswer: ((head: AnswerHead) => void) | null;
  readonly readers: SlowReaders;
}

/** The head of an answer, and which replica gave it. */
export interface AnswerHead {
  readonly origin: string;
  readonly status: number;
  readonly headers: ResponseHeaders;
}

const IDEMPOTENT: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/** A replica that has answered nobody for so long is left for another one. */
const PATIENCE_MS = 1000;

/** Sends a request to a service and its answer to the client. Resolves when the service's part is over, whatever its end. */
export const relay = async (exchange: Exchange, plan: RelayPlan, budget: RetryBudget): Promise<void> => {
  budget.earn();
  const ask = asking(exchange, plan);
  const untried = [...plan.candidates];
  const bypasses = breakerBypass(plan.candidates);
  const repeats = { left: IDEMPOTENT.has(exchange.method) ? 1 : 0 };
  let closed: GatewayReason = 'upstream-down';
  let failure: Failure | null = null;
  let failed: Address | null = null;
  for (let address = untried.shift(); address !== undefined; address = untried.shift()) {
    const end = await ask(address, bypasses(address, failed !== null && failed !== address), untried.length > 0);
    if (typeof end === 'string') {
      closed = end;
      continue;
    }
    if (end.kind === 'over' || exchange.res.destroyed) return;
    [failure, failed] = [end, address];
    if (end.kind === 'silent' || wasRefused(end.error)) continue;
    if (!mayRepeat(end, repeats, budget)) break;
    if (untried.length === 0) untried.push(address);
  }
  giveUp(exchange, failure, closed);
};

/** Takes a place of a replica and sends the request there; or tells why there is none. */
const asking = (exchange: Exchange, plan: RelayPlan) => {
  const { timeoutMs, answerHeaders, readers, caller, onAnswer } = plan;
  const request = requestOf(exchange, plan);
  return async (address: Address, insists: boolean, others: boolean): Promise<GatewayReason | AttemptEnd> => {
    if (address !== plan.candidates[0]) await plan.onMove?.(address);
    const place = await address.enter({ caller, insists, leaving: exchange.res });
    if (typeof place === 'string') return place;
    const patienceMs = others && IDEMPOTENT.has(exchange.method) ? PATIENCE_MS : null;
    const onHead = (status: number, headers: ResponseHeaders) => onAnswer?.({ origin: address.origin, status, headers });
    return attempt(exchange, { place, request, timeoutMs, patienceMs, answerHeaders, readers, onHead });
  };
};

type Failure = Exclude<AttemptEnd, { readonly kind: 'over' }>;

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
  headers,
  body,
});
