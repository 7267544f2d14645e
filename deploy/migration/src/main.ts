import { parseArgs } from 'node:util';
import { SERVICES, type ServiceTable } from '@bubbles/contracts/services.ts';
import type { ServiceDefinition } from '@bubbles/host/service.ts';
import { systemClock } from '@bubbles/kernel/clock.ts';
import { readConfig } from '@bubbles/kernel/config.ts';
import { connectionUrl } from '@bubbles/kernel/config-values.ts';
import { isUnavailable } from '@bubbles/kernel/errors.ts';
import { systemIds } from '@bubbles/kernel/ids.ts';
import { createLog, type Log } from '@bubbles/kernel/log.ts';
import { logOutput } from '@bubbles/kernel/log-output.ts';
import { runJobProcess, StartupError } from '@bubbles/kernel/run-process.ts';
import { PRODUCT } from '@bubbles/services/product.ts';
import { accessRefusalOf } from '@bubbles/store/collection.ts';
import { type Migrations, openMigrations, type StepStatus } from '@bubbles/store/migrations.ts';
import { openMongo } from '@bubbles/store/mongo.ts';
import { z } from 'zod';

const NAME = 'migration';
const USAGE = 'usage: migration [status] [--dry-run] [--contract] [<service> …]';
const Variables = z.object({
  MONGODB_URL: connectionUrl('mongodb', 'mongodb+srv'),
  /** The same prefix as in `MONGODB_DATABASE` of the services. */
  MONGODB_DATABASE_PREFIX: z.string().nullable().default(null),
});
/** Time limit for one index build; the job's own deadline usually ends it earlier. */
const INDEXES_MS = 24 * 60 * 60 * 1000;

interface Order {
  readonly definitions: readonly ServiceDefinition[];
  readonly contract: boolean;
  readonly onlyTell: boolean;
}

const orderIn = (words: readonly string[]): Order => {
  const { values, positionals } = parsed(words);
  const [first, ...rest] = positionals;
  const onlyTell = first === 'status' || (values['dry-run'] ?? false);
  const names = first === 'status' ? rest : positionals;
  const unknown = names.find((name) => !PRODUCT.definitions.some((definition) => definition.name === name));
  if (unknown !== undefined) throw new StartupError(`there is no service ${unknown}; ${USAGE}`);
  const definitions = PRODUCT.definitions.filter(({ name }) => names.length === 0 || names.includes(name));
  return { definitions, contract: values.contract ?? false, onlyTell };
};

const parsed = (words: readonly string[]) => {
  try {
    return parseArgs({
      args: [...words],
      allowPositionals: true,
      options: { contract: { type: 'boolean' }, 'dry-run': { type: 'boolean' } },
    });
  } catch (error) {
    throw new StartupError(USAGE, error);
  }
};

const conditionOf = ({ step, record, migration }: StepStatus, contract: boolean): string => {
  if (migration === null) return 'is of a newer release and left alone';
  if (record?.finishedAt) return `done at ${record.finishedAt.toISOString()} in ${record.batches} batches`;
  if (step.phase === 'contract' && !contract) return 'waits for --contract, when no process of an earlier release runs any more';
  return record === null ? 'would run' : `would go on after ${record.batches} batches, from ${record.position ?? 'the start'}`;
};

/** Reads the status first, so that an unusable database ends the job with a clear message. */
const reached = async (migrations: Migrations, at: string): Promise<readonly StepStatus[]> => {
  try {
    return await migrations.status();
  } catch (error) {
    if (!isUnavailable(error) || !Error.isError(error)) throw error;
    const refusal = accessRefusalOf(error);
    if (refusal !== null) throw new StartupError(`MONGODB_URL: the database ${refusal}.`, error);
    const cause = Error.isError(error.cause) ? error.cause.message : error.message;
    throw new StartupError(`the database ${at} cannot be used: ${cause}`, error);
  }
};

/** Node's URL parser rejects a list of servers. */
const serversIn = (url: string): string => /^[^/]*\/\/(?:[^@/]*@)?([^/?]*)/.exec(url)?.[1] ?? '';

interface ServiceOrder extends Pick<Order, 'contract' | 'onlyTell'> {
  readonly definition: ServiceDefinition;
  readonly migrations: Migrations;
  readonly stopping: AbortSignal;
  /** Database name and servers, for error messages. */
  readonly at: string;
}

/** Resolves with false when it was stopped before the last step. */
const migrate = async ({ definition: { name }, migrations, contract, onlyTell, stopping, at }: ServiceOrder): Promise<boolean> => {
  const steps = await reached(migrations, at);
  if (!onlyTell) return migrations.run({ contract, stopping });
  const lines = steps.map((status) => {
    const { number, name: title, phase } = status.step;
    return `${name} ${number} ${title} (${phase}): ${conditionOf(status, contract)}\n`;
  });
  process.stdout.write(lines.length === 0 ? `${name}: has no steps\n` : lines.join(''));
  return true;
};

const stoppingOnSignal = (log: Log): AbortSignal => {
  const stopping = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => {
      log.info('stopping after the batch in progress', { signal });
      stopping.abort();
    });
  return stopping.signal;
};

const stopped = (service: string): void => {
  process.stderr.write(`${NAME}: stopped before the steps of ${service} were done; run it again and it goes on\n`);
  process.exitCode = 1;
};

/** Runs before the processes of a release, which wait for their steps. Runs the steps of one service after the other. */
await runJobProcess({
  name: NAME,
  work: async () => {
    const { definitions, ...order } = orderIn(process.argv.slice(2));
    const { MONGODB_URL, MONGODB_DATABASE_PREFIX } = readConfig(Variables, process.env);
    const log = createLog({ name: NAME, level: 'info', destination: logOutput(process.stdout) });
    const clock = systemClock();
    const stopping = stoppingOnSignal(log);
    const table: ServiceTable = SERVICES;
    for (const definition of definitions) {
      const { name: service, migrations: steps = [] } = definition;
      const serviceLog = log.child({ service });
      const name = `${MONGODB_DATABASE_PREFIX ?? ''}${table[service]?.database}`;
      const database = openMongo({ url: MONGODB_URL, name, log: serviceLog, clock, indexesMs: INDEXES_MS });
      try {
        const migrations = openMigrations({ database, service, steps, clock, ids: systemIds(), log: serviceLog });
        const isDone = await migrate({ definition, migrations, stopping, at: `${name} at ${serversIn(MONGODB_URL)}`, ...order });
        if (!isDone) return stopped(service);
      } finally {
        await database.close();
      }
    }
    if (!order.onlyTell) log.info('migrated', { services: definitions.length });
  },
});
