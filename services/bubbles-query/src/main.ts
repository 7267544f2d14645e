import { amqpBus } from '@bubbles/shared/bus/amqp.ts';
import { systemClock } from '@bubbles/shared/clock.ts';
import { assertionAuthenticator } from '@bubbles/shared/http/assertion.ts';
import { AssertionKeySet, assertionKeys } from '@bubbles/shared/http/assertion-keys.ts';
import { internalClient } from '@bubbles/shared/http/internal-client.ts';
import { loadShedder, NO_SHEDDING } from '@bubbles/shared/http/overload.ts';
import { serviceAuth, serviceTokens } from '@bubbles/shared/http/service-token.ts';
import { systemIds } from '@bubbles/shared/ids.ts';
import { cronScheduler } from '@bubbles/shared/jobs/cron-scheduler.ts';
import { runJobs } from '@bubbles/shared/jobs/run-jobs.ts';
import { createLog } from '@bubbles/shared/log.ts';
import { createMetrics } from '@bubbles/shared/metrics.ts';
import { runProcess } from '@bubbles/shared/run-process.ts';
import { hostService } from '@bubbles/shared/service-host.ts';
import { openMongo } from '@bubbles/shared/store/mongo.ts';
import { readBubblesConfig } from './config.ts';
import { createBubblesQuery, NAME } from './service.ts';

await runProcess({
  name: NAME,
  main: async () => {
    const config = readBubblesConfig(process.env);
    const log = createLog({ name: NAME, level: config.logLevel });
    const clock = systemClock();
    const database = openMongo({ url: config.mongoUrl, name: 'bubbles_query', log, clock });
    const bus = amqpBus({ url: config.amqpUrl, service: NAME, clock, log });
    const infra = { clock, ids: systemIds(), log, database, bus };
    const tokens = serviceTokens({ caller: NAME, key: config.serviceKey, clock });
    const identity = internalClient({ callee: 'identity-and-oauth', baseUrls: config.identityUrls, tokens });
    const keys = assertionKeys({ clock, fetchKeys: () => identity.get('/internal/v1/assertion-keys', { schema: AssertionKeySet }) });
    const host = await hostService({
      ...config,
      service: createBubblesQuery(config.bubbles, infra, { identity }),
      infra,
      authenticator: assertionAuthenticator({ audience: NAME, clock, keys }),
      internalAuth: serviceAuth({ audience: NAME, callers: config.callers, clock }),
      metrics: createMetrics(),
      shedder: config.shedding ? loadShedder() : NO_SHEDDING,
      startJobs: (jobs) => runJobs({ ...infra, jobs, scheduler: cronScheduler(log) }),
    });
    return {
      stop: async () => {
        const clean = await host.stop();
        await Promise.all([bus.close(), database.close(), identity.close()]);
        return clean;
      },
    };
  },
});
