import type { RequestListener } from 'node:http';
import type { Ids } from '@bubbles/kernel/ids.ts';
import type { Address } from '../wire/listen.ts';
import { type Drain, type Limits, startServer } from '../wire/server.ts';
import type { Metrics } from './metrics.ts';
import { type OpsDocuments, startOpsServer } from './ops-server.ts';

export interface HttpHostOptions {
  readonly handler: RequestListener;
  readonly listen: Address;
  /** Where probes and metrics are served; null for nowhere. */
  readonly ops: Address | null;
  readonly limits: Limits;
  readonly drain: Drain;
  readonly ids: Ids;
  readonly metrics: Metrics;
  /** Why no traffic should come, null when it may; draining and starting are known here already. */
  readonly notReady: () => Promise<string | null>;
  /** Further pages beside the probes. */
  readonly documents?: OpsDocuments;
}

/** A listener with its probes: what every process on the wire has, the gateway too. */
export interface HttpHost {
  readonly url: string;
  readonly opsUrl: string | null;
  /** Goes on the wire. Until then connections are refused, so that who knows another address goes there. */
  open(): Promise<void>;
  /** Not ready, then the grace for balancers, then everything in flight; true when nothing had to be cut. */
  drain(): Promise<boolean>;
  /** The probes go last. */
  close(): Promise<void>;
}

export const hostHttp = async (options: HttpHostOptions): Promise<HttpHost> => {
  let phase: 'starting' | 'serving' | 'draining' = 'starting';
  const server = await startServer({
    handler: options.handler,
    address: options.listen,
    limits: options.limits,
    ids: options.ids,
    offTheWire: true,
  });
  const notReady = async () => (phase === 'serving' ? await options.notReady() : phase);
  const ops = options.ops && (await startOpsServer({ ...options, address: options.ops, notReady }));
  return {
    url: server.url,
    opsUrl: ops?.url ?? null,
    open: async () => {
      await server.restore();
      phase = 'serving';
    },
    drain: () => {
      phase = 'draining';
      return server.drain(options.drain);
    },
    close: async () => {
      await server.cut();
      await ops?.cut();
    },
  };
};
