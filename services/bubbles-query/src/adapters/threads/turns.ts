import { setImmediate } from 'node:timers/promises';

/** Turns of the event loop, handed out one after the other: however many wait for theirs, what came in meanwhile is served between two of them. */
export const turnsInOrder = (): (() => Promise<void>) => {
  let last = Promise.resolve();
  return () => {
    last = last.then(() => setImmediate());
    return last;
  };
};
