import type { Collection, Database, Doc } from '@bubbles/shared/store/collection.ts';
import { storeUnavailable } from '@bubbles/shared/store/store-errors.ts';
import { type CrashPoints, crashPoints, faultPoints } from '@bubbles/shared/testing/crash-points.ts';

const STORE_STEPS = ['findOne', 'find', 'insert', 'updateOne', 'updateMany', 'updateEach', 'findOneAndUpdate', 'deleteOne'] as const;

/** The same data as `database`, whose steps are watched from the moment when `watching` answers by what. */
const watchedDatabase = (database: Database, watching: () => CrashPoints | null): Database => ({
  ...database,
  collection: <T extends Doc>(name: string): Collection<T> =>
    new Proxy(database.collection<T>(name), {
      get: (target, method) => Reflect.get(watching()?.watch(target, STORE_STEPS) ?? target, method),
    }),
});

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
    ...watchedDatabase(database, () => crash),
    dieAt(step) {
      end = step;
      crash = crashPoints(step);
    },
    isDead: () => crash !== null && crash.steps() >= end,
  };
};

/** The same data as `database`, which is told when to be away. */
export interface FalteringDatabase extends Database {
  /** Another port, whose calls are steps among those of the store. */
  port<P extends object>(port: P, methods: readonly (keyof P & string)[]): P;
  /** From now on steps are counted, and this one fails: a write that does has been made or has not. */
  failAt(step: number): void;
  hasFailed(): boolean;
}

export const falteringDatabase = (database: Database): FalteringDatabase => {
  let fault: CrashPoints | null = null;
  let at = Number.POSITIVE_INFINITY;
  return {
    ...watchedDatabase(database, () => fault),
    port: (live, methods) => new Proxy(live, { get: (target, method) => Reflect.get(fault?.watch(target, methods) ?? target, method) }),
    failAt(step) {
      at = step;
      fault = faultPoints(step, () => storeUnavailable(new Error('away')));
    },
    hasFailed: () => fault !== null && fault.steps() >= at,
  };
};
