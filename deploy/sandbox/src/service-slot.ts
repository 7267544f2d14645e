import type { RequestListener } from 'node:http';
import { serviceAuth } from '@bubbles/auth/service-tokens.ts';
import type { Bus, EventDefinition } from '@bubbles/bus/bus.ts';
import type { MemoryBus } from '@bubbles/bus/memory/memory.ts';
import { type Infra, openService, type ServiceDefinition, type SettleScope } from '@bubbles/host/service.ts';
import { type Host, type HostOptions, hostService } from '@bubbles/host/service-host.ts';
import { readServiceConfig, type ServiceConfig } from '@bubbles/host/variables.ts';
import { unshownMetrics } from '@bubbles/http/ops/metrics.ts';
import { NO_SHEDDING } from '@bubbles/http/wire/overload.ts';
import type { Drain } from '@bubbles/http/wire/server.ts';
import type { Environment } from '@bubbles/kernel/config.ts';
import { releaseJobs } from '@bubbles/store/work/run-jobs.ts';
import type { ServiceState } from './control/routes.ts';

interface ServiceSlotOptions {
  readonly definition: ServiceDefinition;
  readonly environment: Environment;
  /** Every event of the product. */
  readonly events: readonly EventDefinition[];
  /** 0 for any that is free. */
  readonly port: number;
  readonly bus: MemoryBus;
  readonly infra: Omit<Infra, 'bus'>;
}

/** The place of one service in the sandbox: it can be stopped and started like a process of its own, at the same address. */
export interface ServiceSlot {
  readonly name: string;
  /** Its address from the first start on. */
  readonly url: string;
  readonly port: number;
  start(): Promise<void>;
  stop(): Promise<void>;
  setState(state: ServiceState): Promise<void>;
  /** At once when it is down. */
  settle(scope: SettleScope): Promise<void>;
  isDown(): boolean;
}

export const LOOPBACK = '127.0.0.1';
/** Nobody waits for a request or a receiver that hangs: the store of a service that ends keeps what it had to do. */
export const SANDBOX_DRAIN: Drain = { noticeMs: 0, deadlineMs: 1500 };

interface HostHereOptions extends Required<Pick<HostOptions, 'infra' | 'wrapHandler'>> {
  readonly definition: ServiceDefinition;
  readonly config: ServiceConfig;
  readonly events: readonly EventDefinition[];
  readonly port: number;
}

const hostHere = async ({ definition, config, events, infra, port, wrapHandler }: HostHereOptions): Promise<Host> => {
  const metrics = unshownMetrics();
  const service = openService(definition, { ...infra, config, events, metrics, migrations: 'run' });
  // No other process is at work on the store of the sandbox.
  await releaseJobs(infra.database, infra.clock.now());
  await service.releaseLeases();
  const host = await hostService({
    infra,
    metrics,
    wrapHandler,
    service,
    startsOnce: true,
    listen: { host: LOOPBACK, port },
    ops: null,
    internalAuth: serviceAuth({ audience: definition.name, callers: config.callers, clock: infra.clock }),
    publicBaseUrl: config.publicBaseUrl,
    shedder: NO_SHEDDING,
    drain: SANDBOX_DRAIN,
  });
  await host.started;
  return host;
};

export function serviceSlot({ definition, environment, events, ...options }: ServiceSlotOptions): ServiceSlot {
  const { name } = definition;
  const config = readServiceConfig(definition, environment);
  let running: { readonly host: Host; readonly bus: Bus } | null = null;
  let { port } = options;
  /** Each request waits so long before it is served. */
  let delayMs = 0;

  const delayed =
    (handler: RequestListener): RequestListener =>
    (req, res) => {
      if (delayMs === 0) return handler(req, res);
      setTimeout(handler, delayMs, req, res);
    };
  const start = async () => {
    if (running !== null) return;
    const bus = options.bus.connect();
    const infra = { ...options.infra, bus };
    const host = await hostHere({ definition, config, events, infra, port, wrapHandler: delayed });
    port = Number(new URL(host.url).port);
    running = { host, bus };
  };
  const stop = async () => {
    const current = running;
    running = null;
    await current?.host.stop();
    await current?.bus.close();
  };

  return {
    name,
    get url() {
      return `http://${LOOPBACK}:${port}`;
    },
    get port() {
      return port;
    },
    start,
    stop,
    async setState(state) {
      delayMs = state.state === 'slow' ? state.ms : 0;
      await (state.state === 'down' ? stop() : start());
    },
    settle: async (scope) => running?.host.settle(scope),
    isDown: () => running === null,
  };
}
