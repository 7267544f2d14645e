import { join } from 'node:path';
import type { Environment } from '@bubbles/kernel/config.ts';
import { type Keys, openKeys } from '@bubbles/keys/keys.ts';
import { runScript } from './engines.ts';
import { engineAccess, type ProcessPlan, planProcesses, type StackLayout } from './plan.ts';
import { openProcesses, type Processes } from './processes.ts';
import { awaitReady, checkPorts } from './readiness.ts';

interface StackOptions {
  /** Folder of keys, logs and pid files. */
  readonly home: string;
  readonly layout: StackLayout;
  /** Absent: the sources of this file. */
  readonly release?: Release;
}

/** Sources of another release, with its own plan of the layout. */
export interface Release {
  readonly root: string;
  readonly plans: readonly ProcessPlan[];
}

/** Every process of the product on this machine. */
export interface Stack {
  readonly plans: readonly ProcessPlan[];
  readonly processes: Processes;
  readonly keys: Keys;
  plansOf(service: string): readonly ProcessPlan[];
  /** The topology and the migration job, which run before the processes of a release. */
  runJobs(): Promise<void>;
  /** The jobs, then every process that does not run yet; resolves when all are ready, and takes back what it started when one cannot be. */
  up(): Promise<void>;
  /** Those who ask before those who are asked, each to its own end. */
  down(): Promise<void>;
}

export const openStack = ({ home, layout, release }: StackOptions): Stack => {
  const keys = openKeys(join(home, 'keys'));
  const processes = openProcesses(home, release?.root);
  const plans = release?.plans ?? planProcesses(layout, keys);
  const plansOf = (service: string) => plans.filter((plan) => plan.service === service);
  const services = [...new Set(plans.map(({ service }) => service))];

  const endAll = (some: readonly ProcessPlan[], signal: NodeJS.Signals) => Promise.all(some.map((plan) => processes.end(plan, signal)));

  return {
    plans,
    processes,
    keys,
    plansOf,
    runJobs: () => runJobs(layout, release?.root),
    async up() {
      const missing = plans.filter((plan) => !processes.isRunning(plan));
      for (const plan of missing) await checkPorts(plan);
      await runJobs(layout, release?.root);
      for (const plan of missing) processes.start(plan);
      try {
        await Promise.all(plans.map((plan) => awaitReady(plan, processes)));
      } catch (error) {
        await endAll(missing, 'SIGKILL');
        throw error;
      }
    },
    async down() {
      for (const service of services.toReversed()) await endAll(plansOf(service), 'SIGTERM');
    },
  };
};

/** Jobs that run before the processes of a release. */
const runJobs = async (layout: StackLayout, root: string | undefined): Promise<void> => {
  const run = (job: string, environment: Environment) =>
    runScript({ command: process.execPath, args: [`deploy/${job}/src/main.ts`], environment, root });
  await run('topology', engineAccess(layout, 'topology').broker);
  await run('migration', { ...engineAccess(layout, 'migration').store, MONGODB_DATABASE_PREFIX: layout.databasePrefix });
};
