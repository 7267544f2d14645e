import type { Clock } from '@bubbles/kernel/clock.ts';
import { type Dispatcher, Pool } from 'undici';
import { type BreakerState, createBreaker } from '../balancing/circuit-breaker.ts';
import { createPlaces, type Leaving } from './places.ts';
import { wasCut, wasRefused } from './transport-errors.ts';

export interface PoolLimits {
  readonly connections: number;
  /** How long a request of a burst may wait for a connection. */
  readonly placeWaitMs: number;
  readonly connectTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
}

export const POOL_LIMITS: PoolLimits = { connections: 64, placeWaitMs: 5000, connectTimeoutMs: 1000, keepAliveTimeoutMs: 20_000 };

/** How a request to an address ended, as its breaker counts it. One that was refused or cut failed at once, since nobody is there any more. */
export type Outcome = 'answered' | 'failed' | 'timed-out' | 'refused' | 'cut' | 'abandoned';

export const failureOf = (error: unknown): 'failed' | 'refused' | 'cut' => {
  if (wasRefused(error)) return 'refused';
  return wasCut(error) ? 'cut' : 'failed';
};

/** A request's share of a replica. */
export interface Place {
  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void;
  /** The replica has answered nobody since the place was taken; from then on others are preferred for a while. */
  isSilent(): boolean;
  /** Once. */
  release(outcome: Outcome): void;
}

/** Who asks for a place. */
export interface Entry {
  /** Under which name it takes turns. */
  readonly caller: string;
  readonly leaving: Leaving;
  /** Who insists is not kept away by the breaker. */
  readonly insists: boolean;
}

/** One replica of a service: its connections, its breaker, its bulkhead. */
export interface Address {
  readonly origin: string;
  /** Requests on their way or waiting. */
  demand(): number;
  breakerState(): BreakerState;
  /** Would it take a request now, as far as the breaker knows? */
  isReady(): boolean;
  /** It let somebody wait in vain a moment ago. */
  wasSilent(): boolean;
  /** How the last request to it ended. */
  lastOutcome(): Outcome;
  /** A place, when it is the caller's turn; or why there is none. */
  enter(entry: Entry): Place | 'breaker' | Promise<Place | 'breaker' | 'overload'>;
  /** For calls that need no place: may one be made (it may be the breaker's probe)? */
  admits(insists: boolean): boolean;
  /** Such a call begins. */
  begin(): Call;
  /** What was learnt of it otherwise. */
  record(outcome: Outcome): void;
  close(): Promise<void>;
  /** For what others keep of it: called when it is closed. */
  whenClosed(leave: () => void): void;
}

/** A call that is on its way, and how it ends. */
export type Call = Pick<Place, 'isSilent'> & { end(outcome: Outcome): void };

/** How long a replica that was silent is asked after the others, unless it answers anybody before: the poll of its fragment comes sooner. */
const AVOIDED_MS = 12_000;

export const openAddress = (origin: string, clock: Clock, limits: PoolLimits): Address => {
  const now = () => clock.monotonic();
  const pool = openPool(origin, limits);
  const health = replicaHealth(now);
  const places = createPlaces({ places: limits.connections, burstWaitMs: limits.placeWaitMs, now });
  const leaving: (() => void)[] = [];
  const take = (caller: string): Place => {
    const { isSilent, end } = health.begin();
    return {
      isSilent,
      dispatch: (options, handler) => void pool.dispatch(options, handler),
      release: (outcome) => {
        end(outcome);
        places.giveBack(caller);
      },
    };
  };
  return {
    ...health,
    origin,
    demand: () => places.demand(),
    enter: ({ caller, leaving, insists }) => {
      if (!insists && !health.isReady()) return 'breaker';
      const admitted = () => {
        if (health.admits(insists)) return take(caller);
        places.giveBack(caller);
        return 'breaker';
      };
      const taken = places.take(caller, leaving);
      return taken === true ? admitted() : taken.then((free) => (free ? admitted() : 'overload'));
    },
    close: () => {
      for (const leave of leaving.splice(0)) leave();
      return pool.destroy();
    },
    whenClosed: (leave) => void leaving.push(leave),
  };
};

const openPool = (origin: string, limits: PoolLimits): Pool =>
  new Pool(origin, {
    connections: limits.connections,
    pipelining: 1,
    allowH2: false,
    connect: { timeout: limits.connectTimeoutMs },
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    // The relay has its own timers: these would be suspended under back-pressure.
    headersTimeout: 0,
    bodyTimeout: 0,
  });

type Health = Pick<Address, 'breakerState' | 'isReady' | 'wasSilent' | 'lastOutcome' | 'admits' | 'begin' | 'record'>;

const replicaHealth = (now: () => number): Health => {
  const breaker = createBreaker();
  let last: Outcome = 'answered';
  let answeredAt = Number.NEGATIVE_INFINITY;
  let avoidedUntil = Number.NEGATIVE_INFINITY;
  const record = (outcome: Outcome, silent = false) => {
    if (outcome === 'abandoned') return breaker.abandoned(now());
    last = outcome;
    if (outcome !== 'answered') return breaker.failed(now(), silent);
    answeredAt = now();
    avoidedUntil = Number.NEGATIVE_INFINITY;
    breaker.succeeded(now());
  };
  return {
    breakerState: () => breaker.state(),
    isReady: () => breaker.mayAdmit(now()),
    wasSilent: () => now() < avoidedUntil,
    lastOutcome: () => last,
    admits: (insists) => breaker.admits(now()) || insists,
    record,
    begin: () => {
      const begunAt = now();
      const isSilent = () => {
        if (answeredAt >= begunAt) return false;
        avoidedUntil = now() + AVOIDED_MS;
        return true;
      };
      return { isSilent, end: (outcome) => record(outcome, outcome === 'timed-out' && isSilent()) };
    },
  };
};

/**
 * When an open breaker is bypassed: another replica has just refused or cut off this request, so that one which was spared may be back; or no replica
 * takes it, and this one was not there, since it takes no time to be refused again. One that cuts off what it took is spared unless there are others.
 */
export const breakerBypass = (candidates: readonly Address[]) => {
  const spared = !candidates.some((address) => address.isReady());
  const away: readonly Outcome[] = candidates.length > 1 ? ['refused', 'cut'] : ['refused'];
  return (address: Address, left: boolean): boolean => left || (spared && away.includes(address.lastOutcome()));
};
