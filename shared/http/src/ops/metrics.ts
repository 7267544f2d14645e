import type { LogOutput } from '@bubbles/kernel/log-output.ts';
import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client';

/** One answered request; `route` is the template, so that the number of series is bounded. */
interface ServedRequest {
  readonly service: string;
  readonly method: string;
  readonly route: string;
  readonly status: number;
}

export interface HttpMetrics {
  observe(request: ServedRequest, seconds: number): void;
}

/** The figures of one process. Labels are names of ours (service, route template), never what a caller sent. */
export interface Metrics {
  /** For the figures of a service's own. */
  readonly registry: Registry;
  readonly http: HttpMetrics;
}

const DURATION_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20];

/** With the figures of the log's output, where the process has one of its own. */
export const createMetrics = (output: Pick<LogOutput, 'dropped'> | null = null): Metrics => {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  if (output !== null) countDroppedLines(registry, output);
  return { registry, http: requestDurations(registry) };
};

/** For a process that shows none: whoever counts something has a registry to do it with. */
export const unshownMetrics = (): Metrics => {
  const registry = new Registry();
  return { registry, http: requestDurations(registry) };
};

const requestDurations = (registry: Registry): HttpMetrics =>
  new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time to answer a request, by route template and status.',
    labelNames: ['service', 'method', 'route', 'status'],
    buckets: DURATION_BUCKETS_SECONDS,
    registers: [registry],
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
