import type { Database } from '@bubbles/store/collection.ts';
import { crashPoints } from './crash-points.ts';
import { watchedWorld } from './watched-world.ts';

/** The same data as `database`, seen by a process that is told when to die. */
export interface MortalDatabase extends Database {
  /** From now on steps are counted, and nothing happens any more from this one on. */
  dieAt(step: number): void;
  isDead(): boolean;
}

export const mortalDatabase = (database: Database): MortalDatabase => {
  const world = watchedWorld();
  let crash = crashPoints();
  let end = Number.POSITIVE_INFINITY;
  return {
    ...world.database(database),
    dieAt(step) {
      end = step;
      crash = crashPoints(step);
      world.watchBy(crash);
    },
    isDead: () => crash.steps() >= end,
  };
};
