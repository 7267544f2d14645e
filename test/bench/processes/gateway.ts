import { readGatewayConfig } from '@bubbles/gateway/config.ts';
import { startGateway } from '@bubbles/gateway/gateway.ts';
import { systemClock } from '@bubbles/kernel/clock.ts';
import { systemIds } from '@bubbles/kernel/ids.ts';
import { createLog } from '@bubbles/kernel/log.ts';
import { logOutput } from '@bubbles/kernel/log-output.ts';
import { serveParent, settings, tellParent } from '../harness/in-child.ts';

export interface GatewaySettings {
  readonly upstreams: string;
  readonly serviceKey: string;
  readonly shedding?: boolean;
  /** Each request writes its log line, as in production. */
  readonly switched?: boolean;
}

const { upstreams, serviceKey, shedding = false, switched = false } = settings<GatewaySettings>();
const { config } = readGatewayConfig({
  HOST: '127.0.0.1',
  PORT: '0',
  OPS_HOST: '127.0.0.1',
  OPS_PORT: '0',
  UPSTREAMS: upstreams,
  SERVICE_KEY: serviceKey,
  SHEDDING: String(shedding),
});
const destination = switched ? logOutput(process.stdout) : process.stderr;
const log = createLog({ name: 'gateway', level: switched ? 'info' : 'error', destination });
const gateway = await startGateway(config, { clock: systemClock(), ids: systemIds(), log });
serveParent();
tellParent({ url: gateway.url });
