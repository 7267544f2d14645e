import { keepContext } from './trace.ts';

/** Resolves when the signal aborts. */
export const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

const BACKOFF_MS = { first: 100, max: 5000 } as const;
/** Without a minimum a retry could run before anything else. */
const MIN_BACKOFF_MS = 5;

/** Full jitter under a ceiling that doubles with each failure in a row. `failures` begins at 0, `jitter` gives 0 to 1. */
export const backoffMs = (failures: number, jitter: () => number, maxMs: number = BACKOFF_MS.max): number =>
  Math.max(MIN_BACKOFF_MS, jitter() * Math.min(BACKOFF_MS.first * 2 ** Math.min(failures, 10), maxMs));

export interface InFlight {
  track<T>(work: Promise<T>): Promise<T>;
  /** Resolves when nothing is in flight. */
  idle(): Promise<void>;
  /** Resolves when the next piece of work ends, or at once when there is none. */
  next(): Promise<void>;
  size(): number;
}

/** Counts work that has begun and not ended. */
export const inFlight = (): InFlight => {
  let count = 0;
  let quiet = Promise.withResolvers<void>();
  let ended: PromiseWithResolvers<void> | null = null;
  const end = () => {
    count -= 1;
    ended?.resolve();
    ended = null;
    if (count > 0) return;
    quiet.resolve();
    quiet = Promise.withResolvers<void>();
  };
  return {
    async track(work) {
      count += 1;
      try {
        return await work;
      } finally {
        end();
      }
    },
    idle: () => (count === 0 ? Promise.resolve() : quiet.promise),
    next() {
      if (count === 0) return Promise.resolve();
      ended ??= Promise.withResolvers<void>();
      return ended.promise;
    },
    size: () => count,
  };
};

interface Batch<T, R> extends PromiseWithResolvers<R> {
  readonly items: T[];
  /** Runs it in the trace of its first item. */
  readonly inContext: ReturnType<typeof keepContext>;
}

/**
 * Runs the first item at once. Items that come while `concurrency` runs are in flight wait and go together as the next run, whose result all of them get.
 * An item never joins a run that has begun, so that a read sees every write that was answered before it was asked for.
 */
export const batchWhileBusy = <R, T = void>(run: (items: readonly T[]) => Promise<R>, concurrency = 1): ((item: T) => Promise<R>) => {
  let running = 0;
  let waiting: Batch<T, R> | null = null;

  const runNow = async (items: readonly T[]): Promise<R> => {
    running += 1;
    try {
      return await run(items);
    } finally {
      running -= 1;
      runWaiting();
    }
  };
  const runWaiting = () => {
    if (waiting === null) return;
    const { items, inContext, resolve, reject } = waiting;
    waiting = null;
    inContext(() => runNow(items)).then(resolve, reject);
  };

  return (item) => {
    if (running < concurrency) return runNow([item]);
    waiting ??= { items: [], inContext: keepContext(), ...Promise.withResolvers<R>() };
    waiting.items.push(item);
    return waiting.promise;
  };
};

/** Calls with one key share the run that is in flight, whatever else they give; a call after its end runs again. */
export const singleFlight = <R, K = void, A extends readonly unknown[] = []>(
  work: (key: K, ...given: A) => Promise<R>,
): ((key: K, ...given: A) => Promise<R>) => {
  const flights = new Map<K, Promise<R>>();
  return (key, ...given) => {
    const known = flights.get(key);
    if (known !== undefined) return known;
    const flight = work(key, ...given).finally(() => flights.delete(key));
    flights.set(key, flight);
    return flight;
  };
};

/** Results by key, each made by the first `get`. A failure goes to all callers that wait for it and is not kept. */
interface Memo<K, R> {
  get(key: K): Promise<R>;
  delete(key: K): void;
  clear(): void;
}

export const memo = <R, K = void>(make: (key: K) => Promise<R>): Memo<K, R> => {
  const results = new Map<K, Promise<R>>();
  return {
    get(key) {
      const known = results.get(key);
      if (known !== undefined) return known;
      const result = make(key);
      results.set(key, result);
      result.catch(() => {
        if (results.get(key) === result) results.delete(key);
      });
      return result;
    },
    delete: (key) => void results.delete(key),
    clear: () => results.clear(),
  };
};

interface TimeoutOptions {
  /** Ends the work early, with its own reason. */
  readonly signal?: AbortSignal | undefined;
  /** Made when the time is up; a `TimeoutError` when absent. */
  readonly error?: () => Error;
}

/**
 * The result of `work`, or a rejection once `ms` of real time have passed. `work` gets a signal that aborts then; the call ends on time whether
 * it heeds the signal or not.
 */
export const withTimeout = async <T>(
  ms: number,
  work: (signal: AbortSignal) => Promise<T>,
  { signal, error = () => new DOMException(`No result after ${ms} ms.`, 'TimeoutError') }: TimeoutOptions = {},
): Promise<T> => {
  signal?.throwIfAborted();
  const controller = new AbortController();
  const { promise: ended, reject } = Promise.withResolvers<never>();
  const end = (reason: unknown) => {
    controller.abort(reason);
    reject(reason);
  };
  const timer = setTimeout(() => end(error()), ms);
  const onAbort = () => end(signal?.reason);
  signal?.addEventListener('abort', onAbort);
  try {
    return await Promise.race([work(controller.signal), ended]);
  } finally {
    // A signal of `AbortSignal.timeout` would go on after the end of the work and fire for nobody.
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
};

interface Last {
  readonly shared: boolean;
  /** Settles when those that may not run beside it have ended. */
  readonly before: Promise<unknown>;
  /** Settles when it and all before it have ended. */
  readonly settled: Promise<unknown>;
}

/** Work of one key begins in the order in which it comes, when the work before it has ended, well or badly. Keys do not wait for each other. */
export interface KeyedMutex {
  exclusive<T>(key: string, work: () => Promise<T>): Promise<T>;
  /** Runs beside other shared work that comes just before it. */
  shared<T>(key: string, work: () => Promise<T>): Promise<T>;
}

export const keyedMutex = (): KeyedMutex => {
  const lastOf = new Map<string, Last>();
  const run = <T>(key: string, shared: boolean, work: () => Promise<T>): Promise<T> => {
    const last = lastOf.get(key);
    const before = shared && last?.shared ? last.before : last?.settled;
    const ended = before === undefined ? work() : before.then(work);
    const settled = Promise.allSettled([last?.settled, ended]).then(() => {
      if (lastOf.get(key) === mine) lastOf.delete(key);
    });
    const mine: Last = { shared, before: before ?? Promise.resolve(), settled };
    lastOf.set(key, mine);
    return ended;
  };
  return { exclusive: (key, work) => run(key, false, work), shared: (key, work) => run(key, true, work) };
};
