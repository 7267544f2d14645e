import type { KeyObject } from 'node:crypto';
import { type Environment, readConfig } from '@bubbles/shared/config.ts';
import {
  base64Key,
  baseUrl,
  baseUrls,
  callerKeys,
  connectionUrl,
  duration,
  flag,
  port,
  signingKey,
  wholeNumber,
} from '@bubbles/shared/config-values.ts';
import type { Address, Drain } from '@bubbles/shared/http/server.ts';
import type { LogLevel } from '@bubbles/shared/log.ts';
import { PRODUCTION_DRAIN } from '@bubbles/shared/service-host.ts';
import { z } from 'zod';

/** What bubbles-query itself has to know. */
export interface Config {
  /** Origin and path that deep links begin with, without a trailing slash. */
  readonly appBaseUrl: string;
  /** Authenticate cursors. The previous key is accepted too, for a day after a change. */
  readonly cursorKeys: { readonly current: Buffer; readonly previous: Buffer | null };
  /** Makes the ids of people without an account; never changes, or they would. */
  readonly personKey: Buffer;
  readonly search: {
    /** Build large indexes beside the event loop. */
    readonly threads: number;
    /** For the indexes of the callers that searched last. */
    readonly memoryBytes: number;
  };
  /** At start, claims of this store belong to a process that is gone: true where there is one process only. */
  readonly releaseLeasesAtStart: boolean;
}

/** What its process has to know besides. */
export interface ProcessConfig {
  readonly bubbles: Config;
  readonly listen: Address;
  readonly ops: Address;
  readonly drain: Drain;
  readonly publicBaseUrl: string;
  readonly mongoUrl: string;
  readonly amqpUrl: string;
  /** Where identity is. */
  readonly identityUrls: readonly string[];
  /** Signs the tokens that identity knows this service by. */
  readonly serviceKey: KeyObject;
  /** Whose service tokens are believed. */
  readonly callers: ReadonlyMap<string, readonly KeyObject[]>;
  readonly shedding: boolean;
  readonly logLevel: LogLevel;
}

const KEY_BYTES = 32;
const MIB = 2 ** 20;
export const SEARCH_DEFAULTS: Config['search'] = { threads: 1, memoryBytes: 1024 * MIB };

const Variables = z.object({
  HOST: z.string().default('0.0.0.0'),
  PORT: port().default(8080),
  OPS_HOST: z.string().default('0.0.0.0'),
  OPS_PORT: port().default(9090),
  PUBLIC_BASE_URL: baseUrl(),
  APP_BASE_URL: baseUrl(),
  MONGODB_URL: connectionUrl('mongodb', 'mongodb+srv'),
  AMQP_URL: connectionUrl('amqp', 'amqps'),
  IDENTITY_URLS: baseUrls(),
  SERVICE_KEY: signingKey(),
  CALLER_KEYS: callerKeys(),
  CURSOR_KEY: base64Key(KEY_BYTES),
  CURSOR_KEY_PREVIOUS: base64Key(KEY_BYTES).nullable().default(null),
  PERSON_KEY: base64Key(KEY_BYTES),
  SEARCH_THREADS: wholeNumber(1, 16).default(SEARCH_DEFAULTS.threads),
  SEARCH_MEMORY_MIB: wholeNumber(64, 65_536).default(SEARCH_DEFAULTS.memoryBytes / MIB),
  LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info'),
  SHEDDING: flag().default(true),
  DRAIN_NOTICE: duration().default(PRODUCTION_DRAIN.noticeMs),
  DRAIN_DEADLINE: duration().default(PRODUCTION_DRAIN.deadlineMs),
});

export const readBubblesConfig = (env: Environment): ProcessConfig => {
  const read = readConfig(Variables, env);
  return {
    bubbles: {
      appBaseUrl: read.APP_BASE_URL,
      cursorKeys: { current: read.CURSOR_KEY, previous: read.CURSOR_KEY_PREVIOUS },
      personKey: read.PERSON_KEY,
      search: { threads: read.SEARCH_THREADS, memoryBytes: read.SEARCH_MEMORY_MIB * MIB },
      releaseLeasesAtStart: false,
    },
    listen: { host: read.HOST, port: read.PORT },
    ops: { host: read.OPS_HOST, port: read.OPS_PORT },
    drain: { noticeMs: read.DRAIN_NOTICE, deadlineMs: read.DRAIN_DEADLINE },
    publicBaseUrl: read.PUBLIC_BASE_URL,
    mongoUrl: read.MONGODB_URL,
    amqpUrl: read.AMQP_URL,
    identityUrls: read.IDENTITY_URLS,
    serviceKey: read.SERVICE_KEY,
    callers: read.CALLER_KEYS,
    shedding: read.SHEDDING,
    logLevel: read.LOG_LEVEL,
  };
};
