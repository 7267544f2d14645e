import type { Clock } from '@bubbles/shared/clock.ts';
import { type Dispatcher, Pool } from 'undici';
import { type BreakerState, createBreaker } from '../domain/breaker.ts';
import { wasCut, wasRefused } from './transport-errors.ts';

export interface PoolLimits {
  readonly connections: number;
  /** Requests that may wait for a connection; undici itself would queue without end. */
  readonly queued: number;
  readonly connectTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
}

export const POOL_LIMITS: PoolLimits = { connections: 64, queued: 256, connectTimeoutMs: 1000, keepAliveTimeoutMs: 20_000 };

/** How a request to an address ended, as its breaker counts it; `gone` is a failure that shows at once, since nobody is there any more. */
export type Outcome = 'answered' | 'failed' | 'gone' | 'abandoned';

export const failureOf = (error: unknown): 'failed' | 'gone' => (wasRefused(error) || wasCut(error) ? 'gone' : 'failed');

/** One replica of a service: its connections, its breaker, its bulkhead. */
export interface Address {
  readonly origin: string;
  /** Requests on their way or waiting. */
  active(): number;
  breakerState(): BreakerState;
  /** Would it take a request now, as far as the breaker knows? */
  isReady(): boolean;
  /** Nobody was there when it was asked last. */
  hasGone(): boolean;
  /** Null and a place taken, or why not; a place is given back by `release`. Who insists is not kept away by the breaker. */
  enter(insists: boolean): 'breaker' | 'overload' | null;
  release(outcome: Outcome): void;
  /** For calls that need no place: may one be made (it may be the breaker's probe)? Its outcome is told by `record`. */
  admits(): boolean;
  record(outcome: Outcome): void;
  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void;
  close(): Promise<void>;
  /** For what others keep of it: called when it is closed. */
  whenClosed(leave: () => void): void;
}

export const openAddress = (origin: string, clock: Clock, limits: PoolLimits): Address => {
  const pool = new Pool(origin, {
    connections: limits.connections,
    pipelining: 1,
    allowH2: false,
    connect: { timeout: limits.connectTimeoutMs },
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    // The relay has its own timers: these would be suspended under back-pressure.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const breaker = createBreaker();
  let active = 0;
  let gone = false;
  const leaving: (() => void)[] = [];
  const admits = () => breaker.admits(clock.monotonic());
  const record = (outcome: Outcome) => {
    const now = clock.monotonic();
    if (outcome === 'abandoned') return breaker.abandoned(now);
    gone = outcome === 'gone';
    if (outcome === 'answered') breaker.succeeded(now);
    else breaker.failed(now);
  };
  return {
    origin,
    active: () => active,
    breakerState: () => breaker.state(),
    isReady: () => breaker.mayAdmit(clock.monotonic()),
    hasGone: () => gone,
    enter: (insists) => {
      if (active >= limits.connections + limits.queued) return 'overload';
      if (!admits() && !insists) return 'breaker';
      active += 1;
      return null;
    },
    release: (outcome) => {
      active -= 1;
      record(outcome);
    },
    admits,
    record,
    dispatch: (options, handler) => {
      pool.dispatch(options, handler);
    },
    close: () => {
      for (const leave of leaving.splice(0)) leave();
      return pool.destroy();
    },
    whenClosed: (leave) => void leaving.push(leave),
  };
};

/**
 * Who may insist: whom another replica has just refused or cut off, since one that was spared may be back; and whom no replica takes, as far as the
 * breakers know, on one that had gone, since it takes no time to be refused again.
 */
export const insistence = (candidates: readonly Address[]) => {
  const spared = candidates.length > 1 && !candidates.some((address) => address.isReady());
  return (address: Address, left: boolean): boolean => left || (spared && address.hasGone());
};
