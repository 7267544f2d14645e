import type { Clock } from '@bubbles/kernel/clock.ts';
import { backoffMs, inFlight } from '@bubbles/kernel/concurrency.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import { type Loop, type LoopContext, startLoop } from '@bubbles/kernel/loop.ts';
import { endSpan, runInSpan, startSpan } from '@bubbles/kernel/trace.ts';
import type { Doc, Filter } from '../collection.ts';
import { holdLease, type Lease, type WorkQueue } from './work-queue.ts';

export interface WorkerOptions<T extends Doc> extends LoopContext {
  readonly name: string;
  readonly queue: WorkQueue<T>;
  /** Does one piece of work and ends its lease. When it rejects, the lease is released and the piece tried again after a backoff. */
  readonly work: (doc: T, lease: Lease, lost: AbortSignal) => Promise<void>;
  /** `traceparent` of the cause of the work; without one each attempt begins a trace. */
  readonly causedBy?: (doc: T) => unknown;
  readonly ids: Ids;
  readonly leaseMs: number;
  /** Renews the lease while the work runs, for work that may take longer than a lease. `lost` aborts when that failed. */
  readonly renews?: boolean;
  /** How often to look for work without being poked, milliseconds. */
  readonly pollMs: number;
  /** Wakes when work falls due, beside the polls. Needs an index that `claimableAt` ends. */
  readonly wakesWhenDue?: boolean;
  /** Pieces in flight in this process. */
  readonly concurrency: number;
  /** Pieces in flight in this process with one value of this field. */
  readonly perKey?: { readonly field: keyof T & string; readonly concurrency: number };
}

/** When this many pieces wait for another try, something that all need may be down: then one more is begun per `PROBE_MS`, and one with each success. */
const MAX_FAILED = 32;
const PROBE_MS = 100;
/** What fails then waits this long, or half of it more, so that the next probes find others. With `PROBE_MS` it bounds how many wait. */
const PROBE_RETRY_MS = 8000;
/** A piece that failed and was not claimed again within this time was done by another replica, or removed. */
const FORGET_MS = 60_000;

interface Failure {
  readonly count: number;
  readonly retryAtMs: number;
}

/** Pieces that failed here, by id. */
const failureMemory = (clock: Clock) => {
  const failures = new Map<string, Failure>();
  let retriedAllAtMs = Number.NEGATIVE_INFINITY;
  const nowMs = () => clock.now().getTime();
  /** Those that wait for another try. */
  const waiting = (): string[] => {
    for (const [id, { retryAtMs }] of failures) if (retryAtMs + FORGET_MS < nowMs()) failures.delete(id);
    return [...failures].filter(([, { retryAtMs }]) => retryAtMs > nowMs()).map(([id]) => id);
  };
  /** Lets all be tried at once. Whether there are any. */
  const retryAll = (): boolean => {
    for (const [id, { count }] of failures) failures.set(id, { count, retryAtMs: nowMs() });
    return failures.size > 0;
  };
  return {
    retryAll,
    waiting,
    /** How often it has failed in a row, and when it is to be tried again. */
    add(id: string): Failure {
      const count = (failures.get(id)?.count ?? 0) + 1;
      const isProbe = waiting().length >= MAX_FAILED;
      const delayMs = isProbe ? PROBE_RETRY_MS * (1 + Math.random() / 2) : backoffMs(count - 1, Math.random);
      const failure = { count, retryAtMs: nowMs() + delayMs };
      failures.set(id, failure);
      return failure;
    },
    /** When it is the first after many failures, something that was down may be up again. Not too often, since those may have reasons of their own. */
    succeeded(id: string, failedInRow: number): void {
      failures.delete(id);
      if (failedInRow < MAX_FAILED || nowMs() < retriedAllAtMs + PROBE_RETRY_MS) return;
      retriedAllAtMs = nowMs();
      retryAll();
    },
  };
};

interface Claimed<T> {
  readonly doc: T;
  readonly lease: Lease;
}

interface ClaimOptions<T extends Doc> extends Pick<WorkerOptions<T>, 'queue' | 'clock' | 'ids' | 'leaseMs'> {
  readonly failures: ReturnType<typeof failureMemory>;
  readonly stopping: AbortSignal;
  /** Called when the next probe may begin, after one was refused. */
  readonly wake: () => void;
}

/** Claims what has waited longest. Once many pieces wait for another try, it claims probes. */
const createClaims = <T extends Doc>({ queue, clock, ids, leaseMs, failures, stopping, wake }: ClaimOptions<T>) => {
  let nextProbeAt = new Date(0);
  let isWaiting = false;
  let lastProbe: T | null = null;
  const wakeForProbe = async () => {
    if (isWaiting) return;
    isWaiting = true;
    await clock.sleepUntil(nextProbeAt, 'poll', stopping);
    isWaiting = false;
    wake();
  };
  /** Goes through the queue: pieces that failed and kept their place in it do not hide the others. */
  const claimProbe = async (now: Date, lease: Lease, where: Filter<T>): Promise<T | null> => {
    if (now < nextProbeAt) {
      void wakeForProbe();
      return null;
    }
    const behind = lastProbe && queue.behind(lastProbe, now);
    const found = behind && (await queue.claimNext(now, lease, { ...where, ...behind }));
    lastProbe = found ?? (await queue.claimNext(now, lease, where));
    if (lastProbe !== null) nextProbeAt = new Date(now.getTime() + PROBE_MS);
    return lastProbe;
  };
  return {
    /** Null when nothing is due that `room` holds for. */
    async next(now: Date, room: object): Promise<Claimed<T> | null> {
      const waiting = failures.waiting();
      const lease = { token: ids.uuid(), until: new Date(now.getTime() + leaseMs) };
      // `_id` and the field of the key are fields of T.
      const where = { ...room, ...(waiting.length > 0 && { _id: { $nin: waiting } }) } as Filter<T>;
      const doc = await (waiting.length < MAX_FAILED ? queue.claimNext(now, lease, where) : claimProbe(now, lease, where));
      return doc && { doc, lease };
    },
    /** The next probe may begin at once. */
    workSucceeded() {
      if (failures.waiting().length >= MAX_FAILED) wake();
      nextProbeAt = new Date(0);
    },
  };
};

/** Tells the log of the first failure, the second, the fourth, … in a row, and of a piece that fails between others that succeed: neither fills the log. */
const failureReport = (name: string, log: Log) => {
  let inRow = 0;
  let isTold = false;
  const isNth = (count: number) => Number.isInteger(Math.log2(count));
  return {
    failed(id: string, count: number, error: unknown) {
      inRow += 1;
      if (!isNth(inRow) || (inRow === 1 && !isNth(count))) return;
      isTold = true;
      log.warn('work failed, retrying', { worker: name, id, failures: count, error });
    },
    /** How many failed in a row before. */
    succeeded(): number {
      const failedInRow = inRow;
      if (isTold) log.info('work succeeded again', { worker: name, failures: failedInRow });
      inRow = 0;
      isTold = false;
      return failedInRow;
    },
  };
};

const keyCounter = <T extends Doc>(perKey: WorkerOptions<T>['perKey']) => {
  const counts = new Map<unknown, number>();
  return {
    add(doc: T, count: number) {
      if (perKey === undefined) return;
      const sum = (counts.get(doc[perKey.field]) ?? 0) + count;
      if (sum === 0) counts.delete(doc[perKey.field]);
      else counts.set(doc[perKey.field], sum);
    },
    /** The condition that leaves out the values without room; empty when all have some. */
    full(): object {
      if (perKey === undefined) return {};
      const values = [...counts].filter(([, count]) => count >= perKey.concurrency).map(([value]) => value);
      return values.length === 0 ? {} : { [perKey.field]: { $nin: values } };
    },
  };
};

/** Does a piece of work under its lease, and releases one that failed. `onFailure` comes before the release, which lets it be claimed again. */
const attempt = <T extends Doc>({ name, queue, work, causedBy, clock, log: parent, leaseMs, renews }: WorkerOptions<T>) => {
  const logOf = ({ _id: id }: T) => parent.child({ worker: name, id });
  const underLease = (doc: T, lease: Lease): Promise<void> => {
    if (!renews) return work(doc, lease, new AbortController().signal);
    const renew = (until: Date) => queue.renew(doc._id, { ...lease, until });
    return holdLease({ leaseMs, renew, clock, log: logOf(doc) }, (lost) => work(doc, lease, lost));
  };
  return (doc: T, lease: Lease, onFailure: (error: unknown) => void): Promise<boolean> => {
    const span = startSpan(causedBy?.(doc));
    const end = (error: unknown = null) => endSpan(span, () => ({ name: `work ${name}`, kind: 'internal', error }));
    const attemptOnce = async () => {
      try {
        await underLease(doc, lease);
        end();
        return true;
      } catch (error) {
        end(error);
        onFailure(error);
        await queue
          .end({ id: doc._id, token: lease.token, claimableAt: clock.now() })
          .catch((cause: unknown) => logOf(doc).warn('lease not released, it ends by the clock', { error: cause }));
        return false;
      }
    };
    return runInSpan(span, attemptOnce);
  };
};

/** Claims what is due and works on it: at once when poked, and by polls. Replicas share a queue. `idle` and `stop` wait for the work in flight. */
export function createWorker<T extends Doc>(options: WorkerOptions<T>): Loop {
  const { name, queue, clock, log, pollMs, concurrency, onFailure } = options;
  const keys = keyCounter<T>(options.perKey);
  const failures = failureMemory(clock);
  const report = failureReport(name, log);
  const flights = inFlight();
  const stopping = new AbortController();
  const work = attempt(options);
  const claims = createClaims({ ...options, failures, stopping: stopping.signal, wake: () => loop.poke() });
  /** There may be due work for which there was no room. */
  let hasBacklog = false;
  let active = 0;

  const retry = async (id: string, error: unknown) => {
    const { count, retryAtMs } = failures.add(id);
    onFailure?.(name);
    report.failed(id, count, error);
    await clock.sleepUntil(new Date(retryAtMs), 'poll', stopping.signal);
    loop.poke();
  };
  const carryOut = async ({ doc, lease }: Claimed<T>) => {
    active += 1;
    keys.add(doc, 1);
    const isDone = await work(doc, lease, (error) => void retry(doc._id, error));
    active -= 1;
    keys.add(doc, -1);
    if (isDone) {
      claims.workSucceeded();
      failures.succeeded(doc._id, report.succeeded());
    }
    if (hasBacklog) loop.poke();
  };
  const run = async (): Promise<Date | null> => {
    while (active < concurrency && !stopping.signal.aborted) {
      const now = clock.now();
      const full = keys.full();
      // Set before the claim, since work that ends while the claim is in flight makes room that the claim leaves out.
      hasBacklog = Object.keys(full).length > 0;
      const claimed = await claims.next(now, full);
      if (claimed === null) return options.wakesWhenDue ? queue.nextAfter(now) : null;
      void flights.track(carryOut(claimed));
    }
    hasBacklog = true;
    return null;
  };
  const loop = startLoop({ name, clock, log, onFailure, pollMs, run });

  return {
    poke: loop.poke,
    async idle() {
      // What failed is tried once more first.
      if (failures.retryAll()) loop.poke();
      for (await loop.idle(); flights.size() > 0; await loop.idle()) await flights.idle();
    },
    async stop() {
      stopping.abort();
      await loop.stop();
      await flights.idle();
    },
  };
}
