/** What waits, by caller. Callers take turns, so that the crowd of one delays nobody but itself. */
export interface FairQueue<T> {
  size(): number;
  push(caller: string, item: T): void;
  /** The next item of the first caller in turn that may go; null when none may. */
  shift(mayGo?: (caller: string) => boolean): T | null;
  /** Does nothing when it does not wait any more. */
  remove(caller: string, item: T): void;
  each(act: (item: T) => void): void;
}

const ANYBODY = (): boolean => true;

export const createFairQueue = <T>(): FairQueue<T> => {
  /** In order of turns: a caller that was served goes to the end. */
  const waiting = new Map<string, Set<T>>();
  let size = 0;
  const take = (caller: string, items: Set<T>, item: T): void => {
    items.delete(item);
    size -= 1;
    if (items.size === 0) waiting.delete(caller);
  };
  return {
    size: () => size,
    push: (caller, item) => {
      const items = waiting.get(caller) ?? new Set();
      waiting.set(caller, items.add(item));
      size += 1;
    },
    shift: (mayGo = ANYBODY) => {
      for (const [caller, items] of waiting) {
        if (!mayGo(caller)) continue;
        for (const item of items) {
          waiting.delete(caller);
          waiting.set(caller, items);
          take(caller, items, item);
          return item;
        }
      }
      return null;
    },
    remove: (caller, item) => {
      const items = waiting.get(caller);
      if (items?.has(item)) take(caller, items, item);
    },
    each: (act) => {
      for (const items of waiting.values()) for (const item of items) act(item);
    },
  };
};
