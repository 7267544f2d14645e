import { generateKeyPairSync } from 'node:crypto';
import { createMemoryBus } from '@bubbles/bus/memory/memory.ts';
import { GATEWAY } from '@bubbles/contracts/services.ts';
import { readGatewayConfig } from '@bubbles/gateway/config.ts';
import { startGateway } from '@bubbles/gateway/gateway.ts';
import { openService, type ServiceDefinition } from '@bubbles/host/service.ts';
import { hostService, INSTANT_DRAIN } from '@bubbles/host/service-host.ts';
import { measuredInfra } from '@bubbles/host/service-metrics.ts';
import { createMetrics, type Metrics } from '@bubbles/http/ops/metrics.ts';
import { NO_SHEDDING } from '@bubbles/http/wire/overload.ts';
import { systemClock } from '@bubbles/kernel/clock.ts';
import { systemIds } from '@bubbles/kernel/ids.ts';
import { fakeInternalAuth, SILENT_LOG } from '@bubbles/testing/http.ts';
import { memoryDatabase } from '@bubbles/testing/memory-database.ts';
import { ABSENT_PEER, testConfig } from '@bubbles/testing/service-under-test.ts';
import { PRODUCT } from '../../deploy/services/src/product.ts';

/** A figure that a running process shows at `/metrics`. */
export interface Figure {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly labels: readonly string[];
  /** The processes that show it. */
  readonly services: readonly string[];
}

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

interface Running {
  readonly url: string;
  readonly opsUrl: string | null;
  stop(): Promise<unknown>;
}

const LOCAL = { host: '127.0.0.1', port: 0 };
const ids = systemIds();
const clock = systemClock();
/** For figures that only a process with these settings has. */
const SETTINGS: Readonly<Record<string, Readonly<Record<string, string>>>> = { signup: { SIGNUP_MAIL_SERVER_LOOKUP: '1' } };

const shownBy = (service: string): Metrics => createMetrics({ service, output: { dropped: () => 0 } });

/** As its process does it, on a store and a broker in memory. */
const startService = async (definition: ServiceDefinition, metrics: Metrics): Promise<Running> => {
  const bus = createMemoryBus({ clock, log: SILENT_LOG });
  const infra = measuredInfra({ clock, ids, log: SILENT_LOG, database: memoryDatabase(), bus }, metrics);
  const config = testConfig(definition, SETTINGS[definition.name]);
  const peers = Object.fromEntries(definition.asks.map((callee) => [callee, ABSENT_PEER]));
  const host = await hostService({
    infra,
    metrics,
    service: openService(definition, { ...infra, config, metrics, peers, migrations: 'run' }),
    listen: LOCAL,
    ops: LOCAL,
    publicBaseUrl: config.publicBaseUrl,
    internalAuth: fakeInternalAuth(),
    shedder: NO_SHEDDING,
    drain: INSTANT_DRAIN,
  });
  await host.started;
  return host;
};

const startEdge = (metrics: Metrics): Promise<Running> => {
  const key = generateKeyPairSync('ed25519').privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64');
  const { config } = readGatewayConfig({ UPSTREAMS: 'identity-and-oauth=http://127.0.0.1:9', SERVICE_KEY: key });
  return startGateway({ ...config, listen: LOCAL, ops: LOCAL, drain: INSTANT_DRAIN }, { clock, ids, log: SILENT_LOG, metrics });
};

const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;
const samplesIn = (text: string): readonly Sample[] =>
  text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name = '', labels = ''] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? /.exec(line) ?? [];
      return { name, labels: Object.fromEntries([...labels.matchAll(LABEL)].map(([, label, value]) => [label, value])) };
    });

const HEAD = /^# HELP (\S+) (.*)\n# TYPE \S+ (\w+)$/gm;
/** `labelNames` is no part of its type, since it may be asked for with values alone. */
const labelsOf = (metrics: Metrics, name: string): readonly string[] => {
  const metric: object | undefined = metrics.registry.getSingleMetric(name);
  return metric !== undefined && 'labelNames' in metric ? [...new Set(['service', ...[metric.labelNames].flat().map(String)])] : [];
};

interface Shown {
  readonly figures: readonly Figure[];
  readonly samples: readonly Sample[];
}

const scrape = async (service: string, start: (metrics: Metrics) => Promise<Running>): Promise<Shown> => {
  const metrics = shownBy(service);
  const running = await start(metrics);
  try {
    await fetch(`${running.url}/v1/nothing`);
    const text = await (await fetch(`${running.opsUrl}/metrics`)).text();
    const figures = [...text.matchAll(HEAD)].map(([, name = '', help = '', type = '']) => ({
      name,
      help,
      type,
      labels: labelsOf(metrics, name),
      services: [service],
    }));
    return { figures, samples: samplesIn(text) };
  } finally {
    await running.stop();
  }
};

/** What every process of the product shows, each running for as long as it takes to ask. */
export const runningFigures = async (): Promise<Shown> => {
  const shown = [await scrape(GATEWAY, startEdge)];
  for (const definition of PRODUCT.definitions) shown.push(await scrape(definition.name, (metrics) => startService(definition, metrics)));
  const all = shown.flatMap(({ figures }) => figures);
  const names = [...new Set(all.map(({ name }) => name))].sort();
  const figures = names.flatMap((name) => {
    const [first, ...others] = all.filter((figure) => figure.name === name);
    return first === undefined ? [] : [{ ...first, services: [first, ...others].flatMap(({ services }) => services) }];
  });
  return { figures, samples: shown.flatMap(({ samples }) => samples) };
};
