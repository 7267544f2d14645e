import type { Metrics } from '@bubbles/http/ops/metrics.ts';
import { Counter, Gauge, Histogram } from 'prom-client';
import type { Upstreams } from './upstream/upstreams.ts';

/** What the gateway measures beside the requests that it has answered. */
export interface GatewayMetrics {
  upstreamServed(service: string, seconds: number): void;
  checksSent(size: number): void;
  fragmentRejected(service: string, code: string): void;
  watchBreakers(upstreams: Upstreams): void;
}

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const BATCH_SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256];
const BREAKER_VALUES = { closed: 0, probing: 1, open: 2 } as const;

export const gatewayMetrics = ({ registry }: Metrics): GatewayMetrics => {
  const registers = [registry];
  const upstream = new Histogram({
    name: 'gateway_upstream_seconds',
    help: 'From sending a request to a service to the end of its answer.',
    labelNames: ['upstream'],
    buckets: SECONDS,
    registers,
  });
  const checks = new Histogram({
    name: 'gateway_checks_batch_size',
    help: 'Credentials in one call to identity.',
    buckets: BATCH_SIZES,
    registers,
  });
  const rejected = new Counter({
    name: 'gateway_fragment_rejected_total',
    help: 'Refused fragments and documents.',
    labelNames: ['upstream', 'code'],
    registers,
  });
  return {
    upstreamServed: (service, seconds) => upstream.observe({ upstream: service }, seconds),
    checksSent: (size) => checks.observe(size),
    fragmentRejected: (service, code) => rejected.inc({ upstream: service, code }),
    watchBreakers: (upstreams) => {
      new Gauge({
        name: 'gateway_breaker_state',
        help: '0 closed, 1 probing, 2 open.',
        labelNames: ['upstream', 'address'],
        registers,
        collect() {
          this.reset();
          for (const service of upstreams.services)
            for (const address of upstreams.addresses(service))
              this.set({ upstream: service, address: address.origin }, BREAKER_VALUES[address.breakerState()]);
        },
      });
    },
  };
};
