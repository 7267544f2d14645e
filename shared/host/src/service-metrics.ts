import type { Bus, EventHandler, PublishOutcome } from '@bubbles/bus/bus.ts';
import type { Metrics } from '@bubbles/http/ops/metrics.ts';
import type { Clock } from '@bubbles/kernel/clock.ts';
import { singleFlight } from '@bubbles/kernel/concurrency.ts';
import type { OutboxDoc } from '@bubbles/store/aggregates.ts';
import { type Collection, type Database, type Doc, OPERATIONS, type StoreFault, storeFaultOf } from '@bubbles/store/collection.ts';
import { waitingEvents } from '@bubbles/store/outbox-relay.ts';
import { longestIntervalMs } from '@bubbles/store/work/cron-times.ts';
import { type Job, type JobMetrics, lastSuccesses } from '@bubbles/store/work/run-jobs.ts';
import { Counter, Gauge, Histogram } from 'prom-client';

/** The adapters that are measured. */
interface Adapters {
  readonly database: Database;
  readonly bus: Bus;
  readonly clock: Clock;
}

const MS = 1000;
const STORE_SECONDS = [0.001, 0.005, 0.025, 0.1, 0.5, 1, 3];
const PUBLISH_SECONDS = [0.001, 0.005, 0.025, 0.1, 0.5, 1, 5, 30];
const JOB_SECONDS = [0.01, 0.1, 1, 10, 60, 300, 1800];

/** Wraps store and bus so that their operations are measured. */
export const measuredInfra = <A extends Adapters>(infra: A, metrics: Metrics): A => ({
  ...infra,
  database: measuredDatabase(infra, metrics),
  bus: measuredBus(infra, metrics),
});

const FAULTS: readonly StoreFault[] = ['pool_wait', 'deadline', 'access', 'unreachable', 'refused'];

type Operation = (first: unknown, second: unknown, third: unknown) => Promise<unknown>;

const measuredDatabase = ({ database, clock }: Pick<Adapters, 'database' | 'clock'>, { registry }: Metrics): Database => {
  const seconds = new Histogram({
    name: 'store_operation_seconds',
    help: 'Time of an operation of the database, also of one that failed, by collection and operation.',
    labelNames: ['collection', 'operation'],
    buckets: STORE_SECONDS,
    registers: [registry],
  });
  const failures = new Counter({
    name: 'store_operation_failures_total',
    help: 'Operations that failed: no free connection in time, deadline, access refused, database unreachable, operation refused.',
    labelNames: ['collection', 'reason'],
    registers: [registry],
  });
  const measured = (collection: string, operation: string, work: Operation): Operation => {
    const { observe } = seconds.labels(collection, operation);
    return async (first, second, third) => {
      const began = clock.monotonic();
      try {
        return await work(first, second, third);
      } catch (error) {
        failures.inc({ collection, reason: storeFaultOf(error) });
        throw error;
      } finally {
        observe((clock.monotonic() - began) / MS);
      }
    };
  };
  return {
    ...database,
    collection: <T extends Doc>(name: string) => {
      const collection = database.collection<T>(name);
      for (const reason of FAULTS) failures.inc({ collection: name, reason }, 0);
      // Each wrapper has the type of the method that it wraps.
      const methods = OPERATIONS.map((operation) => [operation, measured(name, operation, collection[operation] as Operation)]);
      return { ...collection, ...(Object.fromEntries(methods) as Pick<Collection<T>, (typeof OPERATIONS)[number]>) };
    },
  };
};

const measuredBus = ({ bus, clock }: Pick<Adapters, 'bus' | 'clock'>, { registry }: Metrics): Bus => {
  const seconds = new Histogram({
    name: 'bus_publish_seconds',
    help: 'Time until the broker confirmed an event, no queue took it (returned), it said nothing in time (timeout) or sending failed.',
    labelNames: ['outcome'],
    buckets: PUBLISH_SECONDS,
    registers: [registry],
  });
  for (const outcome of ['confirmed', 'returned', 'timeout', 'failed'] as const satisfies readonly PublishOutcome[])
    seconds.zero({ outcome });
  const counted = countedHandlers(registry);
  showBusState(bus, registry);
  showDeadLetters(bus, registry);
  return {
    ...bus,
    async publish(definition, event) {
      const began = clock.monotonic();
      let outcome: PublishOutcome = 'confirmed';
      try {
        await bus.publish(definition, event);
      } catch (error) {
        outcome = outcomeOf(error);
        throw error;
      } finally {
        seconds.observe({ outcome }, (clock.monotonic() - began) / MS);
      }
    },
    consume: (consumer, handler) => bus.consume(consumer, counted(consumer, handler)),
  };
};

const outcomeOf = (error: unknown): PublishOutcome =>
  // Only `BusUnavailable` has this field.
  Error.isError(error) && 'outcome' in error ? (error.outcome as PublishOutcome) : 'failed';

const showBusState = (bus: Bus, registry: Metrics['registry']): void => {
  new Gauge({
    name: 'bus_connected',
    help: '1 while the process is connected to the broker, to publish and to consume, else 0.',
    registers: [registry],
    collect() {
      this.set(bus.state().isConnected ? 1 : 0);
    },
  });
  new Gauge({
    name: 'bus_consumer_consuming',
    help: '1 while the consumer takes messages from its queue; 0 without a queue or connection, and while what it needs is away.',
    labelNames: ['consumer', 'event_type'],
    registers: [registry],
    collect() {
      for (const { consumer, type, isConsuming } of bus.state().consumers) this.set({ consumer, event_type: type }, isConsuming ? 1 : 0);
    },
  });
};

/** Read from the broker at each scrape, so that every replica shows the same number, including messages that the broker dead-lettered itself. */
const showDeadLetters = (bus: Bus, registry: Metrics['registry']) =>
  new Gauge({
    name: 'bus_dead_letters',
    help: 'Messages that were given up and wait for an operator, in the dead-letter queue of the consumer.',
    labelNames: ['consumer'],
    registers: [registry],
    async collect() {
      const counts = await bus.deadLetterCounts().catch(() => new Map<string, number>());
      this.reset();
      for (const [consumer, count] of counts) this.set({ consumer }, count);
    },
  });

const countedHandlers = (registry: Metrics['registry']) => {
  const labelNames = ['consumer', 'event_type'] as const;
  const counter = (name: string, help: string) => new Counter({ name, help, labelNames, registers: [registry] });
  const delivered = counter('bus_messages_delivered_total', 'Messages that came to a consumer, again or for the first time.');
  const redelivered = counter('bus_messages_redelivered_total', 'Messages that came to a consumer again.');
  const deadLettered = counter('bus_messages_dead_lettered_total', 'Messages that a consumer gave up, to be looked at by an operator.');
  return (consumer: string, handler: EventHandler): EventHandler => {
    const labels = { consumer, event_type: handler.event.type };
    // A counter that first appears with its first message would hide that message from `increase`.
    for (const each of [delivered, redelivered, deadLettered]) each.inc(labels, 0);
    return {
      ...handler,
      onDelivery(isRedelivery) {
        delivered.inc(labels);
        if (isRedelivery) redelivered.inc(labels);
      },
      onDeadLetter: () => deadLettered.inc(labels),
    };
  };
};

interface WatchedOutboxes {
  readonly outboxes: readonly Collection<OutboxDoc>[];
  readonly clock: Clock;
}

/** Read from the store at each scrape, so that every replica shows the same numbers. */
export const watchOutboxes = ({ registry }: Metrics, { outboxes, clock }: WatchedOutboxes): void => {
  const labelNames = ['collection'] as const;
  /** One read serves both gauges of a scrape. Other metrics are still served while the store is unreachable. */
  const readAll = singleFlight(() =>
    Promise.all(
      outboxes.map(async (collection) => ({ collection: collection.name, seen: await waitingEvents(collection).catch(() => null) })),
    ),
  );
  new Gauge({
    name: 'outbox_waiting_events',
    help: 'Events that were written with their cause and that the broker has not confirmed; at least these when more than 1,000 documents hold some.',
    labelNames,
    registers: [registry],
    async collect() {
      for (const { collection, seen } of await readAll()) this.set({ collection }, seen?.count ?? Number.NaN);
    },
  });
  new Gauge({
    name: 'outbox_oldest_waiting_seconds',
    help: 'Age of the event that has waited longest for the broker; 0 when none waits.',
    labelNames,
    registers: [registry],
    async collect() {
      const nowMs = clock.now().getTime();
      for (const { collection, seen } of await readAll()) {
        const since = seen?.oldest?.getTime() ?? nowMs;
        this.set({ collection }, seen === null ? Number.NaN : Math.max(0, nowMs - since) / MS);
      }
    },
  });
};

interface WatchedJobs extends Pick<Adapters, 'database' | 'clock'> {
  readonly jobs: readonly Job[];
}

/** The label is `job_name`, because Prometheus itself sets `job`. */
export const measureJobs = ({ registry }: Metrics, { jobs, database, clock }: WatchedJobs): JobMetrics => {
  const labelNames = ['job_name'] as const;
  const registers = [registry];
  const seconds = new Histogram({
    name: 'job_duration_seconds',
    help: 'Time of a run of a job, also of one that failed.',
    labelNames,
    buckets: JOB_SECONDS,
    registers,
  });
  const failures = new Counter({ name: 'job_failures_total', help: 'Runs of a job that failed on this replica.', labelNames, registers });
  const interval = new Gauge({
    name: 'job_interval_seconds',
    help: 'The longest time between two runs that the schedule of the job allows.',
    labelNames,
    registers,
  });
  for (const { name, cron } of jobs) {
    failures.inc({ job_name: name }, 0);
    interval.set({ job_name: name }, longestIntervalMs(cron, clock.now()) / MS);
  }
  new Gauge({
    name: 'job_last_success_timestamp_seconds',
    help: 'When the job last succeeded, on any replica; of one that never has, when it was first due. NaN while the store is away.',
    labelNames,
    registers,
    async collect() {
      const last = await lastSuccesses(database, jobs).catch(() => null);
      this.reset();
      for (const { name } of jobs) {
        const at = last === null ? Number.NaN : last.get(name)?.getTime();
        if (at !== undefined) this.set({ job_name: name }, at / MS);
      }
    },
  });
  return {
    ended(job, outcome, tookMs) {
      seconds.observe({ job_name: job }, tookMs / MS);
      if (outcome === 'failed') failures.inc({ job_name: job });
    },
  };
};
