import type { Clock } from '@bubbles/kernel/clock.ts';
import { inFlight } from '@bubbles/kernel/concurrency.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import { queueName } from '../amqp/queues.ts';
import { type Bus, BusUnavailable, type CloudEvent, type EventDefinition, type EventHandler } from '../bus.ts';
import { encodeEvent } from '../cloud-event.ts';
import { type DeadLetter, type MemoryQueue, memoryQueue } from './memory-queue.ts';

export interface MemoryBusOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** From 0 to 1; spreads how long a consumer backs off. */
  readonly jitter?: () => number;
}

/**
 * The bus of one process. A publish resolves when every consumer has taken its copy, and rejects when one is not there, is down or backs off; the
 * others have taken theirs by then. Nothing is held beyond its publish: what must survive waits in the publisher's outbox.
 */
export interface MemoryBus extends Bus {
  /** A service's own end of the bus: closing it ends its subscriptions and publishes, and nobody else's. */
  connect(): Bus;
  /** A consumer that is down takes nothing, as if its process were gone. When one comes up, all that back off try again at once. */
  setConsumer(consumer: string, state: 'up' | 'down'): void;
  /** Ends every consumer's back-off: what it waited for may be there again. */
  retryNow(): void;
  deadLetters(): readonly DeadLetter[];
}

export function memoryBus({ clock, log, jitter = Math.random }: MemoryBusOptions): MemoryBus {
  const queues = new Map<string, { readonly consumer: string; readonly queue: MemoryQueue }>();
  const down = new Set<string>();
  const letters: DeadLetter[] = [];
  const work = inFlight();

  const queueOf = (consumer: string, type: string): MemoryQueue => {
    const name = queueName(consumer, type);
    const known = queues.get(name);
    if (known) return known.queue;
    const queue = memoryQueue({ name, clock, log, jitter, deadLetter: (letter) => letters.push(letter) });
    if (down.has(consumer)) queue.setState('down');
    queues.set(name, { consumer, queue });
    return queue;
  };

  const retryNow = () => {
    for (const { queue } of queues.values()) queue.retryNow();
  };

  const deliver = async ({ type, consumers }: EventDefinition, event: CloudEvent) => {
    const body = encodeEvent(event);
    const copies = await Promise.allSettled(consumers.map((consumer) => queueOf(consumer, type).offer(body)));
    const refused = copies.find((copy) => copy.status === 'rejected');
    if (refused) throw refused.reason;
  };

  const connect = (): Bus => {
    const own = inFlight();
    const leaves: (() => Promise<void>)[] = [];
    let closed = false;
    return {
      publish: (definition, event) => {
        if (closed) return Promise.reject(new BusUnavailable('the bus is closed'));
        return own.track(work.track(deliver(definition, event)));
      },
      consume(eventHandler: EventHandler) {
        leaves.push(queueOf(eventHandler.consumer, eventHandler.event.type).join(eventHandler));
        return Promise.resolve();
      },
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
}
