import { createMetrics } from '@bubbles/http/ops/metrics.ts';
import { systemClock } from '@bubbles/kernel/clock.ts';
import { systemIds } from '@bubbles/kernel/ids.ts';
import { createLog } from '@bubbles/kernel/log.ts';
import { logOutput } from '@bubbles/kernel/log-output.ts';
import { runProcess } from '@bubbles/kernel/run-process.ts';
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
