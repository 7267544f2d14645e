import { systemClock } from '@bubbles/kernel/clock.ts';
import { SILENT_LOG } from '@bubbles/testing/http.ts';
import { startAmqpEngine } from '../test/amqp-engine.ts';
import { describeBus } from '../test/bus-contract.ts';
import { createMemoryBus } from './memory/memory.ts';

describeBus('memory', () => {
  const bus = createMemoryBus({ clock: systemClock(), log: SILENT_LOG, jitter: () => 0 });
  return Promise.resolve({
    connect: bus.connect,
    deadLetters: (consumer) =>
      Promise.resolve(
        bus
          .deadLetters()
          .filter(({ queue }) => queue.startsWith(`${consumer}.`))
          .map(({ reason, body }) => ({ reason, body: body.toString() })),
      ),
    stop: bus.close,
  });
});

const url = process.env['AMQP_URL'];
if (url) describeBus('RabbitMQ', (definitions) => startAmqpEngine(url, definitions));
