import { chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { GATEWAY, SERVICES } from '@bubbles/contracts/services.ts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Keys, openKeys } from '../../deploy/keys/src/keys.ts';
import { partsOf } from '../../deploy/services/src/deployment.ts';
import { type ProcessPlan, planProcesses } from '../../deploy/stack/src/plan.ts';
import { whyNotReady } from '../../deploy/stack/src/readiness.ts';
import { type FrailEngines, frailEngines } from '../chaos/support/engines.ts';
import { type Collector, startCollector } from '../support/collector.ts';
import { baseImage, buildImage, command, imageOf, podman, RESTRICTED } from './engine.ts';

const PROCESSES = [...Object.keys(SERVICES), GATEWAY];
const WORKSPACES = partsOf().map(({ workspace }) => workspace);
/** The user of the images. */
const USER = 10_001;
const PORT = 8680;
const TRACED_PORT = 9080;
const TRACED = [GATEWAY, 'identity-and-oauth'];
const tracedImage = (service: string) => `${imageOf(service)}-traced`;
const READY_LIMIT_MS = 120_000;
/** Beside what a process gives its last requests. */
const END_LIMIT_S = 45;
const MODULES_LIMIT_MB = 30;
/** Packages that are data: of the API reference, and of mail domains. */
const DATA = ['swagger-ui-dist', 'disposable-email-domains*', 'email-providers', 'tldts*'];
/** Against the containers; the rest of the suite runs against processes. */
const CONFORMANCE = ['general', 'me-and-teams', 'keys', 'list', 'reading', 'document', 'oauth-discovery'];

const readableByUser = (path: string) => {
  chownSync(path, USER, USER);
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (entry.isDirectory()) readableByUser(join(path, entry.name));
    else chownSync(join(path, entry.name), USER, USER);
  }
};

let engines: FrailEngines;
let home: string;
let keys: Keys;
let plans: readonly ProcessPlan[];
let tracedPlans: readonly ProcessPlan[];

beforeAll(async () => {
  const base = await baseImage();
  for (const workspace of WORKSPACES) await buildImage(workspace, base);
  for (const service of TRACED) await buildImage(`services/${service}`, base, { tag: tracedImage(service), tracing: true });
  engines = await frailEngines();
  home = mkdtempSync(join(tmpdir(), 'images-'));
  const folder = join(home, 'files');
  mkdirSync(folder);
  keys = openKeys(join(home, 'keys'));
  const replicas = Object.fromEntries(PROCESSES.map((name) => [name, 1]));
  const { amqpUrl, mongoUrl } = engines;
  // That a slow machine refuses some is another matter.
  const layout = { amqpUrl, mongoUrl, port: PORT, folder, databasePrefix: '', replicas, drainNotice: '1s', shedding: false, settings: {} };
  plans = planProcesses(layout, keys);
  const tracedReplicas = Object.fromEntries(PROCESSES.map((name) => [name, TRACED.includes(name) ? 1 : 0]));
  tracedPlans = planProcesses({ ...layout, port: TRACED_PORT, replicas: tracedReplicas }, keys);
  keys.privateKeyFile('operator');
  readableByUser(home);
});

afterAll(async () => {
  const containers = [...(plans ?? []).map(containerOf), ...(tracedPlans ?? []).map(tracedContainer)];
  await podman('rm', '--force', '--ignore', ...containers);
  await engines?.close();
  if (home !== undefined) rmSync(home, { recursive: true, force: true });
});

const containerOf = ({ name }: ProcessPlan) => `bubbles-images-${name}`;
const tracedContainer = (plan: ProcessPlan) => `${containerOf(plan)}-traced`;
const variables = (environment: Readonly<Record<string, string>>) =>
  Object.entries(environment).flatMap(([name, value]) => ['--env', `${name}=${value}`]);
const runOnce = (workspace: string, environment: Readonly<Record<string, string>>, ...words: readonly string[]) =>
  podman('run', '--rm', ...RESTRICTED, '--volume', `${home}:${home}:ro`, ...variables(environment), imageOf(workspace), ...words);
const awaitReady = async (plan: ProcessPlan, container = containerOf(plan)) => {
  const deadline = performance.now() + READY_LIMIT_MS;
  for (let why = await whyNotReady(plan); why !== null; why = await whyNotReady(plan)) {
    if (performance.now() > deadline) throw new Error(`${plan.name}: ${why}\n${await podman('logs', '--tail', '5', container)}`);
    await pause(50);
  }
};
const planOf = (service: string): ProcessPlan => {
  const plan = plans.find((one) => one.service === service);
  if (plan === undefined) throw new Error(`no process of ${service}`);
  return plan;
};

describe('an image', () => {
  it.each(WORKSPACES)('of %s holds its sources, no tests, and few packages', async (workspace) => {
    const listed = await runOnce(workspace, {}, 'find', '/app', '-path', '*/node_modules', '-prune', '-o', '-type', 'f', '-print');
    const files = listed.split('\n');
    expect(files).toContain(`/app/${workspace}/src/main.ts`);
    expect(files.filter((file) => /[.](?:test|contract)[.]ts$|\/test\//.test(file))).toEqual([]);
    const sizes = await runOnce(workspace, {}, 'du', '-sm', ...DATA.map((name) => `--exclude=${name}`), '/app/node_modules');
    expect(Number.parseInt(sizes, 10)).toBeLessThanOrEqual(MODULES_LIMIT_MB);
  });

  it.each(PROCESSES)('of %s says in one line what it has not been told, and ends with 2', async (service) => {
    const refusal: unknown = await runOnce(`services/${service}`, {}).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: 2, stderr: expect.stringMatching(/^[^\n]*bad configuration: [^\n]+\n$/) });
  });
});

describe('the product in containers without any rights', () => {
  it('declares the topology, migrates, and every process comes to be ready', async () => {
    await runOnce('deploy/topology', { AMQP_URL: engines.amqpUrl });
    await runOnce('deploy/migration', { MONGODB_URL: engines.mongoUrl });
    for (const plan of plans) {
      const files = plan.service === GATEWAY ? [] : ['--volume', `${join(home, 'files')}:${join(home, 'files')}`];
      const mounted = ['--volume', `${join(home, 'keys')}:${join(home, 'keys')}:ro`, ...files];
      const image = imageOf(`services/${plan.service}`);
      await podman('run', '--detach', '--name', containerOf(plan), ...RESTRICTED, ...mounted, ...variables(plan.environment), image);
    }
    await expect(Promise.all(plans.map((plan) => awaitReady(plan)))).resolves.toHaveLength(plans.length);
  });

  it('has no capability, another user than root, and nowhere to write', async () => {
    for (const plan of plans) {
      const inside = (...words: readonly string[]) => podman('exec', containerOf(plan), ...words);
      expect(await inside('grep', 'CapEff', '/proc/1/status')).toMatch(/^CapEff:\s+0+$/);
      expect(await inside('id', '-u')).toBe(String(USER));
      await expect(inside('touch', '/app/written')).rejects.toMatchObject({ stderr: expect.stringContaining('Read-only file system') });
    }
  });

  it('takes the orders of an operator', async () => {
    const environment = { IDENTITY_URL: planOf('identity-and-oauth').url, OPERATOR_KEY_FILE: keys.privateKeyFile('operator') };
    const made = await runOnce('deploy/admin', environment, 'node', 'src/main.ts', 'accounts', 'create', '--email', 'ada@images.test');
    expect(JSON.parse(made)).toMatchObject({ account: { email: 'ada@images.test', state: 'active' } });
  });

  it('sends the spans of a request through gateway and service to a collector, when it was built with tracing', async () => {
    const collector: Collector = await startCollector();
    const tracing = {
      NODE_OPTIONS: '--import=/app/deploy/observability/tracing/register.mjs',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_BSP_SCHEDULE_DELAY: '50',
    };
    for (const plan of tracedPlans) {
      const mounted = [
        '--volume',
        `${join(home, 'keys')}:${join(home, 'keys')}:ro`,
        '--volume',
        `${join(home, 'files')}:${join(home, 'files')}`,
      ];
      const environment = variables({ ...plan.environment, ...tracing });
      await podman(
        'run',
        '--detach',
        '--name',
        tracedContainer(plan),
        ...RESTRICTED,
        ...mounted,
        ...environment,
        tracedImage(plan.service),
      );
    }
    await Promise.all(tracedPlans.map((plan) => awaitReady(plan, tracedContainer(plan))));
    const [gateway] = tracedPlans.filter(({ service }) => service === GATEWAY);
    const answer = await fetch(`${gateway?.url}/oauth/jwks`);
    expect(answer.status).toBe(200);
    const atGateway = () => collector.spans.find(({ service, name }) => service === GATEWAY && name === 'GET /oauth/jwks');
    while (atGateway() === undefined) await pause(20);
    const spans = await collector.spansOf(atGateway()?.traceId ?? '', ['GET /oauth/jwks', 'GET /oauth/jwks']);
    expect(spans.map(({ service, name }) => `${service}: ${name}`).toSorted()).toEqual(
      TRACED.map((service) => `${service}: GET /oauth/jwks`),
    );
    const child = spans.find(({ service }) => service !== GATEWAY);
    expect(child?.parentSpanId).toBe(atGateway()?.spanId);
    collector.close();
  });

  it('is as the interface says', async () => {
    const environment = {
      STACK_URL: planOf(GATEWAY).url,
      IDENTITY_URL: planOf('identity-and-oauth').url,
      MEETINGS_URL: planOf('meetings-bot-gateway').url,
      OPERATOR_KEY_FILE: keys.privateKeyFile('operator'),
      AMQP_URL: engines.amqpUrl,
      MONGODB_URL: engines.mongoUrl,
      MAIL_FILES: join(home, 'files', 'mail'),
    };
    const files = CONFORMANCE.map((name) => `test/conformance/${name}.test.ts`);
    const words = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
    await expect(command('env', ...words, 'npm', 'run', '--silent', 'jest', '--', '-i', ...files)).resolves.toBeDefined();
  });

  it('ends in good order when it is told to', async () => {
    for (const plan of plans.toReversed()) await podman('stop', '--time', String(END_LIMIT_S), containerOf(plan));
    const codes = await Promise.all(plans.map((plan) => podman('inspect', '--format', '{{.State.ExitCode}}', containerOf(plan))));
    expect(codes).toEqual(plans.map(() => '0'));
  });
});
