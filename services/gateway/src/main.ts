import { GATEWAY } from '@bubbles/contracts/services.ts';
import { runServer } from '@bubbles/http/ops/run-server.ts';
import { systemClock } from '@bubbles/kernel/clock.ts';
import { systemIds } from '@bubbles/kernel/ids.ts';
import { readGatewayConfig } from './config.ts';
import { createGateway } from './gateway.ts';

await runServer(process.env, {
  name: GATEWAY,
  readConfig: readGatewayConfig,
  start: async ({ config }, infra) => {
    const gateway = createGateway(config, { ...infra, clock: systemClock(), ids: systemIds() });
    await gateway.start();
    return gateway;
  },
});
