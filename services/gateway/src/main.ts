import { systemClock } from '@bubbles/shared/clock.ts';
import { systemIds } from '@bubbles/shared/ids.ts';
import { createLog } from '@bubbles/shared/log.ts';
import { logOutput } from '@bubbles/shared/log-output.ts';
import { createMetrics } from '@bubbles/shared/metrics.ts';
import { runProcess } from '@bubbles/shared/run-process.ts';
import { readGatewayConfig } from './config.ts';
import { createGateway } from './gateway.ts';

const NAME = 'gateway';

await runProcess({
  name: NAME,
  main: async () => {
    const { config, logLevel } = readGatewayConfig(process.env);
    const output = logOutput(process.stdout);
    const log = createLog({ name: NAME, level: logLevel, destination: output });
    const gateway = createGateway(config, { clock: systemClock(), ids: systemIds(), log, metrics: createMetrics(output) });
    await gateway.start();
    log.info('serving', { url: gateway.url });
    return gateway;
  },
});
