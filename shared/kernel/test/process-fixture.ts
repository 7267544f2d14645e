import { setTimeout as pause } from 'node:timers/promises';
import { getHeapSpaceStatistics } from 'node:v8';
import { SERVICE_LIMITS, startServer } from '@bubbles/http/wire/server.ts';
import { readConfig } from '@bubbles/kernel/config.ts';
import { port } from '@bubbles/kernel/config-values.ts';
import { systemIds } from '@bubbles/kernel/ids.ts';
import { runProcess, StartupError } from '@bubbles/kernel/run-process.ts';
import { z } from 'zod';

/** A process whose boot, run and end the test chooses. */
const Fixture = z.object({
  HOST: z.string().default('127.0.0.1'),
  PORT: port(),
  BEHAVIOUR: z.enum(['serve', 'boot-for-ever', 'throw', 'refuse', 'throw-later', 'stop-uncleanly', 'stop-when-told-again', 'start-large']),
});

const youngBytes = (): number => getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')?.space_size ?? Number.NaN;

/** Keeps much of what it allocates for a while, so that the young generation grows. */
const allocate = (): number => {
  let kept: object[] = [];
  for (let round = 0; round < 20; round += 1) kept = Array.from({ length: 200_000 }, () => ({ round, before: kept.length }));
  return kept.length;
};

await runProcess({
  name: 'fixture',
  main: async (stopping) => {
    const config = readConfig(Fixture, process.env);
    const large = config.BEHAVIOUR === 'start-large' && allocate() > 0 ? youngBytes() : 0;
    const server = await startServer({
      handler: (_, res) => res.end(JSON.stringify({ large, now: youngBytes() })),
      address: { host: config.HOST, port: config.PORT },
      limits: SERVICE_LIMITS,
      ids: systemIds(),
    });
    process.stdout.write(`${server.url}\n`);
    if (config.BEHAVIOUR === 'boot-for-ever') await pause(60_000, undefined, { signal: stopping });
    if (config.BEHAVIOUR === 'throw') throw new Error('amqp://user:hunter2@broker:5672 refused');
    if (config.BEHAVIOUR === 'refuse') throw new StartupError('MONGODB_URL: refused.\nAMQP_URL: refused.');
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
