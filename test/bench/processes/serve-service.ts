import { serviceAuth } from '@bubbles/auth/service-tokens.ts';
import { createMemoryBus } from '@bubbles/bus/memory/memory.ts';
import { type Infra, openService, type ServiceDefinition } from '@bubbles/host/service.ts';
import { hostService, INSTANT_DRAIN } from '@bubbles/host/service-host.ts';
import { createMetrics } from '@bubbles/http/ops/metrics.ts';
import { createLoadShedder, NO_SHEDDING } from '@bubbles/http/wire/overload.ts';
import { systemClock } from '@bubbles/kernel/clock.ts';
import type { Environment } from '@bubbles/kernel/config.ts';
import { systemIds } from '@bubbles/kernel/ids.ts';
import { createLog } from '@bubbles/kernel/log.ts';
import { logOutput } from '@bubbles/kernel/log-output.ts';
import { openMongo } from '@bubbles/store/mongo.ts';
import { openEmbedded } from '@bubbles/store-embedded/open-embedded.ts';
import { testConfig } from '@bubbles/testing/service-under-test.ts';
import { serveParent, settings, tellParent } from '../harness/in-child.ts';
import { switchedInfra } from '../harness/switched-infra.ts';
import { countedDatabase, type Reads } from './counted-database.ts';

/** What every service of the bench is told. */
export interface ServiceBenchSettings {
  readonly callers: string;
  readonly shedding?: boolean;
  /** As in production: store and broker are measured, until that is switched off, and each request writes its log line. */
  readonly switched?: boolean;
}

export interface ServiceReady<S> {
  readonly url: string;
  /** What the seeding made. */
  readonly seeded: S;
}

export interface BenchService<S> {
  readonly definition: ServiceDefinition;
  /** Where those are that it asks, and its key. */
  readonly environment?: Environment;
  /** Fills the store before the service starts. */
  readonly seed: (infra: Infra) => Promise<S>;
  /** What the parent asks beside the number of reads of the store. */
  readonly answer?: (question: never) => unknown;
}

const databaseOf = (name: string, { clock, log }: Pick<Infra, 'clock' | 'log'>) => {
  const url = process.env['MONGODB_URL'];
  if (url === undefined) return openEmbedded({ path: ':memory:', log }).database(name);
  return openMongo({ url, name: `bench_${name.replaceAll('-', '_')}_${process.pid}`, log, clock });
};

/** A service as in production but for its bus, which is this process's own, and its store where none is given: the embedded one. */
export const serveService = async <S>({ definition, environment, seed, answer = () => null }: BenchService<S>): Promise<void> => {
  const { callers, shedding = false, switched = false } = settings<ServiceBenchSettings>();
  const { name } = definition;
  const clock = systemClock();
  const destination = switched ? logOutput(process.stdout) : process.stderr;
  const log = createLog({ name, level: switched ? 'info' : 'error', destination });
  const reads: Reads = { count: 0 };
  const database = countedDatabase(databaseOf(name, { clock, log }), reads);
  const given = { clock, ids: systemIds(), log, database, bus: createMemoryBus({ clock, log }) };
  const seeded = await seed(given);
  const config = testConfig(definition, { ...environment, CALLER_KEYS: callers });
  const metrics = createMetrics();
  const infra = switched ? switchedInfra(given, metrics) : given;
  const host = await hostService({
    service: openService(definition, { ...infra, config, metrics, migrations: 'run' }),
    infra,
    listen: { host: '127.0.0.1', port: 0 },
    ops: null,
    drain: INSTANT_DRAIN,
    publicBaseUrl: config.publicBaseUrl,
    internalAuth: serviceAuth({ audience: name, callers: config.callers, clock }),
    metrics,
    shedder: shedding ? createLoadShedder() : NO_SHEDDING,
    startJobs: () => ({ idle: () => Promise.resolve(), stop: () => Promise.resolve() }),
  });
  await host.started;
  serveParent((question) => (question === 'reads' ? reads.count : answer(question)));
  tellParent({ url: host.url, seeded });
};
