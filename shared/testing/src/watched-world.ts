import { type Collection, type Database, type Doc, OPERATIONS } from '@bubbles/store/collection.ts';
import type { CrashPoints } from './crash-points.ts';

/** What a process reaches the world by. */
export interface WatchedWorld {
  /** The same data as `database`. */
  database(database: Database): Database;
  port<P extends object>(port: P, methods: readonly (keyof P & string)[]): P;
  /** What counts the steps from now on; null for nobody. */
  watchBy(points: CrashPoints | null): void;
}

export const watchedWorld = (): WatchedWorld => {
  let points: CrashPoints | null = null;
  const port = <P extends object>(live: P, methods: readonly (keyof P & string)[]): P =>
    new Proxy(live, { get: (target, name) => Reflect.get(points?.watch(target, methods) ?? target, name) });
  return {
    port,
    database: (database) => ({
      ...database,
      collection: <T extends Doc>(name: string) => port<Collection<T>>(database.collection<T>(name), OPERATIONS),
    }),
    watchBy(next) {
      points = next;
    },
  };
};
