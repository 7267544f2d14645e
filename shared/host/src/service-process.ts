import { serviceAuth } from '@bubbles/auth/service-tokens.ts';
import { createAmqpBus } from '@bubbles/bus/amqp/amqp.ts';
import { SERVICES, type ServiceTable } from '@bubbles/contracts/services.ts';
import { runServer } from '@bubbles/http/ops/run-server.ts';
import { createLoadShedder, NO_SHEDDING } from '@bubbles/http/wire/overload.ts';
import { systemClock } from '@bubbles/kernel/clock.ts';
import { systemIds } from '@bubbles/kernel/ids.ts';
import { openMongo } from '@bubbles/store/mongo.ts';
import { openService, type ServiceDefinition } from './service.ts';
import { hostService } from './service-host.ts';
import { measuredInfra } from './service-metrics.ts';
import { readProcessConfig } from './variables.ts';

/** A service as a process of its own, on MongoDB and RabbitMQ: all of its `main.ts`. */
export const runService = (definition: ServiceDefinition): Promise<void> => {
  const { name } = definition;
  return runServer(process.env, {
    name,
    readConfig: (env) => readProcessConfig(definition, env),
    start: async (config, { log, metrics }) => {
      const clock = systemClock();
      const database = openMongo({ url: config.mongoUrl, name: config.mongoDatabase ?? databaseOf(name), log, clock });
      const bus = createAmqpBus({ url: config.amqpUrl, service: name, clock, log });
      const infra = measuredInfra({ clock, ids: systemIds(), log, database, bus }, metrics);
      const host = await hostService({
        ...config,
        infra,
        metrics,
        service: openService(definition, { ...infra, config, metrics, migrations: 'await' }),
        internalAuth: serviceAuth({ audience: name, callers: config.callers, clock }),
        shedder: config.shedding ? createLoadShedder() : NO_SHEDDING,
      });
      return {
        url: host.url,
        stop: async () => {
          const clean = await host.stop();
          await Promise.all([bus.close(), database.close()]);
          return clean;
        },
      };
    },
  });
};

const databaseOf = (service: string): string => {
  const table: ServiceTable = SERVICES;
  const database = table[service]?.database ?? null;
  if (database === null) throw new TypeError(`contracts name no database of ${service}`);
  return database;
};
