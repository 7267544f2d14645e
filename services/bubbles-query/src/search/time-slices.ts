import { setImmediate } from 'node:timers/promises';

/** How long work may hold the event loop before others get a turn. */
const SLICE_MS = 8;

export interface EventLoop {
  /** Milliseconds that never go back. */
  readonly elapsedMs: () => number;
  /** Resolves when the caller's next turn has come. */
  readonly nextTurn: () => Promise<void>;
}

/** Turns of the event loop, one in each round: however many wait for theirs, what came in meanwhile is served between two of them. */
export const turnsInOrder = (): (() => Promise<void>) => {
  let last = Promise.resolve();
  return () => {
    last = last.then(() => setImmediate());
    return last;
  };
};

/** Answers what long work calls between its steps: it lets others run once the slice has been used up. */
export const timeSlicer = ({ elapsedMs, nextTurn }: EventLoop): (() => Promise<void>) => {
  let began = elapsedMs();
  return async () => {
    if (elapsedMs() - began < SLICE_MS) return;
    await nextTurn();
    began = elapsedMs();
  };
};

/** Runs work that yields where others may have a turn. */
export const runInSlices = async <T>(work: Generator<null, T>, loop: EventLoop): Promise<T> => {
  const yieldToEventLoop = timeSlicer(loop);
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
    await yieldToEventLoop();
  }
};
