import { KeyObject } from 'node:crypto';
import { SERVICES } from '@bubbles/contracts/services.ts';
import { SERVER_VARIABLES, serverConfig } from '@bubbles/http/ops/run-server.ts';
import { type Environment, readConfig } from '@bubbles/kernel/config.ts';
import { baseUrl, baseUrls, callerKeys, connectionUrl, type LocalValue, localValues, serviceKey } from '@bubbles/kernel/config-values.ts';
import { z } from 'zod';

/** What a service has to be told: its own variables, and where those are that it asks. */
export interface Needs {
  readonly variables: Readonly<Record<string, z.ZodType>>;
  readonly asks: readonly (keyof typeof SERVICES)[];
}

/** What a service is told, wherever it runs. */
export interface ServiceConfig {
  /** Values of the service's own variables by name. */
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
interface ProcessConfig extends ServiceConfig, ReturnType<typeof serverConfig> {
  readonly mongoUrl: string;
  /** Null for the one that contracts name. */
  readonly mongoDatabase: string | null;
  readonly amqpUrl: string;
}

const PROCESS_VARIABLES = {
  ...SERVER_VARIABLES,
  PUBLIC_BASE_URL: baseUrl().describe('The origin under which clients reach the product, the same for all: `https://api.example.com`'),
  MONGODB_URL: connectionUrl('mongodb', 'mongodb+srv').describe(
    'Where the database is, with user and password: `mongodb://user:password@host/?replicaSet=rs0`',
  ),
  MONGODB_DATABASE: z.string().nullable().default(null).describe('The name of its database, where it is not the usual one'),
  AMQP_URL: connectionUrl('amqp', 'amqps').describe(
    'Where the broker is, with user and password: `amqp://user:password@host:5672/vhost`, `amqps://` with TLS',
  ),
  CALLER_KEYS: callerKeys().describe(
    'Public keys of those that may call it: `gateway=<key>,operator=<key>`, each the SPKI of an Ed25519 key in base64. A caller is named twice while it changes its key',
  ),
};
const { PUBLIC_BASE_URL, CALLER_KEYS } = PROCESS_VARIABLES;
const SERVICE_KEY = serviceKey();

const Urls = z.array(z.string());

const ownVariables = ({ variables, asks }: Needs): Readonly<Record<string, z.ZodType>> => ({
  ...Object.fromEntries(
    asks.map((callee) => [
      SERVICES[callee].urlsVariable,
      baseUrls().describe(`Where ${callee} is: URLs of its replicas, or one of all, apart by commas`),
    ]),
  ),
  ...(asks.length > 0 && {
    SERVICE_KEY,
  }),
  ...variables,
});

/** All variables of the process of a service. */
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
    ...serverConfig(read),
    mongoUrl: read.MONGODB_URL,
    mongoDatabase: read.MONGODB_DATABASE,
    amqpUrl: read.AMQP_URL,
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

/** Variables that may be set when such a machine starts, including those with a default. */
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

/** The entries of an environment that set them, including `<NAME>_FILE`. */
export const settingsIn = (services: readonly Needs[], env: Environment): Readonly<Record<string, string>> => {
  const names = Object.keys(settingsOf(services)).flatMap((name) => [name, `${name}_FILE`]);
  return Object.fromEntries(names.flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
};
