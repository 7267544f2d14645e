import { declareTopology } from '@bubbles/bus/operations/topology.ts';
import { EVENTS } from '@bubbles/contracts/events/catalog.ts';
import { systemClock } from '@bubbles/kernel/clock.ts';
import { readConfig } from '@bubbles/kernel/config.ts';
import { connectionUrl } from '@bubbles/kernel/config-values.ts';
import { createLog } from '@bubbles/kernel/log.ts';
import { logOutput } from '@bubbles/kernel/log-output.ts';
import { runJobProcess } from '@bubbles/kernel/run-process.ts';
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
