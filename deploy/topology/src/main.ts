import { EVENTS } from '@bubbles/contracts/events/catalog.ts';
import { declareTopology } from '@bubbles/shared/bus/topology.ts';
import { systemClock } from '@bubbles/shared/clock.ts';
import { readConfig } from '@bubbles/shared/config.ts';
import { connectionUrl } from '@bubbles/shared/config-values.ts';
import { createLog } from '@bubbles/shared/log.ts';
import { logOutput } from '@bubbles/shared/log-output.ts';
import { runJobProcess } from '@bubbles/shared/run-process.ts';
import { z } from 'zod';

const NAME = 'topology';
const Variables = z.object({ AMQP_URL: connectionUrl('amqp', 'amqps') });

/** Runs before any process of a release: publishers only look whether the queues of their consumers are there. */
await runJobProcess({
  name: NAME,
  work: async () => {
    const { AMQP_URL } = readConfig(Variables, process.env);
    await declareTopology({ url: AMQP_URL, definitions: EVENTS, clock: systemClock() });
    createLog({ name: NAME, level: 'info', destination: logOutput(process.stdout) }).info('declared', { events: EVENTS.length });
  },
});
