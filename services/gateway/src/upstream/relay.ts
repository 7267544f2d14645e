import { ErrorEnvelope } from '@bubbles/contracts/access.ts';
import type { Dispatcher } from 'undici';
import type { RetryBudget } from '../balancing/circuit-breaker.ts';
import { commonHeaders, type Exchange, fail, type GatewayReason, REPLACED_CROSS_ORIGIN, REPLACED_HEADERS } from '../exchange/exchange.ts';
import type { SlowAnswer, SlowReaders } from '../exchange/slow-readers.ts';
import { forwardedResponseHeaders, type ResponseHeaders } from '../messages/header-rules.ts';
import { isObject, parsedJson } from '../messages/json.ts';
import { type Address, bypassesBreaker, type Call, type CallFailure, type CallResult, failureOf, type PlaceKind } from './address.ts';

interface RelayPlan {
  /** Best first. */
  readonly candidates: readonly Address[];
  readonly request: Dispatcher.DispatchOptions;
  /** The time that the answer may take to begin. */
  readonly timeoutMs: number;
  readonly kind: PlaceKind;
  /** Header lines of ours for the client. */
  readonly answerHeaders: readonly string[];
  /** Comes before a request goes to another replica than the first one. */
  readonly onMove: ((address: Address) => Promise<void>) | null;
  readonly onAnswer: ((head: AnswerHead) => void) | null;
  readonly readers: SlowReaders;
  readonly budget: RetryBudget;
}

/** The head of an answer, and which replica gave it. */
export interface AnswerHead {
  readonly origin: string;
  readonly status: number;
  readonly headers: ResponseHeaders;
}

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD']);
const isSafe = ({ method, operation }: Exchange): boolean => SAFE_METHODS.has(method) && operation?.isUnsafe !== true;

/** A replica that has answered nobody for so long is left for another one. */
const SILENCE_LIMIT_MS = 1000;

/** Nothing has reached the client. `silent`: nor has anybody else had an answer of the replica meanwhile. */
interface Failure {
  readonly result: CallFailure | 'timed-out' | 'silent';
  readonly error: Error;
}

/** How a request to a replica ended; `over` is answered, cut because the answer broke off, or left by its client. */
type UpstreamResult = Failure | { readonly result: 'over' };

/** Sends a request to a service and its answer to the client. Resolves when the service's part is over, whatever its end. */
export const relay = async (exchange: Exchange, plan: RelayPlan): Promise<void> => {
  const { candidates, budget } = plan;
  budget.earn();
  const untried = [...candidates];
  let mayRetry = isSafe(exchange);
  let notEntered: GatewayReason = 'upstream-down';
  let failure: Failure | null = null;
  let failed: Address | null = null;
  for (let address = untried.shift(); address !== undefined; address = untried.shift()) {
    const failedElsewhere = failed !== null && failed !== address;
    const end = await ask(exchange, plan, { address, failedElsewhere, others: untried.length > 0 });
    if (typeof end === 'string') {
      notEntered = end;
      continue;
    }
    if (end.result === 'over' || exchange.res.destroyed) return;
    [failure, failed] = [end, address];
    if (end.result === 'silent' || end.result === 'refused') continue;
    // Something may have been sent: only what changes nothing goes again, once, and never after a time limit.
    if (end.result !== 'cut' || !mayRetry || !budget.spend()) break;
    mayRetry = false;
    if (untried.length === 0) untried.push(address);
  }
  giveUp(exchange, failure, notEntered);
};

interface Turn {
  readonly address: Address;
  /** Another replica just failed this request, so that one which was skipped may be back. */
  readonly failedElsewhere: boolean;
  /** There are more replicas to be tried. */
  readonly others: boolean;
}

/** Sends the request to a replica when it is its turn there; or tells why it cannot. */
const ask = async (
  exchange: Exchange,
  plan: RelayPlan,
  { address, failedElsewhere, others }: Turn,
): Promise<GatewayReason | UpstreamResult> => {
  const { candidates, request, timeoutMs, kind } = plan;
  const bypasses = failedElsewhere || (!address.isReady() && bypassesBreaker(candidates, address));
  if (address !== candidates[0]) await plan.onMove?.(address);
  // Nobody would notice that the client has left meanwhile.
  if (exchange.res.destroyed) return OVER;
  const call = await address.enter({ caller: exchange.caller, leaving: exchange.res, kind, bypassesBreaker: bypasses });
  if (typeof call === 'string') return call;
  const { promise, resolve } = Promise.withResolvers<UpstreamResult>();
  const waitsInFull = !others || !isSafe(exchange) || timeoutMs <= SILENCE_LIMIT_MS;
  address.pool.dispatch(request, new UpstreamRequest(exchange, { plan, call, origin: address.origin, waitsInFull, resolve }));
  return promise;
};

const giveUp = (exchange: Exchange, failure: Failure | null, notEntered: GatewayReason): void => {
  const timedOut = failure?.result === 'timed-out' || failure?.result === 'silent';
  if (failure === null) fail(exchange, notEntered);
  else fail(exchange, timedOut ? 'upstream-timeout' : 'upstream-down', { cause: failure.error });
};

/** An answer of a 5xx status, held back until it is known whether it is an error of ours. */
interface HeldAnswer {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly chunks: Buffer[];
  size: number;
}

/** A service that has too much to do says so before it knows what is asked of it, so in no form of the operation's. */
const reasonIn = (headers: ResponseHeaders): GatewayReason => (headers['x-gateway-reason'] === 'overload' ? 'overload' : 'upstream-down');

const OVER: UpstreamResult = { result: 'over' };
const MAX_HELD_BYTES = 64 * 1024;

interface UpstreamRequestOptions {
  readonly plan: RelayPlan;
  readonly call: Call;
  /** Origin of the replica. */
  readonly origin: string;
  /** It waits for its whole time limit, even when the replica answers nobody. */
  readonly waitsInFull: boolean;
  readonly resolve: (end: UpstreamResult) => void;
}

/** Streams a replica's answer to the client: as fast as it comes up to a bound, then as fast as it is read. */
class UpstreamRequest implements Dispatcher.DispatchHandler {
  readonly #exchange: Exchange;
  readonly #options: UpstreamRequestOptions;
  readonly #onClose = (): void => this.#leave();
  #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | null = null;
  #settled = false;
  #result: CallResult = 'abandoned';
  #held: HeldAnswer | null = null;
  #answering = false;
  /** Length of the body by its headers; NaN when unknown. */
  #length = Number.NaN;
  /** A body that came whole, to be written together with its head. */
  #whole: Buffer | null = null;
  /** When the client reads more slowly than the service writes. */
  #slow: SlowAnswer | null = null;

  constructor(exchange: Exchange, options: UpstreamRequestOptions) {
    this.#exchange = exchange;
    this.#options = options;
    const { plan, waitsInFull } = options;
    this.#timer = waitsInFull
      ? setTimeout(() => this.#expire(), plan.timeoutMs)
      : setTimeout(() => this.#lookForSilence(), SILENCE_LIMIT_MS);
    exchange.res.on('close', this.#onClose);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#settled) this.#abort();
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: ResponseHeaders): void {
    if (status < 200 || this.#settled) return;
    clearTimeout(this.#timer);
    this.#answering = true;
    this.#length = Number(headers['content-length']);
    const { plan, origin } = this.#options;
    plan.onAnswer?.({ origin, status, headers });
    if (status >= 500 && this.#exchange.method !== 'HEAD') this.#held = { status, headers, chunks: [], size: 0 };
    else this.#writeHead(status, headers);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#settled) return;
    if (this.#held) this.#hold(this.#held, chunk);
    else if (this.#slow) this.#queue(this.#slow, chunk, controller);
    else if (chunk.length === this.#length) this.#whole = chunk;
    else if (!this.#exchange.res.write(chunk)) this.#slow = this.#options.plan.readers.queue(this.#exchange, () => this.#resume());
  }

  onResponseEnd(): void {
    this.#result = 'answered';
    if (!this.#settled) {
      this.#settle(OVER);
      if (this.#held) this.#finishHeld(this.#held);
      else if (this.#whole) this.#exchange.res.end(this.#whole.toString('latin1'), 'latin1');
      else (this.#slow ?? this.#exchange.res).end();
    }
    this.#options.call.end(this.#result);
  }

  onResponseError(_: Dispatcher.DispatchController | null, error: Error): void {
    if (!this.#settled) {
      const result = failureOf(error);
      this.#result = result;
      if (this.#exchange.res.headersSent) this.#cut();
      else this.#settle({ result, error });
    }
    this.#options.call.end(this.#result);
  }

  #writeHead(status: number, headers: ResponseHeaders): void {
    const replaced = this.#exchange.isCrossOrigin ? REPLACED_CROSS_ORIGIN : REPLACED_HEADERS;
    const lines = forwardedResponseHeaders(headers, { status, replaced });
    this.#exchange.res.writeHead(status, [...lines, ...this.#options.plan.answerHeaders, ...commonHeaders(this.#exchange)]);
  }

  #queue(slow: SlowAnswer, chunk: Buffer, controller: Dispatcher.DispatchController): void {
    slow.write(chunk);
    if (slow.isFull()) controller.pause();
  }

  #resume(): void {
    if (!this.#settled) this.#controller?.resume();
  }

  #hold(held: HeldAnswer, chunk: Buffer): void {
    held.size += chunk.length;
    if (held.size <= MAX_HELD_BYTES) held.chunks.push(chunk);
  }

  #finishHeld({ status, headers, chunks, size }: HeldAnswer): void {
    const body = Buffer.concat(chunks);
    if (size > MAX_HELD_BYTES || !this.#isError(body, headers)) fail(this.#exchange, reasonIn(headers));
    else {
      this.#writeHead(status, headers);
      this.#exchange.res.end(body);
    }
  }

  /** Is it an error in the form that the operation answers errors in? */
  #isError(body: Buffer, headers: ResponseHeaders): boolean {
    const { errorFormat } = this.#exchange;
    if (errorFormat === 'page') return String(headers['content-type']).startsWith('text/html');
    const said = parsedJson(body.toString());
    if (errorFormat === 'rfc6749') return isObject(said) && typeof said['error'] === 'string';
    return ErrorEnvelope.safeParse(said).success;
  }

  /** A short answer must not pass for a whole one: an HTTP/1.0 client can tell by a reset only. */
  #cut(): void {
    const { req, res } = this.#exchange;
    this.#settle(OVER);
    if (req.httpVersion === '1.0') res.socket?.resetAndDestroy();
    res.destroy();
  }

  /** Answers that lie in the socket already are read first. */
  #lookForSilence(): void {
    this.#timer = setTimeout(() => this.#expire(), this.#options.plan.timeoutMs - SILENCE_LIMIT_MS);
    setImmediate(() => {
      if (!this.#settled && !this.#answering && this.#options.call.isSilent()) this.#giveUp('silent');
    });
  }

  #expire(): void {
    this.#giveUp('timed-out');
  }

  #giveUp(result: 'timed-out' | 'silent'): void {
    this.#result = result;
    this.#settle({ result, error: new Error('The service did not begin to answer in time.') });
    this.#abort();
  }

  /** The client left, or the answer was finished by somebody else. */
  #leave(): void {
    this.#settle(OVER);
    this.#abort();
  }

  /** While it waits for a connection there is nothing to abort yet: `onRequestStart` does it then. */
  #abort(): void {
    this.#controller?.abort(new Error('The exchange is over.'));
  }

  #settle(end: UpstreamResult): void {
    this.#settled = true;
    clearTimeout(this.#timer);
    this.#exchange.res.off('close', this.#onClose);
    this.#options.resolve(end);
  }
}
