import { ErrorEnvelope } from '@bubbles/contracts/access.ts';
import type { Dispatcher } from 'undici';
import { commonHeaders, fail, isOAuth } from '../exchange/answer.ts';
import { CROSS_ORIGIN_NAMES, isOpen } from '../exchange/cross-origin.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { SlowAnswer, SlowReaders } from '../exchange/slow-readers.ts';
import { forwardedResponseHeaders, type ResponseHeaders } from '../messages/header-rules.ts';
import { isObject, parsedJson } from '../messages/json.ts';
import { failureOf, type Outcome, type Place } from './address.ts';

/** How an attempt ended, for the one who decides what comes next. */
export type AttemptEnd =
  /** The exchange is over: answered, cut because the answer broke off, or left by its client. */
  | { readonly kind: 'over' }
  /** Nothing has reached the client. */
  | { readonly kind: 'failed'; readonly error: Error; readonly timedOut: boolean }
  /** Nor has anybody else heard of the replica meanwhile. */
  | { readonly kind: 'silent'; readonly error: Error; readonly timedOut: true };

export interface AttemptOptions {
  readonly place: Place;
  readonly request: Dispatcher.DispatchOptions;
  /** The time that the answer may take to begin. */
  readonly timeoutMs: number;
  /** After which the attempt ends if the replica is silent altogether; null when there is no other that could be asked. */
  readonly patienceMs: number | null;
  /** Header lines of ours for the client. */
  readonly answerHeaders: readonly string[];
  readonly onHead: (status: number, headers: ResponseHeaders) => void;
  readonly readers: SlowReaders;
}

/** Sends a request to the replica where a place has been taken, and streams the answer to the client: as fast as it comes up to a bound, then as fast as it is read. */
export const attempt = (exchange: Exchange, options: AttemptOptions): Promise<AttemptEnd> => {
  const { promise, resolve } = Promise.withResolvers<AttemptEnd>();
  options.place.dispatch(options.request, new Attempt(exchange, options, resolve));
  return promise;
};

/** Held back until it is known whether an answer of a 5xx status speaks our language. */
interface HeldAnswer {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly chunks: Buffer[];
  size: number;
}

const MAX_HELD_BYTES = 64 * 1024;
const OVER: AttemptEnd = { kind: 'over' };
const ALWAYS_REPLACED: ReadonlySet<string> = new Set(['x-content-type-options']);
const OPEN_REPLACED: ReadonlySet<string> = new Set([...ALWAYS_REPLACED, ...CROSS_ORIGIN_NAMES]);

class Attempt implements Dispatcher.DispatchHandler {
  readonly #exchange: Exchange;
  readonly #options: AttemptOptions;
  readonly #resolve: (end: AttemptEnd) => void;
  #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | null = null;
  #settled = false;
  #outcome: Outcome = 'abandoned';
  #held: HeldAnswer | null = null;
  #answering = false;
  /** Of the body, as its head says; NaN when it does not. */
  #length = Number.NaN;
  /** A body that came whole, to be written together with its head. */
  #whole: Buffer | null = null;
  /** When the client reads more slowly than the service writes. */
  #slow: SlowAnswer | null = null;

  constructor(exchange: Exchange, options: AttemptOptions, resolve: (end: AttemptEnd) => void) {
    this.#exchange = exchange;
    this.#options = options;
    this.#resolve = resolve;
    const { timeoutMs, patienceMs } = options;
    this.#timer =
      patienceMs !== null && patienceMs < timeoutMs ? setTimeout(this.#askPatience, patienceMs) : setTimeout(this.#expire, timeoutMs);
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
    this.#options.onHead(status, headers);
    if (status >= 500 && this.#exchange.method !== 'HEAD') this.#held = { status, headers, chunks: [], size: 0 };
    else this.#writeHead(status, headers);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#settled) return;
    if (this.#held) this.#hold(this.#held, chunk);
    else if (this.#slow) this.#queue(this.#slow, chunk, controller);
    else if (chunk.length === this.#length) this.#whole = chunk;
    else if (!this.#exchange.res.write(chunk)) this.#slow = this.#options.readers.queue(this.#exchange, this.#onRoom);
  }

  onResponseEnd(): void {
    this.#outcome = 'answered';
    if (!this.#settled) {
      this.#settle(OVER);
      if (this.#held) this.#finishHeld(this.#held);
      else if (this.#whole) this.#exchange.res.end(this.#whole.toString('latin1'), 'latin1');
      else (this.#slow ?? this.#exchange.res).end();
    }
    this.#options.place.release(this.#outcome);
  }

  onResponseError(_: Dispatcher.DispatchController | null, error: Error): void {
    if (!this.#settled) {
      this.#outcome = failureOf(error);
      if (this.#exchange.res.headersSent) this.#cut();
      else this.#settle({ kind: 'failed', error, timedOut: false });
    }
    this.#options.place.release(this.#outcome);
  }

  #writeHead(status: number, headers: ResponseHeaders): void {
    const replaced = isOpen(this.#exchange.path) ? OPEN_REPLACED : ALWAYS_REPLACED;
    const lines = forwardedResponseHeaders(headers, { status, replaced });
    this.#exchange.res.writeHead(status, [...lines, ...this.#options.answerHeaders, ...commonHeaders(this.#exchange)]);
  }

  #queue(slow: SlowAnswer, chunk: Buffer, controller: Dispatcher.DispatchController): void {
    slow.write(chunk);
    if (slow.isFull()) controller.pause();
  }

  #hold(held: HeldAnswer, chunk: Buffer): void {
    held.size += chunk.length;
    if (held.size <= MAX_HELD_BYTES) held.chunks.push(chunk);
  }

  #finishHeld({ status, headers, chunks, size }: HeldAnswer): void {
    const body = Buffer.concat(chunks);
    if (size > MAX_HELD_BYTES || !this.#speaksOurLanguage(body)) {
      fail(this.#exchange, 'upstream-down');
      return;
    }
    this.#writeHead(status, headers);
    this.#exchange.res.end(body);
  }

  #speaksOurLanguage(body: Buffer): boolean {
    const said = parsedJson(body.toString());
    if (isOAuth(this.#exchange)) return isObject(said) && typeof said['error'] === 'string';
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
  readonly #askPatience = (): void => {
    const { timeoutMs, patienceMs } = this.#options;
    this.#timer = setTimeout(this.#expire, timeoutMs - (patienceMs ?? 0));
    setImmediate(() => {
      if (!this.#settled && !this.#answering && this.#options.place.isSilent()) this.#giveUp('silent');
    });
  };

  readonly #expire = (): void => this.#giveUp('failed');

  #giveUp(kind: 'failed' | 'silent'): void {
    this.#outcome = 'timed-out';
    this.#settle({ kind, error: new Error('The service did not begin to answer in time.'), timedOut: true });
    this.#abort();
  }

  /** The client left, or the answer was finished by somebody else. */
  readonly #onClose = (): void => {
    this.#settle(OVER);
    this.#abort();
  };

  readonly #onRoom = (): void => {
    if (!this.#settled) this.#controller?.resume();
  };

  /** While it waits for a connection there is nothing to abort yet: `onRequestStart` does it then. */
  #abort(): void {
    this.#controller?.abort(new Error('The exchange is over.'));
  }

  #settle(end: AttemptEnd): void {
    this.#settled = true;
    clearTimeout(this.#timer);
    this.#exchange.res.off('close', this.#onClose);
    this.#resolve(end);
  }
}
