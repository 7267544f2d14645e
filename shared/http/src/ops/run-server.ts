import type { Environment } from '@bubbles/kernel/config.ts';
import { duration, flag, port } from '@bubbles/kernel/config-values.ts';
import { createLog, type Log, type LogLevel } from '@bubbles/kernel/log.ts';
import { logOutput } from '@bubbles/kernel/log-output.ts';
import { type Running, runProcess } from '@bubbles/kernel/run-process.ts';
import { z } from 'zod';
import type { Address } from '../wire/listen.ts';
import type { Drain } from '../wire/server.ts';
import { createMetrics, type Metrics } from './metrics.ts';

/** Variables of every server process. */
export const SERVER_VARIABLES = {
  HOST: z.string().default('0.0.0.0').describe('The address that requests are taken at'),
  PORT: port().default(8080).describe('The port of requests'),
  OPS_HOST: z.string().default('0.0.0.0').describe('The address of probes and metrics'),
  OPS_PORT: port().default(9090).describe('The port of probes (`/startupz`, `/livez`, `/readyz`) and of `/metrics`; not for clients'),
  LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info').describe('`debug`, `info`, `warn`, `error` or `silent`'),
  SHEDDING: flag().default(true).describe('`0`: a process that cannot keep up refuses nothing'),
  // In Kubernetes this runs after the `preStop` sleep and within the grace period.
  DRAIN_NOTICE: duration()
    .prefault('3s')
    .describe('How long a process that is told to end goes on taking requests, so that balancers notice'),
  DRAIN_DEADLINE: duration().prefault('25s').describe('How long requests in flight may take then, before they are cut'),
};

interface ServerConfig {
  readonly listen: Address;
  readonly ops: Address;
  readonly drain: Drain;
  readonly shedding: boolean;
  readonly logLevel: LogLevel;
}

export const serverConfig = (
  read: { readonly [N in keyof typeof SERVER_VARIABLES]: z.output<(typeof SERVER_VARIABLES)[N]> },
): ServerConfig => ({
  listen: { host: read.HOST, port: read.PORT },
  ops: { host: read.OPS_HOST, port: read.OPS_PORT },
  drain: { noticeMs: read.DRAIN_NOTICE, deadlineMs: read.DRAIN_DEADLINE },
  shedding: read.SHEDDING,
  logLevel: read.LOG_LEVEL,
});

interface ServerProcess<C extends { readonly logLevel: LogLevel }> {
  readonly name: string;
  readonly readConfig: (env: Environment) => C;
  readonly start: (config: C, given: { readonly log: Log; readonly metrics: Metrics }) => Promise<Running & { readonly url: string }>;
}

/** The life of a process on the wire: its environment read, its log on standard output, its figures, until it is told to stop. */
export const runServer = <C extends { readonly logLevel: LogLevel }>(env: Environment, { name, readConfig, start }: ServerProcess<C>) =>
  runProcess({
    name,
    main: async () => {
      const config = readConfig(env);
      const output = logOutput(process.stdout);
      const log = createLog({ name, level: config.logLevel, destination: output });
      const server = await start(config, { log, metrics: createMetrics({ service: name, output }) });
      log.info('serving', { url: server.url });
      return server;
    },
  });
