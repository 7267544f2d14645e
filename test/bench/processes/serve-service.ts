import { memoryBus } from '@bubbles/shared/bus/memory.ts';
import { systemClock } from '@bubbles/shared/clock.ts';
import { callerKeys } from '@bubbles/shared/config-values.ts';
import { loadShedder, NO_SHEDDING } from '@bubbles/shared/http/overload.ts';
import { serviceAuth } from '@bubbles/shared/http/service-token.ts';
import { systemIds } from '@bubbles/shared/ids.ts';
import { createLog } from '@bubbles/shared/log.ts';
import { createMetrics } from '@bubbles/shared/metrics.ts';
import type { Infra } from '@bubbles/shared/service.ts';
import { hostService, INSTANT_DRAIN } from '@bubbles/shared/service-host.ts';
import type { ServiceParts } from '@bubbles/shared/service-process.ts';
import { openEmbedded } from '@bubbles/shared/store/embedded/open-embedded.ts';
import { openMongo } from '@bubbles/shared/store/mongo.ts';
import { serveParent, settings, tellParent } from '../harness/in-child.ts';
import { countedDatabase, type Reads } from './counted-database.ts';

/** What every service of the bench is told. */
export interface ServiceBenchSettings {
  readonly callers: string;
  readonly shedding?: boolean;
}

export interface ServiceReady<S> {
  readonly url: string;
  /** What the seeding made. */
  readonly seeded: S;
}

export interface BenchService<S> {
  readonly name: string;
  readonly compose: (infra: Infra) => ServiceParts;
  /** Fills the store before the service starts. */
  readonly seed: (infra: Infra) => Promise<S>;
}

const databaseOf = (name: string, { clock, log }: Pick<Infra, 'clock' | 'log'>) => {
  const url = process.env['MONGODB_URL'];
  if (url === undefined) return openEmbedded({ path: ':memory:', log }).database(name);
  return openMongo({ url, name: `bench_${name.replaceAll('-', '_')}_${process.pid}`, log, clock });
};

/** A service as in production but for its bus, which is this process's own, and its store where none is given: the embedded one. */
export const serveService = async <S>({ name, compose, seed }: BenchService<S>): Promise<void> => {
  const { callers, shedding = false } = settings<ServiceBenchSettings>();
  const clock = systemClock();
  const log = createLog({ name, level: 'error', destination: process.stderr });
  const reads: Reads = { count: 0 };
  const database = countedDatabase(databaseOf(name, { clock, log }), reads);
  const infra = { clock, ids: systemIds(), log, database, bus: memoryBus({ clock, log }) };
  const seeded = await seed(infra);
  const host = await hostService({
    ...compose(infra),
    infra,
    listen: { host: '127.0.0.1', port: 0 },
    ops: null,
    drain: INSTANT_DRAIN,
    publicBaseUrl: 'https://api.test',
    internalAuth: serviceAuth({ audience: name, callers: callerKeys().parse(callers), clock }),
    metrics: createMetrics(),
    shedder: shedding ? loadShedder() : NO_SHEDDING,
    startJobs: () => Promise.resolve({ stop: () => Promise.resolve() }),
  });
  await host.started;
  serveParent(() => reads.count);
  tellParent({ url: host.url, seeded });
};
