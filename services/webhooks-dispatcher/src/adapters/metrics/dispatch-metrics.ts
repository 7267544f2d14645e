import { singleFlight } from '@bubbles/kernel/concurrency.ts';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { DeliveryStore, DispatchMetrics } from '../../ports.ts';

type Queue = Awaited<ReturnType<DeliveryStore['countDue']>>;

interface Watched {
  readonly registry: Registry;
  readonly inFlight: () => { readonly attempts: number; readonly saturated: number };
  readonly countDue: () => Promise<Queue>;
  readonly nowMs: () => number;
}

const ATTEMPT_SECONDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];
const LAG_SECONDS = [0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300];
const MS = 1000;

export function createDispatchMetrics({ registry }: Pick<Watched, 'registry'>): DispatchMetrics {
  const registers = [registry];
  const attempts = new Counter({ name: 'webhook_attempts_total', help: 'Attempts by outcome', labelNames: ['outcome'], registers });
  const seconds = new Histogram({ name: 'webhook_attempt_seconds', help: 'Duration of an attempt', buckets: ATTEMPT_SECONDS, registers });
  const firstLag = new Histogram({
    name: 'webhook_first_attempt_lag_seconds',
    help: 'Time from fan-out to the first attempt',
    buckets: LAG_SECONDS,
    registers,
  });
  const late = new Histogram({
    name: 'webhook_retry_lateness_seconds',
    help: 'Time from when a retry fell due to its start',
    buckets: LAG_SECONDS,
    registers,
  });
  const cancelled = new Counter({
    name: 'webhook_cancelled_total',
    help: 'Deliveries cancelled, by reason',
    labelNames: ['reason'],
    registers,
  });
  const postponed = new Counter({
    name: 'webhook_postponed_total',
    help: 'Due attempts that were postponed and not counted, by reason',
    labelNames: ['reason'],
    registers,
  });
  const exhausted = new Counter({ name: 'webhook_exhausted_total', help: 'Deliveries whose attempts all failed', registers });
  const disabled = new Counter({ name: 'webhook_subscriptions_disabled_total', help: 'Subscriptions disabled by failures', registers });
  const leasesLost = new Counter({
    name: 'webhook_leases_lost_total',
    help: 'Outcomes that were not recorded because the lease had ended',
    registers,
  });
  return {
    attempted({ outcome, tookMs, first, lateMs }) {
      attempts.inc({ outcome });
      seconds.observe(tookMs / MS);
      (first ? firstLag : late).observe(Math.max(0, lateMs) / MS);
    },
    cancelled: (reason, count) => cancelled.inc({ reason }, count),
    postponed: (reason) => postponed.inc({ reason }),
    exhausted: (count) => exhausted.inc(count),
    disabled: () => disabled.inc(),
    leasesLost: (count) => leasesLost.inc(count),
  };
}

/** Gauges of the queue, read at each scrape. */
export function watchQueue({ registry, inFlight, countDue, nowMs }: Watched): void {
  const registers = [registry];
  /** Both figures of a scrape come from one read. When the store is away, the other figures are still served. */
  const queue = singleFlight((): Promise<Queue | null> => countDue().catch(() => null));
  new Gauge({
    name: 'webhook_due',
    help: 'Deliveries that are due',
    registers,
    async collect() {
      this.set((await queue())?.due ?? Number.NaN);
    },
  });
  new Gauge({
    name: 'webhook_oldest_due_seconds',
    help: 'Age of the delivery that has been due longest',
    registers,
    async collect() {
      const seen = await queue();
      const since = seen?.oldest?.getTime() ?? nowMs();
      this.set(seen === null ? Number.NaN : Math.max(0, nowMs() - since) / MS);
    },
  });
  new Gauge({
    name: 'webhook_in_flight',
    help: 'Attempts in flight',
    registers,
    collect: function () {
      this.set(inFlight().attempts);
    },
  });
  new Gauge({
    name: 'webhook_saturated',
    help: 'Subscriptions with as many attempts in flight as they may have, and origins at which some owner has its share of them',
    registers,
    collect: function () {
      this.set(inFlight().saturated);
    },
  });
}
