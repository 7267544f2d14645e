import type { Clock } from '@bubbles/kernel/clock.ts';
import { backoffMs, inFlight } from '@bubbles/kernel/concurrency.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import {
  type Bus,
  BusUnavailable,
  type CloudEvent,
  type ConsumerState,
  type EventDefinition,
  type EventHandler,
  queueName,
} from '../bus.ts';
import { DELIVERY_LIMIT, encodeEvent, faultReason, type HandlerResult, handleMessage } from '../cloud-event.ts';

interface DeadLetter {
  readonly queue: string;
  readonly reason: string;
  /** The message as it was published. */
  readonly body: Buffer;
}

interface MemoryBusOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** From 0 to 1; spreads how long a consumer backs off. */
  readonly jitter?: () => number;
}

/**
 * The bus of one process. A publish resolves when every consumer has handled its copy, and rejects when one is missing, down or backing off; the others
 * have handled theirs by then. No message outlives its publish: an event that must survive waits in the publisher's outbox.
 */
export interface MemoryBus extends Bus {
  /** A service's own end of the bus: closing it ends this service's consumers and publishes alone. */
  connect(): Bus;
  /** A consumer that is down gets no messages, as if its process were gone. When one comes up, all consumers that back off try again at once. */
  setConsumer(consumer: string, state: 'up' | 'down'): void;
  /** Ends the backoff of every consumer, because what it waited for may be back. */
  retryNow(): void;
  deadLetters(): readonly DeadLetter[];
}

export const createMemoryBus = ({ clock, log, jitter = Math.random }: MemoryBusOptions): MemoryBus => {
  const queues = new Map<string, { readonly consumer: string; readonly queue: MemoryQueue }>();
  const down = new Set<string>();
  const letters: DeadLetter[] = [];
  const work = inFlight();

  const queueOf = (consumer: string, type: string): MemoryQueue => {
    const name = queueName(consumer, type);
    const known = queues.get(name);
    if (known) return known.queue;
    const queue = createMemoryQueue({ name, clock, log, jitter, deadLetter: (letter) => letters.push(letter) });
    if (down.has(consumer)) queue.setState('down');
    queues.set(name, { consumer, queue });
    return queue;
  };

  const retryNow = () => {
    for (const { queue } of queues.values()) queue.retryNow();
  };

  const deliver = async ({ type, consumers }: EventDefinition, event: CloudEvent) => {
    const copies = await Promise.allSettled(consumers.map((consumer) => queueOf(consumer, type).offer(encodeEvent(event))));
    const refused = copies.find((copy) => copy.status === 'rejected');
    if (refused) throw refused.reason;
  };

  const connect = (): Bus => {
    const own = inFlight();
    const [leaves, states]: [(() => Promise<void>)[], (() => ConsumerState)[]] = [[], []];
    let closed = false;
    return {
      publish: (definition, event) => {
        if (closed) return Promise.reject(new BusUnavailable('the bus is closed'));
        return own.track(work.track(deliver(definition, event)));
      },
      consume(consumer: string, eventHandler: EventHandler) {
        const { type } = eventHandler.event;
        const { leave, isConsuming } = queueOf(consumer, type).join(eventHandler);
        leaves.push(leave);
        states.push(() => ({ consumer, type, isConsuming: isConsuming() }));
        return Promise.resolve();
      },
      state: () => ({ isConnected: !closed, faults: [], consumers: states.map((state) => state()) }),
      deadLetterCounts: () => Promise.resolve(countsOf(states, letters)),
      check: () => Promise.resolve(),
      idle: work.idle,
      async close() {
        closed = true;
        await Promise.all(leaves.splice(0).map((leave) => leave()));
        await own.idle();
      },
    };
  };

  return {
    ...connect(),
    connect,
    setConsumer(consumer, state) {
      if (state === 'down') down.add(consumer);
      else down.delete(consumer);
      for (const { consumer: owner, queue } of queues.values()) if (owner === consumer) queue.setState(state);
      if (state === 'up') retryNow();
    },
    retryNow,
    deadLetters: () => letters,
  };
};

const countsOf = (states: readonly (() => ConsumerState)[], letters: readonly DeadLetter[]): ReadonlyMap<string, number> => {
  const consumers = states.map((state) => state().consumer);
  return new Map(consumers.map((name) => [name, letters.filter(({ queue }) => queue.startsWith(`${name}.`)).length]));
};

interface QueueOptions {
  readonly name: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly jitter: () => number;
  readonly deadLetter: (letter: DeadLetter) => void;
}

interface MemoryQueue {
  /** Resolves when the message is handled or dead-lettered, rejects with `BusUnavailable` when no consumer is available. */
  offer(body: Buffer): Promise<void>;
  /** Adds a competing consumer; `leave` removes it and waits for its handlers. */
  join(eventHandler: EventHandler): { isConsuming(): boolean; leave(): Promise<void> };
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

/** Handlers of one worker at the same time; they start in the order of the queue. */
const MAX_RUNNING = 16;

/** Acts on the result of a handler; true when the message is to be handed over again. */
const settling = ({ name, clock, log, jitter, deadLetter }: QueueOptions) => {
  const deadLetterCopy = ({ eventHandler }: Worker, copy: Copy, reason: string): false => {
    eventHandler.onDeadLetter?.();
    log.error('message dead-lettered', { queue: name, reason });
    deadLetter({ queue: name, reason, body: copy.body });
    copy.settled.resolve();
    return false;
  };
  const isBackingOff = ({ availableAt }: Worker) => availableAt > clock.monotonic();
  /** Once, however many of its handlers fail together. */
  const backOff = (worker: Worker, error: unknown): true => {
    if (isBackingOff(worker)) return true;
    log.warn('consumer unavailable, backing off', { queue: name, error });
    worker.availableAt = clock.monotonic() + backoffMs(worker.failures, jitter);
    worker.failures += 1;
    return true;
  };
  const countFault = (worker: Worker, copy: Copy, error: unknown): boolean => {
    copy.faults += 1;
    if (copy.faults > DELIVERY_LIMIT) return deadLetterCopy(worker, copy, faultReason(error));
    log.warn('event handler failed', { queue: name, faults: copy.faults, error });
    return true;
  };
  return (worker: Worker, copy: Copy, result: HandlerResult): boolean => {
    if (result.kind === 'unavailable') return backOff(worker, result.error);
    if (!isBackingOff(worker)) worker.failures = 0;
    if (result.kind === 'unreadable') return deadLetterCopy(worker, copy, result.reason);
    if (result.kind === 'fault') return countFault(worker, copy, result.error);
    copy.settled.resolve();
    return false;
  };
};

/** The queue of one consumer and event type. */
const createMemoryQueue = (options: QueueOptions): MemoryQueue => {
  const { name, clock } = options;
  const settle = settling(options);
  const workers: Worker[] = [];
  const waiting: Copy[] = [];
  let state: 'up' | 'down' = 'up';

  const isAvailable = (worker: Worker) => state === 'up' && worker.availableAt <= clock.monotonic();

  const hand = (worker: Worker, copy: Copy) => {
    worker.eventHandler.onDelivery?.(copy.faults > 0);
    const run = handleMessage(worker.eventHandler, copy.body, (result) => settle(worker, copy, result)).then((isKept) => {
      worker.running.delete(run);
      if (isKept) waiting.unshift(copy);
      dispatch();
    });
    worker.running.add(run);
  };

  /** Hands over in order while a worker has room. Without an available worker no message waits. */
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
      return {
        isConsuming: () => state === 'up' && worker.failures === 0,
        async leave() {
          workers.splice(workers.indexOf(worker), 1);
          dispatch();
          await Promise.all(worker.running);
        },
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
};
