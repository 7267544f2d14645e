import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Clock } from '@bubbles/kernel/clock.ts';
import { aborted, backoffMs } from '@bubbles/kernel/concurrency.ts';
import { isUnavailable } from '@bubbles/kernel/errors.ts';
import type { Ids } from '@bubbles/kernel/ids.ts';
import type { Log } from '@bubbles/kernel/log.ts';
import type { Collection, Database, Doc, IndexSpec } from './collection.ts';

/** Dependencies of a backfill, with the database of its service. */
export interface MigrationContext {
  readonly database: Database;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
}

export interface StepName {
  /** Counts from 1 without gaps, in run order. */
  readonly number: number;
  readonly name: string;
  /** `expand` is safe while processes of the previous release run; `contract` only after all of them have ended. */
  readonly phase: 'expand' | 'contract';
}

/** Builds indexes of a collection that is too large for the start of a process. */
interface IndexStep extends StepName {
  readonly collection: string;
  readonly indexes: readonly IndexSpec[];
  readonly dropped: readonly string[];
}

/** Changes documents in batches. */
interface BackfillStep extends StepName {
  /**
   * Handles the documents after `position` (null for the first batch) and returns the new position, null when none is left. Must be idempotent: a batch runs
   * again when its process died before the position was stored. The source of the function is part of the step's checksum.
   */
  readonly batch: (context: MigrationContext, position: string | null) => Promise<string | null>;
}

/** A numbered schema change of a service. A released step must not be edited. */
export type Migration = IndexStep | BackfillStep;

/** Progress of a step, stored in the database that it changes. */
export interface StepRecord extends Doc, Pick<StepName, 'number' | 'name' | 'phase'> {
  readonly checksum: string;
  readonly startedAt: Date;
  /** Null until the step is done. */
  readonly finishedAt: Date | null;
  readonly position: string | null;
  readonly batches: number;
}

/** Consecutive failures, about half a minute in total. */
const MAX_FAILURES = 12;

const isIndexStep = (step: Migration): step is IndexStep => 'indexes' in step;
const withoutBlanks = (text: string): string => text.replace(/\s+/g, '');
export const titleOf = ({ number, name }: Pick<StepName, 'number' | 'name'>): string => `step ${number} (${name})`;

/** Covers everything that defines the step. Ignores blanks, because Node strips types to blanks. */
export const checksumOf = (step: Migration): string => {
  const { number, name, phase } = step;
  const does = isIndexStep(step) ? [step.collection, step.indexes, step.dropped] : withoutBlanks(step.batch.toString());
  return createHash('sha256')
    .update(JSON.stringify([number, name, phase, does]))
    .digest('hex')
    .slice(0, 16);
};

/** Another job has taken the lease. */
export class LeaseLost extends Error {}

/** Four digits, so that ids sort as numbers. */
export const idOf = ({ number }: Pick<StepName, 'number'>): string => String(number).padStart(4, '0');

/** Retries while the store is unreachable: an index build may outlive its connection. */
const persistent = async <R>(log: Log, work: () => Promise<R>): Promise<R> => {
  for (let failures = 1; ; failures += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isUnavailable(error) || failures === MAX_FAILURES) throw error;
      log.warn('store not reached, trying again', { failures, error });
      await pause(backoffMs(failures, Math.random));
    }
  }
};

interface Signals {
  readonly stopping: AbortSignal;
  readonly lost: AbortSignal;
}
interface Running extends Signals {
  readonly log: Log;
}

export const stepRunner = (records: Collection<StepRecord>, context: MigrationContext) => {
  const { database, clock } = context;

  const begin = async (step: Migration): Promise<StepRecord> => {
    const { number, name, phase } = step;
    const unstarted = {
      number,
      name,
      phase,
      checksum: checksumOf(step),
      startedAt: clock.now(),
      finishedAt: null,
      position: null,
      batches: 0,
    };
    await records.insert({ _id: idOf(step), ...unstarted });
    const record = await records.findOne({ _id: idOf(step) });
    if (record === null) throw new LeaseLost();
    return record;
  };
  /** Filters by the stored position, so that a job that lost its lease without noticing cannot advance the step. */
  const advance = async ({ _id, position, batches }: StepRecord, next: string): Promise<StepRecord> => {
    await records.updateOne({ _id, position, batches, finishedAt: null }, { $set: { position: next, batches: batches + 1 } });
    const stored = await records.findOne({ _id });
    if (stored?.position !== next || stored.batches !== batches + 1) throw new LeaseLost();
    return stored;
  };
  const finish = async ({ _id }: StepRecord) => {
    await records.updateOne({ _id, finishedAt: null }, { $set: { finishedAt: clock.now() }, $inc: { batches: 1 } });
  };

  const makeIndexes = async ({ collection, indexes, dropped }: IndexStep) => {
    await database.collection(collection).ensureIndexes(indexes, dropped);
    return null;
  };

  /** Undefined when stopped: a running index build is not awaited, because the server continues or restarts it. */
  const batchOf = (step: Migration, log: Log, stopping: AbortSignal) => (position: string | null) =>
    isIndexStep(step)
      ? Promise.race([persistent(log, () => makeIndexes(step)), aborted(stopping)])
      : persistent(log, () => step.batch({ ...context, log }, position));

  const batchesFrom = async (first: StepRecord, batch: ReturnType<typeof batchOf>, { stopping, lost, log }: Running) => {
    for (let record = first; ; ) {
      const before = record;
      const next = await batch(before.position);
      if (lost.aborted) throw new LeaseLost();
      if (next === null) return true;
      if (next !== undefined) record = await persistent(log, () => advance(before, next));
      if (stopping.aborted) return false;
    }
  };

  /** False when stopped before the end. */
  return async (step: Migration, { stopping, lost }: Signals): Promise<boolean> => {
    const log = context.log.child({ step: step.number, name: step.name });
    const record = await persistent(log, () => begin(step));
    log.info(record.batches > 0 ? 'step goes on' : 'step begins', { batches: record.batches });
    if (!(await batchesFrom(record, batchOf(step, log, stopping), { stopping, lost, log }))) return false;
    await persistent(log, () => finish(record));
    log.info('step is done');
    return true;
  };
};

/** Keeps all other methods of the collection. */
export const withoutIndexesOf = (steps: readonly Migration[], database: Database): Database => {
  const owned = new Map(steps.filter(isIndexStep).map(({ collection }) => [collection, new Set<string>()]));
  for (const { collection, indexes, dropped } of steps.filter(isIndexStep))
    for (const name of [...indexes.map((index) => index.name), ...dropped]) owned.get(collection)?.add(name);
  return {
    ...database,
    collection: <T extends Doc>(name: string): Collection<T> => {
      const collection = database.collection<T>(name);
      const names = owned.get(name);
      if (names === undefined) return collection;
      const ensureIndexes: Collection<T>['ensureIndexes'] = async (wanted, dropped = []) => {
        const [made, gone] = [wanted.filter((index) => !names.has(index.name)), dropped.filter((index) => !names.has(index))];
        if (made.length + gone.length > 0) await collection.ensureIndexes(made, gone);
      };
      return new Proxy(collection, { get: (target, key) => (key === 'ensureIndexes' ? ensureIndexes : Reflect.get(target, key)) });
    },
  };
};
