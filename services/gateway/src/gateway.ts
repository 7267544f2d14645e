import { serviceTokens } from '@bubbles/auth/service-token.ts';
import { hostHttp } from '@bubbles/http/ops/http-host.ts';
import { createMetrics, type Metrics } from '@bubbles/http/ops/metrics.ts';
import { loadShedder, NO_SHEDDING } from '@bubbles/http/wire/overload.ts';
import type { Clock } from '@bubbles/kernel/clock.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import { startLoop } from '@bubbles/kernel/loop.ts';
import { admission, handingOver } from './admission/admit.ts';
import { type IdentityChecks, identityChecks } from './admission/identity-checks.ts';
import { memoryShares } from './balancing/memory-shares.ts';
import type { GatewayConfig } from './config.ts';
import { type SlowReaders, slowReaders } from './exchange/slow-readers.ts';
import { readBakedFragments } from './fragments/baked.ts';
import { fragmentClient } from './fragments/fetch-fragment.ts';
import { type FragmentPoll, fragmentPoll } from './fragments/fragment-poll.ts';
import { type FragmentRegistry, type FragmentReport, fragmentRegistry } from './fragments/registry.ts';
import { type GatewayMetrics, gatewayMetrics } from './gateway-metrics.ts';
import { type PublicDocument, publicDocument } from './pages/document.ts';
import { ownFragment } from './pages/own-fragment.ts';
import { ownPages } from './pages/pages.ts';
import { forwarding } from './pipeline/forward.ts';
import { type Before, requestHandler } from './pipeline/handler.ts';
import { requestRouting } from './pipeline/route-request.ts';
import { countTraffic, type Traffic } from './pipeline/traffic.ts';
import { POOL_LIMITS } from './upstream/address.ts';
import { openUpstreams, type Upstreams } from './upstream/upstreams.ts';

export interface GatewayInfra {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** Those of the process when it holds more than the gateway. */
  readonly metrics?: Metrics;
  /** May take a request before it is routed; such a one is not counted as in flight. */
  readonly before?: Before;
}

export interface FragmentState extends FragmentReport {
  readonly lastError: string | null;
}

export interface Gateway extends RunningGateway {
  /** Listens, learns what the services serve, and serves. The other members are for afterwards. */
  start(): Promise<void>;
}

interface RunningGateway {
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

export const createGateway = (config: GatewayConfig, infra: GatewayInfra): Gateway => {
  let started: RunningGateway | null = null;
  const running = (): RunningGateway => {
    if (started === null) throw new TypeError('The gateway has not been started.');
    return started;
  };
  return {
    start: async () => {
      started = await startGateway(config, { ...infra, metrics: infra.metrics ?? createMetrics() });
    },
    get url() {
      return running().url;
    },
    get opsUrl() {
      return running().opsUrl;
    },
    refresh: () => running().refresh(),
    fragments: () => running().fragments(),
    inFlight: () => running().inFlight(),
    idle: () => running().idle(),
    stop: () => started?.stop() ?? Promise.resolve(true),
  };
};

type Infra = GatewayInfra & { readonly metrics: Metrics };

interface Parts {
  readonly upstreams: Upstreams;
  readonly registry: FragmentRegistry;
  readonly poll: FragmentPoll;
  readonly document: PublicDocument;
  readonly checks: IdentityChecks;
  readonly traffic: Traffic;
  readonly readers: SlowReaders;
  readonly metrics: GatewayMetrics;
  readonly close: () => Promise<void>;
}

const startGateway = async (config: GatewayConfig, infra: Infra): Promise<RunningGateway> => {
  const { clock, ids, log, metrics } = infra;
  const parts = assemble(config, infra);
  const { poll, registry, traffic } = parts;
  const shedder = config.shedding ? loadShedder() : NO_SHEDDING;
  const fragments = () => registry.report().map((report) => ({ ...report, lastError: poll.lastError(report.service) }));
  const host = await hostHttp({
    handler: requestHandler({
      ...infra,
      ...parts,
      shedder,
      metrics: metrics.http,
      before: infra.before ?? null,
      proxies: config.trustedProxies,
      origins: config,
      maxInFlight: config.limits.maxInFlight,
      isKnown: (hash) => parts.checks.isKnown(hash),
      route: requestRouting({ registry, poll, prefixes: config.prefixes }),
      forward: forwarderOf(config, infra, parts),
      showPage: ownPages({ document: parts.document, varyBy: variesBy(config) }),
    }),
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
  await parts.upstreams.start();
  await poll.refresh();
  const polling = startLoop({
    name: 'fragments',
    clock,
    log,
    run: () => poll.refresh().then(() => null),
    pollMs: config.limits.fragmentPollMs,
  });
  await host.open();
  return {
    url: host.url,
    opsUrl: host.opsUrl,
    refresh: () => poll.refresh(),
    fragments,
    inFlight: () => traffic.inFlight(),
    idle: () => traffic.idle(),
    stop: async () => {
      const drained = await host.drain();
      await polling.stop();
      shedder.stop();
      await parts.close();
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

const assemble = (config: GatewayConfig, { clock, ids, log, metrics }: Infra): Parts => {
  const { limits, prefixes } = config;
  const measured = gatewayMetrics(metrics);
  const tokens = serviceTokens({ caller: 'gateway', key: config.serviceKey, clock });
  const pools = {
    ...POOL_LIMITS,
    connections: limits.connectionsPerAddress,
    placeWaitMs: limits.placeWaitMs,
    connectTimeoutMs: limits.connectTimeoutMs,
  };
  const upstreams = openUpstreams({ urls: config.upstreams, clock, log, ids, limits: pools });
  const own = ownFragment();
  const onRejected = (service: string, code: string) => measured.fragmentRejected(service, code);
  const document = publicDocument({ own, prefixes, log, onRejected });
  const baked = readBakedFragments(config.bakedFragments, upstreams.services);
  const registry = fragmentRegistry({ own, baked, prefixes, clock, log, onRejected, onChange: (fragments) => document.update(fragments) });
  const client = fragmentClient(tokens);
  const checks = identityChecks({ tokens, clock, deadlineMs: limits.checkTimeoutMs, onBatch: (size) => measured.checksSent(size) });
  measured.watchBreakers(upstreams);
  return {
    upstreams,
    registry,
    poll: fragmentPoll({ registry, upstreams, client, clock }),
    document,
    checks,
    traffic: countTraffic(),
    readers: slowReaders({ unread: memoryShares(limits.unreadMemory), stallMs: limits.readerStallMs }),
    metrics: measured,
    close: async () => {
      await Promise.all([upstreams.stop(), checks.close(), client.close()]);
    },
  };
};

const forwarderOf = ({ limits }: GatewayConfig, { clock, ids }: Infra, { checks, upstreams, readers, metrics }: Parts) =>
  forwarding({
    admit: admission({ checks, upstreams }),
    handOver: handingOver({ checks }),
    onIdentityAnswer: ({ credential }, head) => {
      if (credential !== null) checks.relayed(credential.hash, head);
    },
    upstreams,
    bodies: memoryShares(limits.bodyMemory),
    readers,
    limits,
    clock,
    ids,
    onServed: (service, seconds) => metrics.upstreamServed(service, seconds),
  });
