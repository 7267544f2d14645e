import type { Environment } from '@bubbles/kernel/config.ts';
import { createLog, type Log, type LogLevel } from '@bubbles/kernel/log.ts';
import { logOutput } from '@bubbles/kernel/log-output.ts';
import { type Running, runProcess } from '@bubbles/kernel/run-process.ts';
import { createMetrics, type Metrics } from './metrics.ts';

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
      const server = await start(config, { log, metrics: createMetrics(output) });
      log.info('serving', { url: server.url });
      return server;
    },
  });
