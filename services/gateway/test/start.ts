import { systemClock } from '@bubbles/kernel/clock.ts';
import { systemIds } from '@bubbles/kernel/ids.ts';
import { type MemoryLog, memoryLog } from '@bubbles/testing/memory-log.ts';
import { GATEWAY_LIMITS, type GatewayConfig, type GatewayLimits, prefixesOf } from '../src/config.ts';
import { type Gateway, type GatewayInfra, startGateway } from '../src/gateway.ts';
import {
  BUBBLES_FRAGMENT,
  type FakeIdentity,
  type FakeService,
  IDENTITY_FRAGMENT,
  serviceKey,
  startFakeIdentity,
  startFakeService,
} from './fake-services.ts';

export const TOKEN = 'svc_pat_tested';
export const AUTHORIZATION = { authorization: `Bearer ${TOKEN}` };

/** In earnest a second, in which a machine that is busy with other tests may not come to answer what is answered at once. */
const PATIENT: Partial<GatewayLimits> = { checkTimeoutMs: 10_000, connectTimeoutMs: 10_000 };
/** For a test that waits for a time limit. */
export const QUICK: Partial<GatewayLimits> = { answerTimeoutMs: 400, exchangeTimeoutMs: 1200, checkTimeoutMs: 400, connectTimeoutMs: 300 };

export interface World {
  readonly gateway: Gateway;
  readonly url: string;
  readonly identity: FakeIdentity;
  readonly bubbles: FakeService;
  readonly log: MemoryLog;
  fetch(path: string, init?: RequestInit): Promise<Response>;
  stop(): Promise<void>;
}

export interface WorldOptions {
  readonly config?: Partial<GatewayConfig>;
  readonly limits?: Partial<GatewayLimits>;
  readonly infra?: Partial<GatewayInfra>;
}

export const aConfig = (overrides: Partial<GatewayConfig> = {}): GatewayConfig => {
  const upstreams = overrides.upstreams ?? {};
  return {
    listen: { host: '127.0.0.1', port: 0 },
    ops: { host: '127.0.0.1', port: 0 },
    drain: { noticeMs: 0, deadlineMs: 500 },
    publicBaseUrl: null,
    allowedHosts: [],
    trustedProxies: { has: () => false },
    upstreams,
    prefixes: prefixesOf(upstreams),
    serviceKey: serviceKey(),
    bakedFragments: '/nowhere',
    shedding: false,
    limits: GATEWAY_LIMITS,
    ...overrides,
  };
};

/** The gateway on real sockets before an identity and a service of the test's own. */
export const startWorld = async ({ config = {}, limits = {}, infra = {} }: WorldOptions = {}): Promise<World> => {
  const identity = await startFakeIdentity(IDENTITY_FRAGMENT);
  const bubbles = await startFakeService(BUBBLES_FRAGMENT);
  const log = memoryLog();
  const upstreams = { 'identity-and-oauth': [identity.url], 'bubbles-query': [bubbles.url], ...config.upstreams };
  const gateway = await startGateway(aConfig({ ...config, upstreams, limits: { ...GATEWAY_LIMITS, ...PATIENT, ...limits } }), {
    clock: systemClock(),
    ids: systemIds(),
    log,
    ...infra,
  });
  return {
    gateway,
    url: gateway.url,
    identity,
    bubbles,
    log,
    fetch: (path, init) => fetch(`${gateway.url}${path}`, { redirect: 'manual', ...init }),
    stop: async () => {
      await gateway.stop();
      await Promise.all([identity.stop(), bubbles.stop()]);
    },
  };
};
