import { GATEWAY } from '@bubbles/contracts/services.ts';
import { runServer } from '@bubbles/http/ops/run-server.ts';
import { systemClock } from '@bubbles/kernel/clock.ts';
import { systemIds } from '@bubbles/kernel/ids.ts';
import { readGatewayConfig } from './config.ts';
import { startGateway } from './gateway.ts';

await runServer(process.env, {
  name: GATEWAY,
  readConfig: readGatewayConfig,
  start: ({ config }, infra) => startGateway(config, { ...infra, clock: systemClock(), ids: systemIds() }),
});
