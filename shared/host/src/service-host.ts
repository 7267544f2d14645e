import type { RequestListener } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { type AuthPorts, internal } from '@bubbles/auth/guards.ts';
import { API_ERRORS } from '@bubbles/contracts/access.ts';
import { GATEWAY } from '@bubbles/contracts/services.ts';
import { fragmentRoute } from '@bubbles/http/document/fragment-route.ts';
import { hostHttp } from '@bubbles/http/ops/http-host.ts';
import type { Metrics } from '@bubbles/http/ops/metrics.ts';
import { createHttpApp } from '@bubbles/http/routes/app.ts';
import type { HttpAppOptions } from '@bubbles/http/routes/serve-route.ts';
import type { Address } from '@bubbles/http/wire/listen.ts';
import { type Drain, SERVICE_LIMITS } from '@bubbles/http/wire/server.ts';
import { backoffMs, singleFlight, withTimeout } from '@bubbles/kernel/concurrency.ts';
import { isUnavailable } from '@bubbles/kernel/errors.ts';
import { redacted } from '@bubbles/kernel/log.ts';
import { StartupError } from '@bubbles/kernel/run-process.ts';
import { accessRefusalOf } from '@bubbles/store/collection.ts';
import { type Job, type RunningJobs, runJobs } from '@bubbles/store/work/run-jobs.ts';
import type { Infra, Service, SettleScope } from './service.ts';
import { measureJobs } from './service-metrics.ts';

export interface HostOptions extends Pick<AuthPorts, 'internalAuth'>, Pick<HttpAppOptions<AuthPorts>, 'shedder' | 'publicBaseUrl'> {
  readonly service: Service;
  readonly infra: Infra;
  readonly listen: Address;
  /** Where probes and metrics are served; null for nowhere. */
  readonly ops: Address | null;
  readonly metrics: Metrics;
  readonly drain: Drain;
  /** By the clock of `infra` when absent. */
  readonly startJobs?: (jobs: readonly Job[]) => RunningJobs;
  /** True when the store runs in this process, so that a failed start would fail again. */
  readonly startsOnce?: boolean;
  /** Stands before everything that is served. */
  readonly wrapHandler?: (handler: RequestListener) => RequestListener;
}

export interface Host {
  readonly url: string;
  readonly opsUrl: string | null;
  /** Resolves when the service serves; rejects when it cannot start. */
  readonly started: Promise<void>;
  /** Resolves when no job runs and the service has settled. */
  settle(scope: SettleScope): Promise<void>;
  /** Not ready, requests in flight, jobs, then the service; the composition closes database and bus afterwards. True when nothing had to be cut. */
  stop(): Promise<boolean>;
}

export const INSTANT_DRAIN: Drain = { noticeMs: 0, deadlineMs: 5000 };

/** Below the gateway's own limit and above the store's. */
const BUDGET_MS = 20_000;
/** Shorter than a probe of Kubernetes waits, so that the reason is heard. */
const PING_LIMIT_MS = 1500;
const BROKER_CHECK_LIMIT_MS = 2000;
const SHEDDING_LIMIT_MS = 10_000;

/** Shows its probes first, then starts the service, again and again while its store cannot be reached, and goes on the wire. */
export const hostService = async (options: HostOptions): Promise<Host> => {
  const { service, infra, shedder, wrapHandler = (handler) => handler } = options;
  const stopping = new AbortController();
  let waitsFor: string | null = null;
  const http = await hostHttp({
    ...options,
    ids: infra.ids,
    limits: SERVICE_LIMITS,
    handler: wrapHandler(handlerOf(options)),
    notReady: readiness(options),
    whyStarting: () => waitsFor,
    warnings: () => infra.bus.state().faults,
  });
  const onWait = (reason: string) => {
    waitsFor = reason;
  };
  const running = startService(options, { stopping: stopping.signal, onWait }).then(async (jobs) => {
    if (jobs !== null) await http.open();
    return jobs;
  });
  const stop = async () => {
    stopping.abort();
    const [drained, jobs] = await Promise.all([http.drain(), running.catch(() => null)]);
    await jobs?.stop();
    if (jobs !== null) await service.stop(options.drain.deadlineMs);
    shedder.stop();
    await http.close();
    return drained;
  };
  let stopped: Promise<boolean> | null = null;
  return {
    url: http.url,
    opsUrl: http.opsUrl,
    started: running.then(() => undefined),
    async settle(scope) {
      const jobs = await running;
      await jobs?.idle();
      await service.settle(scope);
    },
    stop: () => {
      stopped ??= stop();
      return stopped;
    },
  };
};

const handlerOf = ({ service, infra, metrics, shedder, publicBaseUrl, internalAuth }: HostOptions) =>
  createHttpApp({
    ...infra,
    name: service.name,
    routes: [...service.routes, fragmentRoute({ ...service, errors: API_ERRORS }, internal([GATEWAY]))],
    guardPorts: { authenticator: service.authenticator, internalAuth },
    idempotency: service.idempotency,
    metrics: metrics.http,
    shedder,
    publicBaseUrl,
    budgetMs: BUDGET_MS,
  }).callback();

/** The broker never makes a service unready: its outbox keeps what it cannot publish. */
const readiness = ({ infra, shedder }: HostOptions): (() => Promise<string | null>) => {
  let lastFault: string | null = null;
  const ping = singleFlight(async () => {
    lastFault = await infra.database.ping().then(
      () => null,
      (error: unknown) => `database ${accessRefusalOf(error) ?? `unreachable: ${reasonOf(error)}`}`,
    );
    return lastFault;
  });
  return async () => {
    const since = shedder.refusingSince();
    if (since !== null && performance.now() - since > SHEDDING_LIMIT_MS) return 'overloaded';
    // The ping itself never rejects. It goes on after its limit, and what it finds out is the reason of the next answers.
    return await withTimeout(PING_LIMIT_MS, () => ping()).catch(() => lastFault ?? 'database silent');
  };
};

interface StartingOptions {
  readonly stopping: AbortSignal;
  readonly onWait: (reason: string) => void;
}

/** Waits in real time, since a store comes back in real time. Null when it was told to stop before it had started. */
const startService = async (options: HostOptions, { stopping, onWait }: StartingOptions): Promise<RunningJobs | null> => {
  const { service, infra, metrics } = options;
  const { startJobs = (jobs) => runJobs({ ...infra, jobs, metrics: measureJobs(metrics, { ...infra, jobs }) }) } = options;
  const broker = checkBroker(options);
  for (let failures = 0; ; failures += 1) {
    const reason = await unlessRefused(tryToStart(options), broker);
    if (reason === null) break;
    onWait(reason);
    await pause(backoffMs(failures, Math.random), undefined, { signal: stopping }).catch(() => undefined);
    if (stopping.aborted) return null;
  }
  for (const handler of service.eventHandlers) await infra.bus.consume(service.name, handler);
  return startJobs(service.jobs);
};

/** What the store says, once the broker was asked too: an operator learns at once of everything that is refused, each in a line. */
const unlessRefused = async (store: Promise<string | null>, broker: Promise<void>): Promise<string | null> => {
  const results = await Promise.allSettled([store, broker]);
  const faults: readonly unknown[] = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
  if (faults.length === 2 && faults.every(isRefusal)) throw new StartupError(faults.map(({ message }) => message).join('\n'), faults[0]);
  if (faults.length > 0) throw faults.find((fault) => !isRefusal(fault)) ?? faults[0];
  return store;
};

const isRefusal = (fault: unknown): fault is StartupError => fault instanceof StartupError;

/** A missing or slow broker does not stop the start; a refusal by the broker does. */
const checkBroker = async ({ service, infra }: HostOptions): Promise<void> => {
  const definitions = [...service.publishes, ...service.eventHandlers.map(({ event }) => event)];
  const slow = pause(BROKER_CHECK_LIMIT_MS, undefined, { ref: false });
  await Promise.race([infra.bus.check(definitions), slow]);
};

/** Tries to start; returns the reason when the start has to wait, null when it succeeded. */
const tryToStart = async ({ service, infra: { log }, startsOnce }: HostOptions): Promise<string | null> => {
  try {
    await service.start();
    return null;
  } catch (error) {
    const refusal = accessRefusalOf(error);
    if (refusal !== null) throw new StartupError(`MONGODB_URL: the database ${refusal}.`, error);
    if (startsOnce || !isUnavailable(error)) throw error;
    log.warn('service cannot start yet, trying again', { error });
    return reasonOf(error);
  }
};

/** The message of a store error is general; its cause has the details. */
const reasonOf = (error: unknown): string => {
  if (!Error.isError(error)) return String(error);
  return redacted(Error.isError(error.cause) ? error.cause.message : error.message);
};
