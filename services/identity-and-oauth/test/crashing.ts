import { DomainError } from '@bubbles/kernel/errors.ts';
import type { Collection, Database, Doc } from '@bubbles/store/collection.ts';

export interface CrashingDatabase extends Database {
  /** How many more steps of the store are done before the process is dead to it. */
  dieAfter(steps: number): void;
  readonly isDead: boolean;
}

/** The same data as `database`, seen by a process that dies between two steps. */
export const crashingDatabase = (database: Database): CrashingDatabase => {
  let left = Number.POSITIVE_INFINITY;
  let dead = false;
  const step = async (work: () => unknown): Promise<unknown> => {
    dead ||= left <= 0;
    if (dead) throw new DomainError('unavailable', 'The process is dead.');
    left -= 1;
    return await work();
  };
  const crashing = <T extends Doc>(collection: Collection<T>): Collection<T> =>
    new Proxy(collection, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        return typeof member === 'function' ? (...args: unknown[]) => step(() => member.apply(target, args)) : member;
      },
    });
  return {
    collection: <T extends Doc>(name: string) => crashing(database.collection<T>(name)),
    ping: () => database.ping(),
    close: () => database.close(),
    dieAfter: (steps) => {
      left = steps;
    },
    get isDead() {
      return dead;
    },
  };
};
