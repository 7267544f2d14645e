import type { InternalAuth } from '@bubbles/auth/guards.ts';
import type { Bus } from '@bubbles/bus/bus.ts';
import type { MemoryBus } from '@bubbles/bus/memory/memory.ts';
import type { Infra, SettleScope } from '@bubbles/host/service.ts';
import { type Host, hostService } from '@bubbles/host/service-host.ts';
import type { ServiceParts } from '@bubbles/host/service-process.ts';
import { NO_SHEDDING } from '@bubbles/http/wire/overload.ts';
import type { Drain } from '@bubbles/http/wire/server.ts';
import { DomainError } from '@bubbles/kernel/errors.ts';
import type { Job, RunningJobs } from '@bubbles/store/work/run-jobs.ts';
import { Registry } from 'prom-client';
import type { ServiceState } from './control/routes.ts';

export interface SlotOptions {
  readonly name: string;
  /** 0 for any that is free. */
  readonly port: number;
  readonly bus: MemoryBus;
  readonly infra: Omit<Infra, 'bus'>;
  readonly internalAuth: InternalAuth;
  readonly publicBaseUrl: string;
  readonly build: (infra: Infra, registry: Registry) => ServiceParts;
  readonly startJobs: (jobs: readonly Job[]) => Promise<RunningJobs>;
}

/** The place of one service in the sandbox: it can be stopped and started like a process of its own, at the same address. */
export interface Slot {
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

interface Running {
  readonly host: Host;
  readonly jobs: () => Promise<void>;
  readonly parts: ServiceParts;
  readonly bus: Bus;
}

const LOOPBACK = '127.0.0.1';
/** Nobody waits for a request or a receiver that hangs: the store of a service that ends keeps what it had to do. */
export const SANDBOX_DRAIN: Drain = { noticeMs: 0, deadlineMs: 1500 };

export function slot(options: SlotOptions): Slot {
  let running: Running | null = null;
  let { port } = options;

  const start = async () => {
    if (running !== null) return;
    const bus = options.bus.connect();
    const registry = new Registry();
    const infra = { ...options.infra, bus };
    const parts = options.build(infra, registry);
    let jobs: RunningJobs | null = null;
    const host = await hostService({
      service: parts.service,
      infra,
      listen: { host: LOOPBACK, port },
      ops: null,
      authenticator: parts.authenticator,
      internalAuth: options.internalAuth,
      publicBaseUrl: options.publicBaseUrl,
      metrics: { registry, http: { served: () => undefined } },
      shedder: NO_SHEDDING,
      drain: SANDBOX_DRAIN,
      async startJobs(wanted) {
        jobs = await options.startJobs(wanted);
        return jobs;
      },
    });
    await host.started;
    port = Number(new URL(host.url).port);
    running = { host, parts, bus, jobs: async () => jobs?.idle() };
  };
  const stop = async () => {
    const current = running;
    running = null;
    if (current === null) return;
    await current.host.stop();
    await current.parts.close();
    await current.bus.close();
  };

  return {
    name: options.name,
    get url() {
      return `http://${LOOPBACK}:${port}`;
    },
    get port() {
      return port;
    },
    start,
    stop,
    async setState(state) {
      if (state.state === 'down') return stop();
      await start();
      if (running === null) throw new DomainError('internal', 'The service did not start.');
      await running.host.setState(state.state === 'slow' ? { slowMs: state.ms } : 'up');
    },
    async settle(scope) {
      await running?.jobs();
      await running?.parts.service.settle(scope);
    },
    isDown: () => running === null,
  };
}
