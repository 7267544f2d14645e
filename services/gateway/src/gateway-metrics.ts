import type { Metrics } from '@bubbles/http/ops/metrics.ts';
import { Counter, Gauge, Histogram } from 'prom-client';
import type { Upstreams } from './upstream/upstreams.ts';

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const BATCH_SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256];
const BREAKER_VALUES = { closed: 0, 'half-open': 1, open: 2 } as const;

/** What the gateway measures beside the requests that it has answered. */
export const createGatewayMetrics = ({ registry }: Metrics) => ({
  upstreamSeconds: new Histogram({
    name: 'gateway_upstream_seconds',
    help: 'From sending a request to a service to the end of its answer.',
    labelNames: ['upstream'],
    buckets: SECONDS,
    registers: [registry],
  }),
  checksPerCall: new Histogram({
    name: 'gateway_checks_batch_size',
    help: 'Credentials in one call to identity.',
    buckets: BATCH_SIZES,
    registers: [registry],
  }),
  rejectedFragments: new Counter({
    name: 'gateway_fragment_rejected_total',
    help: 'Refused fragments and documents.',
    labelNames: ['upstream', 'code'],
    registers: [registry],
  }),
});

export const measureBreakers = ({ registry }: Metrics, upstreams: Upstreams): Gauge =>
  new Gauge({
    name: 'gateway_breaker_state',
    help: '0 closed, 1 half-open, 2 open.',
    labelNames: ['upstream', 'address'],
    registers: [registry],
    collect() {
      this.reset();
      for (const service of upstreams.services)
        for (const { origin, breaker } of upstreams.addresses(service))
          this.set({ upstream: service, address: origin }, BREAKER_VALUES[breaker.state]);
    },
  });
