import type { LogOutput } from '@bubbles/kernel/log-output.ts';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** One answered request; `route` is the template, so that the number of series is bounded. */
interface ServedRequest {
  readonly service: string;
  readonly method: string;
  readonly route: string;
  readonly status: number;
  /** The deprecated element: `route`, or the path of a parameter or field. */
  readonly deprecated?: readonly string[];
}

export interface HttpMetrics {
  observe(request: ServedRequest, seconds: number): void;
  /** A request was refused for overload. */
  shed(): void;
}

/** The figures of one process. Labels are names of ours (service, route template), never what a caller sent. */
export interface Metrics {
  /** For the figures of a service's own. */
  readonly registry: Registry;
  readonly http: HttpMetrics;
  /** A run of this background loop, or a piece of its work, has failed. */
  readonly loopFailed: (loop: string) => void;
}

const DURATION_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20];

interface MeasuredProcess {
  /** A label of every metric, so that rules do not depend on labels that a scraper adds. */
  readonly service: string;
  readonly output: Pick<LogOutput, 'dropped'>;
}

/** Includes the default metrics of Node, and those of the log's output when the process has its own. */
export const createMetrics = (process: MeasuredProcess | null = null): Metrics => {
  const metrics = unshownMetrics();
  collectDefaultMetrics({ register: metrics.registry });
  if (process !== null) {
    metrics.registry.setDefaultLabels({ service: process.service });
    countDroppedLines(metrics.registry, process.output);
  }
  return metrics;
};

/** Metrics for a process that does not export them, so that counting code needs no condition. */
export const unshownMetrics = (): Metrics => {
  const registry = new Registry();
  const loopFailures = new Counter({
    name: 'loop_failures_total',
    help: 'Runs of background loops, and pieces of their work, that failed and are tried again.',
    labelNames: ['loop'],
    registers: [registry],
  });
  return { registry, http: httpMetrics(registry), loopFailed: (loop) => loopFailures.inc({ loop }) };
};

const httpMetrics = (registry: Registry): HttpMetrics => {
  const durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time to answer a request, by route template and status.',
    labelNames: ['service', 'method', 'route', 'status'],
    buckets: DURATION_BUCKETS_SECONDS,
    registers: [registry],
  });
  const shed = new Counter({
    name: 'http_requests_shed_total',
    help: 'Requests that were refused at once because the process was overloaded.',
    registers: [registry],
  });
  const deprecatedUses = new Counter({
    name: 'http_deprecated_uses_total',
    help: 'Requests that used what is deprecated, by route template and by the parameter or field; the log names their clients.',
    labelNames: ['service', 'method', 'route', 'element'],
    registers: [registry],
  });
  return {
    observe({ deprecated = [], status, ...served }, seconds) {
      durations.observe({ ...served, status }, seconds);
      for (const element of deprecated) deprecatedUses.inc({ ...served, element });
    },
    shed: () => shed.inc(),
  };
};

/** The state of `/readyz`, read at each scrape. */
export const showReadiness = ({ registry }: Pick<Metrics, 'registry'>, notReady: () => Promise<string | null>) =>
  new Gauge({
    name: 'process_ready',
    help: '1 while /readyz answers 200, else 0.',
    registers: [registry],
    async collect() {
      this.set((await notReady()) === null ? 1 : 0);
    },
  });

const countDroppedLines = (registry: Registry, { dropped }: Pick<LogOutput, 'dropped'>) =>
  new Counter({
    name: 'log_lines_dropped_total',
    help: 'Log lines that standard output did not take.',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(dropped());
    },
  });
