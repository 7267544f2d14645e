import type { Clock } from '@bubbles/kernel/clock.ts';
import { errorCode } from '@bubbles/kernel/errors.ts';
import { Pool } from 'undici';
import { CircuitBreaker } from '../balancing/circuit-breaker.ts';
import { FairQueue } from '../balancing/fair-queue.ts';

export interface PoolLimits {
  /** Requests of each kind that are in flight to one address. */
  readonly places: number;
  /** How long a request of a burst may wait for a connection. */
  readonly placeWaitMs: number;
  readonly connectTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
}

export const POOL_LIMITS: PoolLimits = { places: 64, placeWaitMs: 5000, connectTimeoutMs: 1000, keepAliveTimeoutMs: 20_000 };

/**
 * How a call of an address ended. A refused or cut one failed at once, because nobody is there; an unreadable one was answered.
 * An abandoned one has no result: its client left, or it could not be sent. A silent one was left for another replica before its time limit.
 */
export type CallResult = 'answered' | 'unreadable' | 'failed' | 'timed-out' | 'silent' | 'refused' | 'cut' | 'abandoned';

const REFUSED: ReadonlySet<string | number> = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND']);
const RESET: ReadonlySet<string | number> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);
const UNREADABLE: ReadonlySet<string | number> = new Set([
  'UND_ERR_HEADERS_OVERFLOW',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
  'UND_ERR_RES_EXCEEDED_MAX_SIZE',
]);
/** Its errors have no code. */
const PARSER_ERROR = 'HTTPParserError';
const UNSENDABLE: ReadonlySet<string | number> = new Set(['UND_ERR_INVALID_ARG', 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH']);

export type CallFailure = Exclude<CallResult, 'answered' | 'timed-out' | 'silent'>;

/** `refused`: nothing was sent, so that any request may go to another replica. `cut`: something may have been sent. */
export const failureOf = (error: unknown): CallFailure => {
  const code = errorCode(error) ?? '';
  if (REFUSED.has(code)) return 'refused';
  if (UNREADABLE.has(code) || (Error.isError(error) && error.name === PARSER_ERROR)) return 'unreadable';
  if (UNSENDABLE.has(code)) return 'abandoned';
  if (!RESET.has(code)) return 'failed';
  // A stopping server resets connections it has not accepted yet, some of them before the client knows that it was connected.
  return Error.isError(error) && 'syscall' in error && error.syscall === 'connect' ? 'refused' : 'cut';
};

/** `long`: the route may take longer than others, such as a download. Those who take their time there take no place of the usual requests. */
export type PlaceKind = 'usual' | 'long';

/** Tells when the client of a waiting request has left. */
interface Leaving {
  once(event: 'close', listener: () => void): unknown;
  off(event: 'close', listener: () => void): unknown;
}

interface Entry {
  /** The name under which it takes turns. */
  readonly caller: string;
  readonly leaving: Leaving;
  readonly kind: PlaceKind;
  readonly bypassesBreaker: boolean;
}

/** How long a replica that was silent is asked after the others, unless it answers anybody before: the poll of its fragment comes sooner. */
const AVOIDED_MS = 12_000;

/** A call of an address in flight. */
export interface Call {
  /** The replica has answered nobody since the call began; from then on others are preferred for a while. */
  isSilent(): boolean;
  /** Once. */
  end(result: CallResult): void;
}

/** One replica of a service: its connections, its circuit breaker, its bulkheads. */
export class Address {
  readonly origin: string;
  readonly pool: Pool;
  readonly breaker = new CircuitBreaker();
  /** How the last call of it ended. */
  lastResult: CallResult = 'answered';
  readonly #bulkheads: Readonly<Record<PlaceKind, Bulkhead>>;
  readonly #clock: Clock;
  readonly #whenClosed: (() => void)[] = [];
  #answeredAt = Number.NEGATIVE_INFINITY;
  #avoidedUntil = Number.NEGATIVE_INFINITY;

  constructor(origin: string, clock: Clock, limits: PoolLimits) {
    this.origin = origin;
    this.pool = openPool(origin, limits);
    this.#clock = clock;
    const bulkhead = () => new Bulkhead(limits.places, limits.placeWaitMs, clock);
    this.#bulkheads = { usual: bulkhead(), long: bulkhead() };
  }

  /** Requests in flight or waiting. */
  demand(kind: PlaceKind): number {
    return this.#bulkheads[kind].demand();
  }

  /** Would its breaker let a request pass now? */
  isReady(): boolean {
    return this.breaker.isReady(this.#clock.monotonic());
  }

  /** A call of it waited in vain a moment ago. */
  wasSilent(): boolean {
    return this.#clock.monotonic() < this.#avoidedUntil;
  }

  /** A request's call, when it is the caller's turn; or why there is none. */
  async enter({ caller, leaving, kind, bypassesBreaker }: Entry): Promise<Call | 'breaker' | 'overload'> {
    if (!bypassesBreaker && !this.isReady()) return 'breaker';
    const bulkhead = this.#bulkheads[kind];
    const taken = bulkhead.take(caller, leaving);
    if (taken !== true && !(await taken)) return 'overload';
    const call = this.begin(bypassesBreaker, () => bulkhead.release(caller));
    if (call === null) bulkhead.release(caller);
    return call ?? 'breaker';
  }

  /** A call outside of the bulkheads, which may be the breaker's probe; null when the breaker is open. */
  begin(bypassesBreaker: boolean, onEnd?: () => void): Call | null {
    const now = this.#clock.monotonic();
    if (!this.breaker.tryPass(now) && !bypassesBreaker) return null;
    const isSilent = (): boolean => {
      if (this.#answeredAt >= now) return false;
      this.#avoidedUntil = this.#clock.monotonic() + AVOIDED_MS;
      return true;
    };
    const end = (result: CallResult): void => {
      this.record(result, result === 'timed-out' && isSilent());
      onEnd?.();
    };
    return { isSilent, end };
  }

  /** `silent`: the time limit of a call passed, and nobody else had an answer meanwhile. */
  record(result: CallResult, silent = false): void {
    const now = this.#clock.monotonic();
    if (result !== 'abandoned') this.lastResult = result;
    // A client may bring about an unreadable answer, and must not open the breaker for everybody by it.
    if (result === 'answered' || result === 'unreadable') {
      this.#answeredAt = now;
      this.#avoidedUntil = Number.NEGATIVE_INFINITY;
      this.breaker.succeeded(now);
    } else if (result === 'abandoned' || result === 'silent') {
      // Slow answers at a quiet time are silence too: others are asked first, and nobody is locked out.
      this.breaker.abandoned(now);
    } else this.breaker.failed(now, silent);
  }

  close(): Promise<void> {
    for (const leave of this.#whenClosed.splice(0)) leave();
    return this.pool.destroy();
  }

  /** For what others keep of it. */
  whenClosed(leave: () => void): void {
    this.#whenClosed.push(leave);
  }
}

const openPool = (origin: string, limits: PoolLimits): Pool =>
  new Pool(origin, {
    // The usual and the long places have one connection each.
    connections: 2 * limits.places,
    // An answer may repeat what the client has sent, encoded: more than the 16 KiB that a request's head may have.
    maxHeaderSize: 64 * 1024,
    pipelining: 1,
    allowH2: false,
    connect: { timeout: limits.connectTimeoutMs },
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    // The relay has its own timers, since these are suspended under back-pressure: https://github.com/nodejs/undici/issues/5393
    headersTimeout: 0,
    bodyTimeout: 0,
  });

/** A queue that was not empty for so long is no burst, but more than can be served. */
const STANDING_MS = 3000;
/** The longest wait behind such a queue, so that what is served is served soon. */
const STANDING_WAIT_MS = 200;

interface Waiting {
  readonly caller: string;
  admit(): void;
}

/** The requests of one kind in flight to one address. A caller holds at most as many places as are left free: one alone has half, and the next finds some. */
class Bulkhead {
  readonly #places: number;
  /** The longest that a request of a burst waits. */
  readonly #burstWaitMs: number;
  readonly #clock: Clock;
  readonly #held = new Map<string, number>();
  readonly #queue = new FairQueue<Waiting>();
  #taken = 0;
  #standingSince = 0;

  constructor(places: number, burstWaitMs: number, clock: Clock) {
    this.#places = places;
    this.#burstWaitMs = burstWaitMs;
    this.#clock = clock;
  }

  /** Places that are taken or waited for. */
  demand(): number {
    return this.#taken + this.#queue.size;
  }

  /** True with a place taken; false when none came free in time, or the caller left. */
  take(caller: string, leaving: Leaving): true | Promise<boolean> {
    const held = this.#held.get(caller) ?? 0;
    if (held >= this.#places - this.#taken) return this.#wait(caller, leaving);
    this.#held.set(caller, held + 1);
    this.#taken += 1;
    return true;
  }

  release(caller: string): void {
    const rest = (this.#held.get(caller) ?? 0) - 1;
    this.#taken -= 1;
    if (rest > 0) this.#held.set(caller, rest);
    else this.#held.delete(caller);
    if (this.#queue.size > 0) this.#admitWaiting();
  }

  #admitWaiting(): void {
    const mayTake = (caller: string): boolean => (this.#held.get(caller) ?? 0) < this.#places - this.#taken;
    while (this.#taken < this.#places) {
      const next = this.#queue.shift(mayTake);
      if (next === null) return;
      this.#held.set(next.caller, (this.#held.get(next.caller) ?? 0) + 1);
      this.#taken += 1;
      next.admit();
    }
  }

  #wait(caller: string, leaving: Leaving): Promise<boolean> {
    const now = this.#clock.monotonic();
    if (this.#queue.size === 0) this.#standingSince = now;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const end = (admitted: boolean) => {
      clearTimeout(timer);
      leaving.off('close', giveUp);
      resolve(admitted);
    };
    const giveUp = () => {
      this.#queue.remove(caller, waiting);
      end(false);
    };
    const waiting: Waiting = { caller, admit: () => end(true) };
    const timer = setTimeout(giveUp, now - this.#standingSince > STANDING_MS ? STANDING_WAIT_MS : this.#burstWaitMs);
    leaving.once('close', giveUp);
    this.#queue.push(caller, waiting);
    return promise;
  }
}

/**
 * Bypass open breakers when no replica is ready, for one that failed by refusing connections, since another refusal takes no time.
 * One that cuts connections is bypassed only when there are others.
 */
export const bypassesBreaker = (candidates: readonly Address[], { lastResult }: Address): boolean => {
  const fastFailures: readonly CallResult[] = candidates.length > 1 ? ['refused', 'cut'] : ['refused'];
  return fastFailures.includes(lastResult) && !candidates.some((candidate) => candidate.isReady());
};
