import type { KeyObject } from 'node:crypto';
import type { Address } from '@bubbles/http/wire/listen.ts';
import type { Drain } from '@bubbles/http/wire/server.ts';
import { type Environment, readConfig } from '@bubbles/kernel/config.ts';
import {
  baseUrl,
  commaList,
  duration,
  flag,
  type PeerList,
  peerList,
  port,
  signingKey,
  wholeNumber,
} from '@bubbles/kernel/config-values.ts';
import { z } from 'zod';
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
  readonly connectionsPerAddress: number;
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
  connectionsPerAddress: 64,
  placeWaitMs: 5000,
  bodyTimeoutMs: 15_000,
  readerStallMs: 10_000,
  unreadMemory: { totalBytes: 128 * 1024 * 1024, shareBytes: 16 * 1024 * 1024 },
  bodyMemory: { totalBytes: 64 * 1024 * 1024, shareBytes: 4 * 1024 * 1024 },
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

/** All that its process is told. */
export const GatewayVariables = z.object({
  HOST: z.string().default('0.0.0.0'),
  PORT: port().default(8080),
  OPS_HOST: z.string().default('0.0.0.0'),
  OPS_PORT: port().default(9090),
  PUBLIC_BASE_URL: baseUrl().nullable().default(null),
  ALLOWED_HOSTS: commaList().default([]),
  TRUSTED_PROXIES: peerList().default({ has: () => false }),
  UPSTREAMS: upstreams(),
  SERVICE_KEY: signingKey(),
  LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info'),
  BAKED_FRAGMENTS: z.string().optional(),
  SHEDDING: flag().default(true),
  DRAIN_NOTICE: duration().default(5000),
  DRAIN_DEADLINE: duration().default(25_000),
  MAX_IN_FLIGHT: wholeNumber(1, 100_000).default(GATEWAY_LIMITS.maxInFlight),
});

/** The committed fragments lie beside the code, in the repository and in the image. */
export const COMMITTED_FRAGMENTS = new URL('../../../contracts/openapi/', import.meta.url).pathname;

/** A service without an address owns nothing: its paths are not found. */
export const prefixesOf = (urls: UpstreamUrls, all: OwnedPrefixes = OWNED_PREFIXES): OwnedPrefixes =>
  Object.fromEntries(Object.entries(all).filter(([service]) => service === 'gateway' || Object.hasOwn(urls, service)));

export const readGatewayConfig = (
  env: Environment,
): { readonly config: GatewayConfig; readonly logLevel: z.output<typeof GatewayVariables>['LOG_LEVEL'] } => {
  const read = readConfig(GatewayVariables, env);
  return {
    logLevel: read.LOG_LEVEL,
    config: {
      listen: { host: read.HOST, port: read.PORT },
      ops: { host: read.OPS_HOST, port: read.OPS_PORT },
      drain: { noticeMs: read.DRAIN_NOTICE, deadlineMs: read.DRAIN_DEADLINE },
      publicBaseUrl: read.PUBLIC_BASE_URL,
      allowedHosts: read.ALLOWED_HOSTS,
      trustedProxies: read.TRUSTED_PROXIES,
      upstreams: read.UPSTREAMS,
      prefixes: prefixesOf(read.UPSTREAMS),
      serviceKey: read.SERVICE_KEY,
      bakedFragments: read.BAKED_FRAGMENTS ?? COMMITTED_FRAGMENTS,
      shedding: read.SHEDDING,
      limits: { ...GATEWAY_LIMITS, maxInFlight: read.MAX_IN_FLIGHT },
    },
  };
};
