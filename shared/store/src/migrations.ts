import { setTimeout as pause } from 'node:timers/promises';
import { DomainError } from '@bubbles/kernel/errors.ts';
import { StartupError } from '@bubbles/kernel/run-process.ts';
import type { Database } from './collection.ts';
import {
  checksumOf,
  idOf,
  LeaseLost,
  type Migration,
  type MigrationContext,
  type StepName,
  type StepRecord,
  stepRunner,
  titleOf,
  withoutIndexesOf,
} from './migration-step.ts';
import type { LeaseDoc } from './work/run-jobs.ts';
import { createWorkQueue, holdLease } from './work/work-queue.ts';

export interface StepStatus {
  readonly step: StepName;
  /** Null when the step has not begun. */
  readonly record: StepRecord | null;
  /** Null for a step of a newer release. */
  readonly migration: Migration | null;
}

interface RunOptions {
  /** The operator confirms that no process of an earlier release is running. */
  readonly contract: boolean;
  readonly stopping: AbortSignal;
}

export interface Migrations {
  /** The database for the stores of the service, without the indexes that steps build. */
  readonly database: Database;
  /** The steps of this release, and begun steps of a newer one. Rejects with `StartupError` when the recorded steps contradict this release. */
  status(): Promise<readonly StepStatus[]>;
  /** Runs the due steps under a lease, so that concurrent jobs run each step once. False when stopped before the last step. */
  run(options: RunOptions): Promise<boolean>;
  /** Rejects with `unavailable`, naming the step to run, while a process of this release may not start. */
  check(): Promise<void>;
  hasRun(number: number): Promise<boolean>;
}

interface MigrationsOptions extends MigrationContext {
  readonly service: string;
  readonly steps: readonly Migration[];
}

const LEASE = 'migrations';
/** How long another job waits after a job was killed. */
const LEASE_MS = 15_000;
const LOOK_EVERY_MS = 500;
const refuseMisnumbered = (service: string, steps: readonly Migration[]) => {
  const wrong = steps.find(({ number }, index) => number !== index + 1);
  if (wrong !== undefined) throw new TypeError(`${service}: ${titleOf(wrong)} is out of order: steps are numbered from 1 without a gap.`);
};

export const openMigrations = ({ service, steps, ...context }: MigrationsOptions): Migrations => {
  refuseMisnumbered(service, steps);
  const records = context.database.collection<StepRecord>('migrations');
  const status = async () => statusOf(service, steps, await records.find({}, { sort: { _id: 1 } }));
  const runStep = stepRunner(records, context);
  const lease = leaseOf(context);

  const runDue = async ({ contract, stopping }: RunOptions, lost: AbortSignal): Promise<boolean> => {
    for (const step of dueOf(await status(), contract)) if (stopping.aborted || !(await runStep(step, { stopping, lost }))) return false;
    return true;
  };

  /** Null when another job holds or took the lease. */
  const runUnderLease = async (options: RunOptions): Promise<boolean | null> => {
    try {
      return await lease((lost) => runDue(options, lost));
    } catch (error) {
      if (!(error instanceof LeaseLost)) throw error;
      context.log.warn('another job has taken over', { service });
      return null;
    }
  };

  return {
    database: withoutIndexesOf(steps, context.database),
    status,
    async run(options) {
      for (;;) {
        const all = await status();
        const newer = all.filter(({ migration }) => migration === null).map(({ step }) => titleOf(step));
        if (newer.length > 0) context.log.warn('the database is of a newer release, whose steps this one leaves alone', { service, newer });
        if (dueOf(all, options.contract).length === 0) return true;
        if (options.stopping.aborted) return false;
        if ((await runUnderLease(options)) === null) await pause(LOOK_EVERY_MS);
      }
    },
    async check() {
      const [first] = dueOf(await status(), false);
      if (first !== undefined)
        throw new DomainError('unavailable', `${titleOf(first)} of ${service} has not run to its end: run the migration job`);
    },
    hasRun: async (number) => (await records.findOne({ _id: idOf({ number }) }))?.finishedAt != null,
  };
};

const dueOf = (all: readonly StepStatus[], contract: boolean): readonly Migration[] =>
  all
    .filter(({ step, record }) => (record?.finishedAt ?? null) === null && (contract || step.phase === 'expand'))
    .flatMap(({ migration }) => migration ?? []);

const statusOf = (service: string, steps: readonly Migration[], records: readonly StepRecord[]): readonly StepStatus[] => {
  const removed = records.find(({ number, phase }) => number > steps.length && phase === 'contract');
  if (removed !== undefined)
    throw new StartupError(
      `the database of ${service} is of a newer release: its ${titleOf(removed)} has removed what this release needs. Deploy that release again.`,
    );
  const newer = records.filter(({ number }) => number > steps.length).map((record) => ({ step: record, record, migration: null }));
  const known = steps.map((step) => {
    const record = records.find(({ number }) => number === step.number) ?? null;
    if (record !== null && record.checksum !== checksumOf(step))
      throw new StartupError(
        `${titleOf(step)} of ${service} has run as another one (${record.name}, checksum ${record.checksum}, now ${checksumOf(step)}). A step that was released never changes: put it back as it was, and add a new one.`,
      );
    return { step, record, migration: step };
  });
  return [...known, ...newer];
};

/** Runs the work under the lease of the database; null when another job holds it. */
const leaseOf = ({ database, clock, ids, log }: MigrationContext) => {
  const leases = database.collection<LeaseDoc>('leases');
  const queue = createWorkQueue<LeaseDoc>({ collection: leases, fields: { claimableAt: 'until', leaseToken: 'by' } });
  const token = ids.uuid();
  return async <R>(work: (lost: AbortSignal) => Promise<R>): Promise<R | null> => {
    const now = clock.now();
    const first = { token, until: new Date(now.getTime() + LEASE_MS) };
    const free = { _id: LEASE, ...queue.claimable(now) };
    const outcome = await leases.updateOne(free, queue.claimed(first, { $set: { ranFor: now } }), { upsert: true });
    if (outcome !== 'updated' && outcome !== 'inserted') return null;
    const renew = (until: Date) => queue.renew(LEASE, { token, until });
    try {
      return await holdLease({ leaseMs: LEASE_MS, renew, clock, log }, work);
    } finally {
      await queue
        .end({ id: LEASE, token, claimableAt: new Date(0) })
        .catch((error: unknown) => log.warn('lease not released, it ends by the clock', { job: LEASE, error }));
    }
  };
};
