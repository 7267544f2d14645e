import type { Clock } from '@bubbles/kernel/clock.ts';
import { backoffMs } from '@bubbles/kernel/concurrency.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import { faultReason, type HandlerResult, handleMessage } from '../amqp/handle-message.ts';
import { DELIVERY_LIMIT } from '../amqp/queues.ts';
import { BusUnavailable, type EventHandler } from '../bus.ts';

/** A message that a consumer could not take. */
export interface DeadLetter {
  readonly queue: string;
  readonly reason: string;
  /** The message as it was published. */
  readonly body: Buffer;
}

export interface QueueOptions {
  readonly name: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly jitter: () => number;
  readonly deadLetter: (letter: DeadLetter) => void;
}

export interface MemoryQueue {
  /** Resolves when the message has been taken or buried, rejects with `BusUnavailable` when nobody is there to take it. */
  offer(body: Buffer): Promise<void>;
  /** Adds a consumer that competes with those there; the answer removes it and waits for its handlers. */
  join(eventHandler: EventHandler): () => Promise<void>;
  /** Off: takes nothing, as if its process were gone. */
  setState(state: 'up' | 'down'): void;
  retryNow(): void;
}

interface Copy {
  readonly body: Buffer;
  faults: number;
  readonly settled: PromiseWithResolvers<void>;
}

interface Worker {
  readonly eventHandler: EventHandler;
  readonly running: Set<Promise<void>>;
  failures: number;
  availableAt: number;
}

/** Handlers of one worker that run at the same time; they begin in the order of the queue. */
const MAX_RUNNING = 16;

/** Draws the consequences of what a handler did; true when the message is to be handed over again. */
const settling = ({ name, clock, log, jitter, deadLetter }: QueueOptions) => {
  const deadLetterCopy = (copy: Copy, reason: string): false => {
    log.error('message dead-lettered', { queue: name, reason });
    deadLetter({ queue: name, reason, body: copy.body });
    copy.settled.resolve();
    return false;
  };
  const isBackingOff = ({ availableAt }: Worker) => availableAt > clock.monotonic();
  /** Once, however many of its handlers meet the same trouble. */
  const backOff = (worker: Worker, error: unknown): true => {
    if (isBackingOff(worker)) return true;
    log.warn('consumer unavailable, backing off', { queue: name, error });
    worker.availableAt = clock.monotonic() + backoffMs(worker.failures, jitter);
    worker.failures += 1;
    return true;
  };
  const countFault = (copy: Copy, error: unknown): boolean => {
    copy.faults += 1;
    if (copy.faults > DELIVERY_LIMIT) return deadLetterCopy(copy, faultReason(error));
    log.warn('event handler failed', { queue: name, faults: copy.faults, error });
    return true;
  };
  return (worker: Worker, copy: Copy, result: HandlerResult): boolean => {
    if (result.kind === 'unavailable') return backOff(worker, result.error);
    if (!isBackingOff(worker)) worker.failures = 0;
    if (result.kind === 'unreadable') return deadLetterCopy(copy, result.reason);
    if (result.kind === 'fault') return countFault(copy, result.error);
    copy.settled.resolve();
    return false;
  };
};

/** The queue of one consumer and event type. */
export function memoryQueue(options: QueueOptions): MemoryQueue {
  const { name, clock } = options;
  const settle = settling(options);
  const workers: Worker[] = [];
  const waiting: Copy[] = [];
  let state: 'up' | 'down' = 'up';

  const isAvailable = (worker: Worker) => state === 'up' && worker.availableAt <= clock.monotonic();

  const hand = (worker: Worker, copy: Copy) => {
    const run = handleMessage(worker.eventHandler, copy.body).then((result) => {
      worker.running.delete(run);
      if (settle(worker, copy, result)) waiting.unshift(copy);
      dispatch();
    });
    worker.running.add(run);
  };

  /** Hands over in order while a worker has room; nobody waits for a worker that is not there. */
  const dispatch = () => {
    const available = workers.filter(isAvailable);
    if (available.length === 0) return refuseWaiting();
    for (let copy = waiting[0]; copy; copy = waiting[0]) {
      const idlest = available.reduce((least, worker) => (worker.running.size < least.running.size ? worker : least));
      if (idlest.running.size >= MAX_RUNNING) return;
      waiting.shift();
      hand(idlest, copy);
    }
  };

  const refuseWaiting = () => {
    for (const copy of waiting.splice(0)) copy.settled.reject(new BusUnavailable(`${name} is not being consumed`));
  };

  return {
    offer(body) {
      const copy: Copy = { body, faults: 0, settled: Promise.withResolvers<void>() };
      waiting.push(copy);
      dispatch();
      return copy.settled.promise;
    },
    join(eventHandler) {
      const worker: Worker = { eventHandler, running: new Set(), failures: 0, availableAt: Number.NEGATIVE_INFINITY };
      workers.push(worker);
      return async () => {
        workers.splice(workers.indexOf(worker), 1);
        dispatch();
        await Promise.all(worker.running);
      };
    },
    setState(next) {
      state = next;
      dispatch();
    },
    retryNow() {
      for (const worker of workers) worker.availableAt = Number.NEGATIVE_INFINITY;
    },
  };
}
