import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GATEWAY } from '@bubbles/contracts/services.ts';
import { readGatewayConfig } from '@bubbles/gateway/config.ts';
import { readProcessConfig } from '@bubbles/host/variables.ts';
import type { Environment } from '@bubbles/kernel/config.ts';
import { afterAll, describe, expect, it } from '@jest/globals';
import { openKeys } from '../../deploy/keys/src/keys.ts';
import { PRODUCT } from '../../deploy/services/src/product.ts';
import { defaultReplicas, planProcesses } from '../../deploy/stack/src/plan.ts';

const SERVICES = [...PRODUCT.definitions.map(({ name }) => name), GATEWAY];
const read = (service: string, environment: Environment) => {
  const definition = PRODUCT.definitions.find(({ name }) => name === service);
  return definition === undefined ? readGatewayConfig(environment) : readProcessConfig(definition, environment);
};

const home = mkdtempSync(join(tmpdir(), 'stack-'));
afterAll(() => rmSync(home, { recursive: true }));
const planned = (replicas: Readonly<Record<string, number>>, logins?: string) =>
  planProcesses(
    {
      port: 8180,
      amqpUrl: 'amqp://broker',
      mongoUrl: 'mongodb://store',
      databasePrefix: '',
      replicas,
      folder: '/stack',
      drainNotice: '1s',
      shedding: true,
      settings: { WEBHOOK_ALLOW_HTTP: 'true' },
      logins,
    },
    openKeys(home),
  );
const plans = planned(defaultReplicas());

describe('the stack', () => {
  it('runs every service', () => {
    expect([...new Set(plans.map(({ service }) => service))]).toEqual(SERVICES);
  });

  it.each(plans)('$name gets an environment that it takes', ({ service, environment }) => {
    expect(() => read(service, environment)).not.toThrow();
  });

  it('passes the settings of webhooks on to each dispatcher, and to nobody else', () => {
    const told = plans.filter(({ environment }) => environment['WEBHOOK_ALLOW_HTTP'] === 'true');
    expect(told.map(({ name }) => name)).toEqual(['webhooks-dispatcher-1', 'webhooks-dispatcher-2']);
  });

  it('runs two of each service', () => {
    for (const service of SERVICES) expect(plans.filter((plan) => plan.service === service)).toHaveLength(2);
  });

  it.each(SERVICES)('gives the others an environment that they take where %s does not run', (absent) => {
    const others = planned({ ...defaultReplicas(), [absent]: 0 });
    expect(others.some(({ service }) => service === absent)).toBe(false);
    for (const { service, environment } of others) expect(() => read(service, environment)).not.toThrow();
  });

  it('lets each process read its own logins alone, where there are some', () => {
    for (const { service, environment } of planned(defaultReplicas(), '/logins').filter((plan) => plan.service !== GATEWAY)) {
      const folder = `/logins/${service}`;
      expect(environment).toMatchObject({ AMQP_URL_FILE: `${folder}/AMQP_URL`, MONGODB_URL_FILE: `${folder}/MONGODB_URL` });
      expect(Object.keys(environment)).not.toEqual(expect.arrayContaining(['AMQP_URL']));
      expect(Object.keys(environment)).not.toEqual(expect.arrayContaining(['MONGODB_URL']));
    }
  });

  it('gives each process ports of its own', () => {
    const ports = plans.flatMap(({ url, opsUrl }) => [url, opsUrl]);
    expect(new Set(ports).size).toBe(ports.length);
  });
});
