import type { Authenticator } from '@bubbles/auth/guards.ts';
import { serviceAuth } from '@bubbles/auth/service-tokens.ts';
import { amqpBus } from '@bubbles/bus/amqp/amqp.ts';
import { createMetrics, type Metrics } from '@bubbles/http/ops/metrics.ts';
import { loadShedder, NO_SHEDDING } from '@bubbles/http/wire/overload.ts';
import { systemClock } from '@bubbles/kernel/clock.ts';
import { systemIds } from '@bubbles/kernel/ids.ts';
import { createLog } from '@bubbles/kernel/log.ts';
import { logOutput } from '@bubbles/kernel/log-output.ts';
import { type Running, runProcess } from '@bubbles/kernel/run-process.ts';
import { openMongo } from '@bubbles/store/mongo.ts';
import { runJobs } from '@bubbles/store/work/run-jobs.ts';
import type { Infra, Service } from './service.ts';
import { hostService } from './service-host.ts';
import type { ServiceSettings } from './service-settings.ts';

/** A service as its composition makes it, with what goes when it goes. */
export interface ServiceParts {
  readonly service: Service;
  readonly authenticator: Authenticator;
  /** The clients that it asks others with. */
  close(): Promise<void>;
}

export interface ServiceProcessOptions<C extends ServiceSettings> {
  readonly name: string;
  /** The database that is this service's alone, where the environment names no other. */
  readonly database: string;
  readonly readConfig: () => C;
  readonly compose: (config: C, infra: Infra, metrics: Metrics) => ServiceParts;
}

/** A service as a process of its own, on MongoDB and RabbitMQ. */
export const runServiceProcess = <C extends ServiceSettings>(options: ServiceProcessOptions<C>): Promise<void> =>
  runProcess({ name: options.name, main: () => start(options) });

const start = async <C extends ServiceSettings>({ name, readConfig, compose, ...options }: ServiceProcessOptions<C>): Promise<Running> => {
  const config = readConfig();
  const output = logOutput(process.stdout);
  const log = createLog({ name, level: config.logLevel, destination: output });
  const clock = systemClock();
  const database = openMongo({ url: config.mongoUrl, name: config.mongoDatabase ?? options.database, log, clock });
  const bus = amqpBus({ url: config.amqpUrl, service: name, clock, log });
  const infra = { clock, ids: systemIds(), log, database, bus };
  const metrics = createMetrics(output);
  const parts = compose(config, infra, metrics);
  const host = await hostService({
    ...config,
    ...parts,
    infra,
    internalAuth: serviceAuth({ audience: name, callers: config.callers, clock }),
    metrics,
    shedder: config.shedding ? loadShedder() : NO_SHEDDING,
    startJobs: (jobs) => Promise.resolve(runJobs({ ...infra, jobs })),
  });
  log.info('serving', { url: host.url });
  return {
    stop: async () => {
      const clean = await host.stop();
      await Promise.all([parts.close(), bus.close(), database.close()]);
      return clean;
    },
  };
};
