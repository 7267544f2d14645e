import type { RequestListener } from 'node:http';
import { serviceTokens } from '@bubbles/auth/service-tokens.ts';
import { GATEWAY } from '@bubbles/contracts/services.ts';
import type { ServiceTokens } from '@bubbles/http/client/internal-client.ts';
import { hostHttp } from '@bubbles/http/ops/http-host.ts';
import { createMetrics, type Metrics } from '@bubbles/http/ops/metrics.ts';
import { createLoadShedder, NO_SHEDDING } from '@bubbles/http/wire/overload.ts';
import type { Clock } from '@bubbles/kernel/clock.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import { startLoop } from '@bubbles/kernel/loop.ts';
import type { Counter } from 'prom-client';
import { createAdmission } from './admission/admission.ts';
import { createIdentityChecks } from './admission/identity-checks.ts';
import { createBodyAllowance } from './balancing/body-allowance.ts';
import { createMemoryShares } from './balancing/memory-shares.ts';
import { Traffic } from './balancing/traffic.ts';
import type { GatewayConfig } from './config.ts';
import { createSlowReaders } from './exchange/slow-readers.ts';
import { createFragmentClient, createFragmentPoll, readBakedFragments } from './fragments/fragment-poll.ts';
import { createFragmentRegistry, type FragmentReport } from './fragments/registry.ts';
import { createGatewayMetrics, measureBreakers } from './gateway-metrics.ts';
import { createPublicDocument } from './pages/document.ts';
import { ownFragment, ownPages } from './pages/pages.ts';
import { createForwarder } from './pipeline/forward.ts';
import { createRequestHandler } from './pipeline/handler.ts';
import { POOL_LIMITS } from './upstream/address.ts';
import { createUpstreams, type Upstreams } from './upstream/upstreams.ts';

export interface GatewayInfra {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** Those of the process when it holds more than the gateway. */
  readonly metrics?: Metrics;
  /** Stands before everything that is served: what it takes is not in flight. */
  readonly wrapHandler?: (handler: RequestListener) => RequestListener;
}

interface FragmentState extends FragmentReport {
  readonly lastError: string | null;
}

export interface Gateway {
  readonly url: string;
  readonly opsUrl: string | null;
  /** Asks every service for its fragment now; one that answers is also taken for alive again. */
  refresh(): Promise<void>;
  fragments(): readonly FragmentState[];
  inFlight(): number;
  idle(): Promise<void>;
  /** True when nothing had to be cut. */
  stop(): Promise<boolean>;
}

type Infra = GatewayInfra & { readonly metrics: Metrics };

/** Listens, learns what the services serve, and serves. */
export const startGateway = async (config: GatewayConfig, given: GatewayInfra): Promise<Gateway> => {
  const infra = { ...given, metrics: given.metrics ?? createMetrics() };
  const { clock, ids, log, metrics } = infra;
  const { wrapHandler = (handler: RequestListener) => handler } = infra;
  const { upstreams, registry, poll, traffic, shedder, handler, close } = assemble(config, infra);
  const fragments = () => registry.report().map((report) => ({ ...report, lastError: poll.lastError(report.service) }));
  const host = await hostHttp({
    handler: wrapHandler(handler),
    listen: config.listen,
    ops: config.ops,
    limits: { ...SERVER_LIMITS, headersTimeoutMs: config.limits.headersTimeoutMs, requestTimeoutMs: config.limits.requestTimeoutMs },
    drain: config.drain,
    ids,
    metrics,
    // Shedding does not take it out of the balancer: its load would go to the other replicas, which would shed next.
    notReady: () => Promise.resolve(null),
    documents: { '/internal/fragments': fragments },
  });
  await upstreams.start();
  await poll.refresh();
  const run = () => poll.refresh().then(() => null);
  const polling = startLoop({ name: 'fragments', clock, log, onFailure: metrics.loopFailed, run, pollMs: config.limits.fragmentPollMs });
  await host.open();
  return {
    url: host.url,
    opsUrl: host.opsUrl,
    refresh: () => poll.refresh(),
    fragments,
    inFlight: () => traffic.inFlight,
    idle: () => traffic.idle(),
    stop: async () => {
      const drained = await host.drain();
      await polling.stop();
      shedder.stop();
      await close();
      await host.close();
      return drained;
    },
  };
};

/** Kept connections outlive the idle time of a balancer before us, so that it never sends into one that is just closing. */
const SERVER_LIMITS = {
  keepAliveTimeoutMs: 75_000,
  idleTimeoutMs: 60_000,
  maxConnections: 20_000,
  maxHeaderBytes: 16 * 1024,
  answersHalfClosed: true,
};

const variesBy = ({ publicBaseUrl }: GatewayConfig): readonly string[] =>
  publicBaseUrl === null ? ['Host', 'X-Forwarded-Host', 'X-Forwarded-Proto'] : [];

const assemble = (config: GatewayConfig, infra: Infra) => {
  const { limits, prefixes } = config;
  const { clock, ids, log, metrics } = infra;
  const own = createGatewayMetrics(metrics);
  const tokens = serviceTokens({ caller: GATEWAY, key: config.serviceKey, clock });
  const { placesPerAddress: places, placeWaitMs, connectTimeoutMs } = limits;
  const pools = { ...POOL_LIMITS, places, placeWaitMs, connectTimeoutMs };
  const upstreams = createUpstreams({ urls: config.upstreams, clock, log, ids, onFailure: metrics.loopFailed, limits: pools });
  measureBreakers(metrics, upstreams);
  const { registry, poll, document, closeClient } = fragmentsOf(config, infra, { upstreams, tokens, rejected: own.rejectedFragments });
  const checks = createIdentityChecks({ tokens, clock, deadlineMs: limits.checkTimeoutMs, perCall: own.checksPerCall });
  const readers = createSlowReaders({ unread: createMemoryShares(limits.unreadMemory), stallMs: limits.readerStallMs });
  const placesOf = (service: string) => upstreams.addresses(service).length * places;
  const isKnown = (caller: string) => checks.known.has(caller);
  const traffic = new Traffic({ limit: limits.maxInFlight, placesOf, sheds: config.shedding, nowMs: clock.monotonic, isKnown });
  const shedder = config.shedding ? createLoadShedder() : NO_SHEDDING;
  const handler = createRequestHandler({
    ...infra,
    registry,
    poll,
    prefixes,
    traffic,
    readers,
    shedder,
    metrics: metrics.http,
    proxies: config.trustedProxies,
    origins: config,
    known: checks.known,
    forward: createForwarder({
      admission: createAdmission({ checks, upstreams }),
      checks,
      upstreams,
      traffic,
      bodies: createMemoryShares(limits.bodyMemory),
      bodyAllowance: createBodyAllowance(limits.bodyAllowance, clock.monotonic),
      readers,
      limits,
      clock,
      upstreamSeconds: own.upstreamSeconds,
    }),
    showPage: ownPages({ document, varyBy: variesBy(config) }),
  });
  const close = async () => {
    await Promise.all([upstreams.stop(), checks.close(), closeClient()]);
  };
  return { upstreams, registry, poll, traffic, shedder, handler, close };
};

interface FragmentParts {
  readonly upstreams: Upstreams;
  readonly tokens: ServiceTokens;
  readonly rejected: Counter<'upstream' | 'code'>;
}

const fragmentsOf = (config: GatewayConfig, { clock, log }: Infra, { upstreams, tokens, rejected }: FragmentParts) => {
  const { prefixes } = config;
  const own = ownFragment();
  const onRejected = (upstream: string, code: string) => rejected.inc({ upstream, code });
  const document = createPublicDocument({ own, prefixes, log, onRejected });
  const baked = readBakedFragments(config.bakedFragments, upstreams.services);
  const onChange = document.update;
  const registry = createFragmentRegistry({ own, baked, prefixes, clock, log, onRejected, onChange });
  const client = createFragmentClient(tokens);
  return { registry, poll: createFragmentPoll({ registry, upstreams, client, clock }), document, closeClient: client.close };
};
