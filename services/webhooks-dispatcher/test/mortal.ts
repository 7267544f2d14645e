import type { Collection, Database, Doc } from '@bubbles/shared/store/collection.ts';
import { type CrashPoints, crashPoints } from '@bubbles/shared/testing/crash-points.ts';

const STORE_STEPS = ['findOne', 'find', 'insert', 'updateOne', 'updateMany', 'updateEach', 'findOneAndUpdate', 'deleteOne'] as const;

/** The same data as `database`, seen by a process that is told when to die. */
export interface MortalDatabase extends Database {
  /** From now on steps are counted, and nothing happens any more from this one on. */
  dieAt(step: number): void;
  isDead(): boolean;
}

export const mortalDatabase = (database: Database): MortalDatabase => {
  let crash: CrashPoints | null = null;
  let end = Number.POSITIVE_INFINITY;
  return {
    ...database,
    collection: <T extends Doc>(name: string): Collection<T> =>
      new Proxy(database.collection<T>(name), {
        get: (target, method) => Reflect.get(crash === null ? target : crash.watch(target, STORE_STEPS), method),
      }),
    dieAt(step) {
      end = step;
      crash = crashPoints(step);
    },
    isDead: () => crash !== null && crash.steps() >= end,
  };
};
