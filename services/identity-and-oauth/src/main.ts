import { amqpBus } from '@bubbles/shared/bus/amqp.ts';
import { systemClock } from '@bubbles/shared/clock.ts';
import { loadShedder, NO_SHEDDING } from '@bubbles/shared/http/overload.ts';
import { serviceAuth } from '@bubbles/shared/http/service-token.ts';
import { systemIds } from '@bubbles/shared/ids.ts';
import { cronScheduler } from '@bubbles/shared/jobs/cron-scheduler.ts';
import { runJobs } from '@bubbles/shared/jobs/run-jobs.ts';
import { createLog } from '@bubbles/shared/log.ts';
import { createMetrics } from '@bubbles/shared/metrics.ts';
import { runProcess } from '@bubbles/shared/run-process.ts';
import { hostService } from '@bubbles/shared/service-host.ts';
import { openMongo } from '@bubbles/shared/store/mongo.ts';
import { readIdentityConfig } from './config.ts';
import { createIdentity, NAME } from './service.ts';

await runProcess({
  name: NAME,
  main: async () => {
    const config = readIdentityConfig(process.env);
    const log = createLog({ name: NAME, level: config.logLevel });
    const clock = systemClock();
    const database = openMongo({ url: config.mongoUrl, name: 'bubbles_identity', log, clock });
    const bus = amqpBus({ url: config.amqpUrl, service: NAME, clock, log });
    const infra = { clock, ids: systemIds(), log, database, bus };
    const service = createIdentity(config.identity, infra);
    const host = await hostService({
      ...config,
      service,
      infra,
      authenticator: service.authenticator,
      internalAuth: serviceAuth({ audience: NAME, callers: config.callers, clock }),
      publicBaseUrl: config.identity.publicBaseUrl,
      metrics: createMetrics(),
      shedder: config.shedding ? loadShedder() : NO_SHEDDING,
      startJobs: (jobs) => runJobs({ ...infra, jobs, scheduler: cronScheduler(log) }),
    });
    return {
      stop: async () => {
        const clean = await host.stop();
        await Promise.all([bus.close(), database.close()]);
        return clean;
      },
    };
  },
});
