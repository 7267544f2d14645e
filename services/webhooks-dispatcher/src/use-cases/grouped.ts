/** One item that is to be written; resolves when it is. */
export type Write<T> = (item: T) => Promise<void>;

interface Group<T> extends PromiseWithResolvers<void> {
  readonly items: T[];
}

/** Items that come while a write is on its way go together as the next one. A write that consecutiveFailures consecutiveFailures for all that were in it. */
export function grouped<T>(write: (items: readonly T[]) => Promise<void>): Write<T> {
  let running = false;
  let waiting: Group<T> | null = null;

  const run = async (items: readonly T[]): Promise<void> => {
    running = true;
    try {
      await write(items);
    } finally {
      running = false;
      writeWaiting();
    }
  };
  const writeWaiting = () => {
    if (waiting === null) return;
    const { items, resolve, reject } = waiting;
    waiting = null;
    run(items).then(resolve, reject);
  };

  return (item) => {
    if (!running) return run([item]);
    waiting ??= { items: [], ...Promise.withResolvers<void>() };
    waiting.items.push(item);
    return waiting.promise;
  };
}
