import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readBubblesConfig } from '@bubbles/bubbles-query/config.ts';
import { readGatewayConfig } from '@bubbles/gateway/config.ts';
import { readIdentityConfig } from '@bubbles/identity-and-oauth/config.ts';
import { readWebhooksConfig } from '@bubbles/webhooks-dispatcher/config.ts';
import { afterAll, describe, expect, it } from '@jest/globals';
import { openKeys } from '../../deploy/stack/src/keys.ts';
import { SERVICES, USUAL_REPLICAS } from '../../deploy/stack/src/layout.ts';
import { planProcesses } from '../../deploy/stack/src/plan.ts';

const READERS = {
  gateway: readGatewayConfig,
  'identity-and-oauth': readIdentityConfig,
  'bubbles-query': readBubblesConfig,
  'webhooks-dispatcher': readWebhooksConfig,
};

const home = mkdtempSync(join(tmpdir(), 'stack-'));
afterAll(() => rmSync(home, { recursive: true }));
const plans = planProcesses(
  {
    port: 8180,
    amqpUrl: 'amqp://broker',
    mongoUrl: 'mongodb://store',
    databasePrefix: '',
    replicas: USUAL_REPLICAS,
    drainNotice: '1s',
    shedding: true,
    webhooks: { WEBHOOK_ALLOW_HTTP: 'true' },
  },
  openKeys(home),
);

describe('the stack', () => {
  it('runs every service', () => {
    expect([...new Set(plans.map(({ service }) => service))]).toEqual([...SERVICES]);
  });

  it.each(plans)('$name gets an environment that it takes', ({ service, environment }) => {
    expect(() => READERS[service](environment)).not.toThrow();
  });

  it('passes the settings of webhooks on to each dispatcher, and to nobody else', () => {
    const told = plans.filter(({ environment }) => environment['WEBHOOK_ALLOW_HTTP'] === 'true');
    expect(told.map(({ name }) => name)).toEqual(['webhooks-dispatcher-1', 'webhooks-dispatcher-2']);
  });

  it('runs two of each service', () => {
    for (const service of SERVICES) expect(plans.filter((plan) => plan.service === service)).toHaveLength(2);
  });

  it('gives each process ports of its own', () => {
    const ports = plans.flatMap(({ url, opsUrl }) => [url, opsUrl]);
    expect(new Set(ports).size).toBe(ports.length);
  });
});
