import { KeyObject } from 'node:crypto';
import { SERVICES } from '@bubbles/contracts/services.ts';
import type { Address } from '@bubbles/http/wire/listen.ts';
import type { Drain } from '@bubbles/http/wire/server.ts';
import { type Environment, readConfig } from '@bubbles/kernel/config.ts';
import {
  baseUrl,
  baseUrls,
  callerKeys,
  connectionUrl,
  duration,
  flag,
  type LocalValue,
  localValues,
  port,
  signingKey,
} from '@bubbles/kernel/config-values.ts';
import type { LogLevel } from '@bubbles/kernel/log.ts';
import { z } from 'zod';

/** What a service has to be told: its own variables, and where those are that it asks. */
export interface Needs {
  readonly variables: Readonly<Record<string, z.ZodType>>;
  readonly asks: readonly (keyof typeof SERVICES)[];
}

/** What a service is told, wherever it runs. */
export interface ServiceConfig {
  /** Of its own variables, by their names. */
  readonly values: Readonly<Record<string, unknown>>;
  /** Origin under which clients reach the product, without a trailing slash. */
  readonly publicBaseUrl: string;
  /** Public keys of those whose service tokens are believed. */
  readonly callers: ReadonlyMap<string, readonly KeyObject[]>;
  /** Signs the tokens that others know it by; null when it asks nobody. */
  readonly serviceKey: KeyObject | null;
  /** The addresses of those that it asks, by their names. */
  readonly urls: ReadonlyMap<string, readonly string[]>;
}

/** What its process is told as well. */
interface ProcessConfig extends ServiceConfig {
  readonly listen: Address;
  readonly ops: Address;
  readonly drain: Drain;
  readonly mongoUrl: string;
  /** Null for the one that contracts name. */
  readonly mongoDatabase: string | null;
  readonly amqpUrl: string;
  readonly shedding: boolean;
  readonly logLevel: LogLevel;
}

const PROCESS_VARIABLES = {
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
  // Kubernetes: after the `preStop` sleep, within the grace period.
  DRAIN_NOTICE: duration().default(3000),
  DRAIN_DEADLINE: duration().default(25_000),
};
const { PUBLIC_BASE_URL, CALLER_KEYS } = PROCESS_VARIABLES;

const Urls = z.array(z.string());

const ownVariables = ({ variables, asks }: Needs): Readonly<Record<string, z.ZodType>> => ({
  ...Object.fromEntries(asks.map((callee) => [SERVICES[callee].urlsVariable, baseUrls()])),
  ...(asks.length > 0 && { SERVICE_KEY: signingKey() }),
  ...variables,
});

/** All that its process is told. */
export const processVariables = (needs: Needs) => ({ ...PROCESS_VARIABLES, ...ownVariables(needs) });

interface Read {
  readonly [name: string]: unknown;
  readonly PUBLIC_BASE_URL: string;
  readonly CALLER_KEYS: ServiceConfig['callers'];
}

const configOf = ({ variables, asks }: Needs, read: Read): ServiceConfig => ({
  values: Object.fromEntries(Object.keys(variables).map((name) => [name, read[name]])),
  publicBaseUrl: read.PUBLIC_BASE_URL,
  callers: read.CALLER_KEYS,
  serviceKey: read['SERVICE_KEY'] instanceof KeyObject ? read['SERVICE_KEY'] : null,
  urls: new Map(asks.map((callee) => [callee, Urls.parse(read[SERVICES[callee].urlsVariable])])),
});

/** For a service beside others in one process. */
export const readServiceConfig = (needs: Needs, env: Environment): ServiceConfig =>
  configOf(needs, readConfig(z.object({ PUBLIC_BASE_URL, CALLER_KEYS, ...ownVariables(needs) }), env));

/** For a service as a process of its own. */
export const readProcessConfig = (needs: Needs, env: Environment): ProcessConfig => {
  const read = readConfig(z.object(processVariables(needs)), env);
  return {
    ...configOf(needs, read),
    listen: { host: read.HOST, port: read.PORT },
    ops: { host: read.OPS_HOST, port: read.OPS_PORT },
    drain: { noticeMs: read.DRAIN_NOTICE, deadlineMs: read.DRAIN_DEADLINE },
    mongoUrl: read.MONGODB_URL,
    mongoDatabase: read.MONGODB_DATABASE,
    amqpUrl: read.AMQP_URL,
    shedding: read.SHEDDING,
    logLevel: read.LOG_LEVEL,
  };
};

/** A machine that gives its services what a deployment would: the sandbox, the stack, a test. */
export interface LocalMachine {
  readonly publicBaseUrl: string;
  /** Names the master keys that it makes. */
  readonly keyId: string;
  /** Random bytes; the same ones for the same name. */
  secret(name: string, bytes: number): Buffer;
  /** The path of a folder, which need not be there yet. */
  folder(name: string): string;
  /** `CALLER_KEYS` of a service. */
  callerKeys(service: string): string;
  /** `SERVICE_KEY` of a caller, or `SERVICE_KEY_FILE`. */
  serviceKey(caller: string): Readonly<Record<string, string>>;
  /** Addresses of a service, separated by commas. */
  urls(service: string): string;
}

/** `CURSOR_KEY` and `CURSOR_KEYS` are one secret. */
const secretOf = (variable: string): string => variable.replace(/_KEYS?$/, '').toLowerCase();

const textOf = (value: LocalValue, variable: string, { keyId, secret, folder }: LocalMachine): string => {
  if (value.kind === 'text') return value.text;
  if (value.kind === 'folder') return folder(value.name);
  const key = secret(secretOf(variable), value.bytes).toString('base64');
  return value.kind === 'key' ? key : `${keyId}=${key}`;
};

/** The environment of one service on it, with `settings` where a variable has no value that belongs to the machine. */
export const localEnvironment = (
  service: Needs & { readonly name: string },
  machine: LocalMachine,
  settings: Environment,
): Readonly<Record<string, string>> => {
  const { name, variables, asks } = service;
  const own = (isUsual: boolean) =>
    Object.entries(variables).flatMap(([variable, schema]) => {
      const local = localValues.get(schema);
      return local === undefined || (local.kind === 'text') !== isUsual ? [] : [[variable, textOf(local, variable, machine)]];
    });
  return {
    PUBLIC_BASE_URL: machine.publicBaseUrl,
    CALLER_KEYS: machine.callerKeys(name),
    ...(asks.length > 0 && machine.serviceKey(name)),
    ...Object.fromEntries(asks.map((callee) => [SERVICES[callee].urlsVariable, machine.urls(callee)])),
    ...Object.fromEntries(own(true)),
    ...settingsIn([service], settings),
    ...Object.fromEntries(own(false)),
  };
};

/** The secrets that such a machine makes for a service. */
export const secretsOf = ({ variables }: Needs): readonly { readonly name: string; readonly bytes: number }[] =>
  Object.entries(variables).flatMap(([variable, schema]) => {
    const local = localValues.get(schema);
    return local === undefined || local.kind === 'text' || local.kind === 'folder'
      ? []
      : [{ name: secretOf(variable), bytes: local.bytes }];
  });

/** The variables that such a machine leaves to who starts it, also those for which it has a usual text. */
export const settingsOf = (services: readonly Needs[]): Needs['variables'] =>
  Object.fromEntries(
    services.flatMap(({ variables }) =>
      Object.entries(variables).flatMap(([name, schema]) => {
        const local = localValues.get(schema);
        if (local === undefined) return [[name, schema]];
        return local.kind === 'text' ? [[name, schema.optional()]] : [];
      }),
    ),
  );

/** Of an environment what sets them, also by the name of a file. */
export const settingsIn = (services: readonly Needs[], env: Environment): Readonly<Record<string, string>> => {
  const names = Object.keys(settingsOf(services)).flatMap((name) => [name, `${name}_FILE`]);
  return Object.fromEntries(names.flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
};
