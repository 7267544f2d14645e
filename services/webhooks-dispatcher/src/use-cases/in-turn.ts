/** Work that has its turn by a key. */
export interface Turn<T> {
  readonly key: string;
  /** Whether it may run beside the work just before it, when that may too. */
  readonly shared: boolean;
  readonly work: () => Promise<T>;
}

interface Last {
  readonly shared: boolean;
  /** Ends when those who may not run beside it are through. */
  readonly before: Promise<unknown>;
  /** Ends when it and all before it are through. */
  readonly through: Promise<unknown>;
}

/** Of each key, work begins in the order in which it comes and when the work before it has ended, well or badly; keys do not wait for each other. */
export function inTurn(): <T>(turn: Turn<T>) => Promise<T> {
  const lastOf = new Map<string, Last>();
  return <T>({ key, shared, work }: Turn<T>): Promise<T> => {
    const last = lastOf.get(key);
    const before = shared && last?.shared ? last.before : last?.through;
    const ended = before === undefined ? work() : before.then(work);
    const through = Promise.allSettled([last?.through, ended]).then(() => {
      if (lastOf.get(key) === mine) lastOf.delete(key);
    });
    const mine: Last = { shared, before: before ?? Promise.resolve(), through };
    lastOf.set(key, mine);
    return ended;
  };
}
