import type { Collection, Database, Doc } from '@bubbles/shared/store/collection.ts';
import type { CrashPoints } from '@bubbles/shared/testing/crash-points.ts';

const STORE_STEPS = [
  'findOne',
  'find',
  'insert',
  'updateOne',
  'updateMany',
  'findOneAndUpdate',
  'replaceOne',
  'deleteOne',
  'deleteMany',
  'count',
] as const;

/** What a process reaches the world by; it can be told to die at a step from now on. */
export interface Mortal {
  database(database: Database): Database;
  port<P extends object>(port: P, methods: readonly (keyof P & string)[]): P;
  dieBy(crash: CrashPoints): void;
}

export const mortal = (): Mortal => {
  let crash: CrashPoints | null = null;
  const port = <P extends object>(live: P, methods: readonly (keyof P & string)[]): P =>
    new Proxy(live, { get: (target, name) => Reflect.get(crash === null ? target : crash.watch(target, methods), name) });
  return {
    port,
    database: (database) => ({
      ...database,
      collection: <T extends Doc>(name: string) => port<Collection<T>>(database.collection<T>(name), STORE_STEPS),
    }),
    dieBy(crashing) {
      crash = crashing;
    },
  };
};
