import type { KeyObject } from 'node:crypto';
import type { Address } from '@bubbles/http/wire/listen.ts';
import type { Drain } from '@bubbles/http/wire/server.ts';
import { baseUrl, baseUrls, callerKeys, connectionUrl, duration, flag, port, signingKey } from '@bubbles/kernel/config-values.ts';
import type { LogLevel } from '@bubbles/kernel/log.ts';
import { z } from 'zod';
import { PRODUCTION_DRAIN } from './service-host.ts';

/** What the process of every service has to know, whatever the service itself does. */
export interface ServiceSettings {
  readonly listen: Address;
  readonly ops: Address;
  readonly drain: Drain;
  /** Origin under which clients reach the product, without a trailing slash. */
  readonly publicBaseUrl: string;
  readonly mongoUrl: string;
  /** Null for the name that the service gives it. */
  readonly mongoDatabase: string | null;
  readonly amqpUrl: string;
  /** Whose service tokens are believed. */
  readonly callers: ReadonlyMap<string, readonly KeyObject[]>;
  readonly shedding: boolean;
  readonly logLevel: LogLevel;
}

export const SERVICE_VARIABLES = {
  HOST: z.string().default('0.0.0.0'),
  PORT: port().default(8080),
  OPS_HOST: z.string().default('0.0.0.0'),
  OPS_PORT: port().default(9090),
  PUBLIC_BASE_URL: baseUrl(),
  MONGODB_URL: connectionUrl('mongodb', 'mongodb+srv'),
  MONGODB_DATABASE: z.string().nullable().default(null),
  AMQP_URL: connectionUrl('amqp', 'amqps'),
  CALLER_KEYS: callerKeys(),
  LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info'),
  SHEDDING: flag().default(true),
  DRAIN_NOTICE: duration().default(PRODUCTION_DRAIN.noticeMs),
  DRAIN_DEADLINE: duration().default(PRODUCTION_DRAIN.deadlineMs),
};

/** Those of a service that asks identity: where it is, and the key that identity knows the service by. */
export const ASKING_VARIABLES = { IDENTITY_URLS: baseUrls(), SERVICE_KEY: signingKey() };

export const serviceSettings = (read: z.output<z.ZodObject<typeof SERVICE_VARIABLES>>): ServiceSettings => ({
  listen: { host: read.HOST, port: read.PORT },
  ops: { host: read.OPS_HOST, port: read.OPS_PORT },
  drain: { noticeMs: read.DRAIN_NOTICE, deadlineMs: read.DRAIN_DEADLINE },
  publicBaseUrl: read.PUBLIC_BASE_URL,
  mongoUrl: read.MONGODB_URL,
  mongoDatabase: read.MONGODB_DATABASE,
  amqpUrl: read.AMQP_URL,
  callers: read.CALLER_KEYS,
  shedding: read.SHEDDING,
  logLevel: read.LOG_LEVEL,
});
