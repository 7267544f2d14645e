import type { KeyObject } from 'node:crypto';
import { SERVER_VARIABLES, serverConfig } from '@bubbles/http/ops/run-server.ts';
import type { Address } from '@bubbles/http/wire/listen.ts';
import type { Drain } from '@bubbles/http/wire/server.ts';
import { type Environment, readConfig } from '@bubbles/kernel/config.ts';
import { baseUrl, commaList, type PeerList, peerList, serviceKey, wholeNumber } from '@bubbles/kernel/config-values.ts';
import type { LogLevel } from '@bubbles/kernel/log.ts';
import { z } from 'zod';
import type { AllowanceLimits } from './balancing/body-allowance.ts';
import type { MemoryLimits } from './balancing/memory-shares.ts';
import { OWNED_PREFIXES, type OwnedPrefixes } from './documents/ownership.ts';
import type { UpstreamUrls } from './upstream/upstreams.ts';

export interface GatewayConfig {
  readonly listen: Address;
  /** Where probes, metrics and the fragments are shown; null for nowhere. */
  readonly ops: Address | null;
  readonly drain: Drain;
  /** Origin under which clients reach the product; null takes it from each request. */
  readonly publicBaseUrl: string | null;
  /** Empty for any. */
  readonly allowedHosts: readonly string[];
  readonly trustedProxies: PeerList;
  readonly upstreams: UpstreamUrls;
  readonly prefixes: OwnedPrefixes;
  /** Signs the tokens that the services know the gateway by. */
  readonly serviceKey: KeyObject;
  /** Folder of the fragments that came with the image. */
  readonly bakedFragments: string;
  readonly shedding: boolean;
  readonly limits: GatewayLimits;
}

export interface GatewayLimits {
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly answerTimeoutMs: number;
  readonly exchangeTimeoutMs: number;
  readonly checkTimeoutMs: number;
  readonly fragmentPollMs: number;
  /** Requests of each kind, usual and long, that a replica is given at once. */
  readonly placesPerAddress: number;
  /** How long a request of a burst may wait for a service. */
  readonly placeWaitMs: number;
  /** The time that a body may take to arrive once it is asked for. */
  readonly bodyTimeoutMs: number;
  /** The time that a client may take to read 64 KiB of an answer. */
  readonly readerStallMs: number;
  /** For answers that clients have not read. */
  readonly unreadMemory: MemoryLimits;
  /** For bodies that have not arrived whole. */
  readonly bodyMemory: MemoryLimits;
  /** For bodies of requests without a credential, of each client network. */
  readonly bodyAllowance: AllowanceLimits;
  readonly maxInFlight: number;
}

export const GATEWAY_LIMITS: GatewayLimits = {
  headersTimeoutMs: 15_000,
  requestTimeoutMs: 30_000,
  connectTimeoutMs: 1000,
  answerTimeoutMs: 10_000,
  exchangeTimeoutMs: 30_000,
  checkTimeoutMs: 1000,
  fragmentPollMs: 10_000,
  placesPerAddress: 64,
  placeWaitMs: 5000,
  bodyTimeoutMs: 15_000,
  readerStallMs: 10_000,
  unreadMemory: { totalBytes: 128 * 1024 * 1024, shareBytes: 16 * 1024 * 1024 },
  bodyMemory: { totalBytes: 64 * 1024 * 1024, shareBytes: 4 * 1024 * 1024 },
  bodyAllowance: { burstBytes: 8 * 1024 * 1024, bytesPerSecond: 512 * 1024 },
  maxInFlight: 2048,
};

const UPSTREAM_URL = /^(?:dns\+)?https?:\/\/[^/?#@]+\/?$/;

/** `identity-and-oauth=http://a:4001,http://b:4001;bubbles-query=dns+http://bubbles-query-headless:4002`, or a comma before the next name. */
const upstreams = () =>
  z.string().transform((text, context): UpstreamUrls => {
    const urls: Record<string, string[]> = {};
    let service = '';
    for (const item of text.split(/[,;\s]+/).filter((part) => part !== '')) {
      const [, name, url = ''] = /^(?:([a-z][a-z-]*)=)?(.+)$/.exec(item) ?? [];
      service = name ?? service;
      if (!Object.hasOwn(OWNED_PREFIXES, service) || !UPSTREAM_URL.test(url)) {
        context.issues.push({ code: 'custom', message: 'must be a list of <service>=<URL>,<URL>… of known services', input: undefined });
        return z.NEVER;
      }
      urls[service] = [...(urls[service] ?? []), url];
    }
    return urls;
  });

/** All variables of the process. */
export const GatewayVariables = z.object({
  ...SERVER_VARIABLES,
  PUBLIC_BASE_URL: baseUrl()
    .nullable()
    .default(null)
    .describe('The origin under which clients reach the product, the same for all: `https://api.example.com`'),
  ALLOWED_HOSTS: commaList()
    .prefault('')
    .describe('Names that clients may reach the product by, beside that of `PUBLIC_BASE_URL`; without both, any'),
  TRUSTED_PROXIES: peerList()
    .prefault('')
    .describe('Addresses and networks of balancers whose forwarded headers are believed: `10.0.0.0/8, ::1`'),
  UPSTREAMS: upstreams().describe(
    'Where the services are: `identity-and-oauth=http://a:8080,http://b:8080;signup=dns+http://signup:8080`. With `dns+` each address of the name is a replica',
  ),
  SERVICE_KEY: serviceKey(),
  BAKED_FRAGMENTS: z
    .string()
    .optional()
    .describe('A folder with the OpenAPI documents of the services, for when one was not heard yet; they come with the image'),
  DRAIN_NOTICE: SERVER_VARIABLES.DRAIN_NOTICE.unwrap()
    .prefault('5s')
    .describe(SERVER_VARIABLES.DRAIN_NOTICE.description ?? ''),
  MAX_IN_FLIGHT: wholeNumber(1, 100_000)
    .default(GATEWAY_LIMITS.maxInFlight)
    .describe(
      'Requests in flight, above which the gateway refuses; callers whose credential was good before may have half as many beside them',
    ),
});

/** The committed fragments lie beside the code, in the repository and in the image. */
export const COMMITTED_FRAGMENTS = new URL('../../../contracts/openapi/', import.meta.url).pathname;

/** A service without an address owns nothing: its paths are not found. */
export const prefixesOf = (urls: UpstreamUrls, all: OwnedPrefixes = OWNED_PREFIXES): OwnedPrefixes =>
  Object.fromEntries(Object.entries(all).filter(([service]) => service === 'gateway' || Object.hasOwn(urls, service)));

export const readGatewayConfig = (env: Environment): { readonly config: GatewayConfig; readonly logLevel: LogLevel } => {
  const read = readConfig(GatewayVariables, env);
  const { logLevel, ...server } = serverConfig(read);
  return {
    logLevel,
    config: {
      ...server,
      publicBaseUrl: read.PUBLIC_BASE_URL,
      allowedHosts: read.ALLOWED_HOSTS,
      trustedProxies: read.TRUSTED_PROXIES,
      upstreams: read.UPSTREAMS,
      prefixes: prefixesOf(read.UPSTREAMS),
      serviceKey: read.SERVICE_KEY,
      bakedFragments: read.BAKED_FRAGMENTS ?? COMMITTED_FRAGMENTS,
      limits: { ...GATEWAY_LIMITS, maxInFlight: read.MAX_IN_FLIGHT },
    },
  };
};
