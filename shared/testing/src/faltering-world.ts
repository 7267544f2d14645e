import { storeUnavailable } from '@bubbles/store/collection.ts';
import { faultPoints } from './crash-points.ts';
import { type WatchedWorld, watchedWorld } from './watched-world.ts';

/** A world in which somebody is away for one step. */
interface FalteringWorld extends Omit<WatchedWorld, 'watchBy'> {
  /** Does the work, at this step of which somebody is away: what it answers, and whether it came to that. A write that fails has been made or has not. */
  failing<R>(step: number, work: () => Promise<R>): Promise<{ readonly hasFailed: boolean; readonly outcome: R }>;
}

export const falteringWorld = (): FalteringWorld => {
  const { watchBy, ...world } = watchedWorld();
  return {
    ...world,
    async failing(step, work) {
      const fault = faultPoints(step, () => storeUnavailable(new Error('away')));
      watchBy(fault);
      const outcome = await work();
      watchBy(null);
      return { hasFailed: fault.steps() >= step, outcome };
    },
  };
};

/** More than any flow has: a flow that never gets through ends. */
const MOST_STEPS = 800;

/** Runs the flow again and again, failing one step later each time, until it came to no failure; answers how many there were. */
export const failEverywhere = async (failedAt: (step: number) => Promise<boolean>): Promise<number> => {
  for (let step = 1; step < MOST_STEPS; step += 1) if (!(await failedAt(step))) return step - 1;
  throw new Error('the flow never got through');
};
