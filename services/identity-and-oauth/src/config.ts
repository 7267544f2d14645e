import type { KeyObject } from 'node:crypto';
import { type Environment, readConfig } from '@bubbles/shared/config.ts';
import { baseUrl, callerKeys, connectionUrl, duration, flag, port, sealKeys } from '@bubbles/shared/config-values.ts';
import type { Address, Drain } from '@bubbles/shared/http/server.ts';
import type { LogLevel } from '@bubbles/shared/log.ts';
import type { SealKey } from '@bubbles/shared/seal.ts';
import { PRODUCTION_DRAIN } from '@bubbles/shared/service-host.ts';
import { z } from 'zod';

/** What identity itself has to know. */
export interface Config {
  /** Origin under which clients reach the product, without a trailing slash. */
  readonly publicBaseUrl: string;
  /** Seal the keys that sign assertions; the first one seals. */
  readonly sealKeys: readonly SealKey[];
  /** At start, claims of this store belong to a process that is gone: true where there is one process only. */
  readonly releaseLeasesAtStart: boolean;
}

/** What its process has to know besides. */
export interface ProcessConfig {
  readonly identity: Config;
  readonly listen: Address;
  readonly ops: Address;
  readonly drain: Drain;
  readonly mongoUrl: string;
  readonly amqpUrl: string;
  /** Whose service tokens are believed. */
  readonly callers: ReadonlyMap<string, readonly KeyObject[]>;
  readonly shedding: boolean;
  readonly logLevel: LogLevel;
}

const Variables = z.object({
  HOST: z.string().default('0.0.0.0'),
  PORT: port().default(8080),
  OPS_HOST: z.string().default('0.0.0.0'),
  OPS_PORT: port().default(9090),
  PUBLIC_BASE_URL: baseUrl(),
  MONGODB_URL: connectionUrl('mongodb', 'mongodb+srv'),
  AMQP_URL: connectionUrl('amqp', 'amqps'),
  SEAL_KEYS: sealKeys(),
  CALLER_KEYS: callerKeys(),
  LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info'),
  SHEDDING: flag().default(true),
  DRAIN_NOTICE: duration().default(PRODUCTION_DRAIN.noticeMs),
  DRAIN_DEADLINE: duration().default(PRODUCTION_DRAIN.deadlineMs),
});

export const readIdentityConfig = (env: Environment): ProcessConfig => {
  const read = readConfig(Variables, env);
  return {
    identity: { publicBaseUrl: read.PUBLIC_BASE_URL, sealKeys: read.SEAL_KEYS, releaseLeasesAtStart: false },
    listen: { host: read.HOST, port: read.PORT },
    ops: { host: read.OPS_HOST, port: read.OPS_PORT },
    drain: { noticeMs: read.DRAIN_NOTICE, deadlineMs: read.DRAIN_DEADLINE },
    mongoUrl: read.MONGODB_URL,
    amqpUrl: read.AMQP_URL,
    callers: read.CALLER_KEYS,
    shedding: read.SHEDDING,
    logLevel: read.LOG_LEVEL,
  };
};
