import { setTimeout as pause } from 'node:timers/promises';

/** Less than a test may take as a whole, so that what does not come is named. */
const EVENTUALLY_MS = 120_000;

/** Polls a condition that another process makes true. */
export const expectEventually = async (holds: () => boolean | Promise<boolean>): Promise<void> => {
  for (const deadline = performance.now() + EVENTUALLY_MS; !(await holds()); await pause(10))
    if (performance.now() > deadline) throw new Error(`still does not hold: ${String(holds)}`);
};

/** Collects what a handler saw; `count` resolves when it has seen that many. */
export const sightings = () => {
  const seen: number[] = [];
  let changed = Promise.withResolvers<void>();
  return {
    seen,
    see(n: number) {
      seen.push(n);
      changed.resolve();
      changed = Promise.withResolvers();
    },
    async count(least: number) {
      const late = () => changed.reject(new Error(`of ${least} came ${seen.length}: ${seen.join(', ')}`));
      const timer = setTimeout(late, EVENTUALLY_MS).unref();
      while (seen.length < least) await changed.promise;
      clearTimeout(timer);
    },
  };
};
