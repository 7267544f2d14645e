import { systemClock } from '@bubbles/shared/clock.ts';
import { systemIds } from '@bubbles/shared/ids.ts';
import { createLog } from '@bubbles/shared/log.ts';
import { runProcess } from '@bubbles/shared/run-process.ts';
import { readGatewayConfig } from './config.ts';
import { createGateway } from './gateway.ts';

const NAME = 'gateway';

await runProcess({
  name: NAME,
  main: async () => {
    const { config, logLevel } = readGatewayConfig(process.env);
    const log = createLog({ name: NAME, level: logLevel });
    const gateway = createGateway(config, { clock: systemClock(), ids: systemIds(), log });
    await gateway.start();
    log.info('serving', { url: gateway.url });
    return gateway;
  },
});
