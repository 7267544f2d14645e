import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { readConfig } from '../src/config.ts';
import { port } from '../src/config-values.ts';
import { SERVICE_LIMITS, startServer } from '../src/http/server.ts';
import { systemIds } from '../src/ids.ts';
import { runProcess } from '../src/run-process.ts';

/** A process whose boot, run and end the test chooses. */
const Fixture = z.object({
  HOST: z.string().default('127.0.0.1'),
  PORT: port(),
  BEHAVIOUR: z.enum(['serve', 'boot-for-ever', 'throw', 'throw-later', 'stop-uncleanly', 'stop-when-told-again']),
});

await runProcess({
  name: 'fixture',
  main: async (stopping) => {
    const config = readConfig(Fixture, process.env);
    const server = await startServer({
      handler: (_, res) => res.end('ok'),
      address: { host: config.HOST, port: config.PORT },
      limits: SERVICE_LIMITS,
      ids: systemIds(),
    });
    process.stdout.write(`${server.url}\n`);
    if (config.BEHAVIOUR === 'boot-for-ever') await pause(60_000, undefined, { signal: stopping });
    if (config.BEHAVIOUR === 'throw') throw new Error('amqp://user:hunter2@broker:5672 refused');
    if (config.BEHAVIOUR === 'throw-later') setTimeout(() => Promise.reject(new Error('mongodb://user:hunter2@db:27017 gone')), 10);
    return {
      stop: async () => {
        if (config.BEHAVIOUR === 'stop-when-told-again')
          await new Promise((resolve) => process.once('SIGTERM', resolve).once('SIGINT', resolve));
        await server.cut();
        return config.BEHAVIOUR !== 'stop-uncleanly';
      },
    };
  },
});
