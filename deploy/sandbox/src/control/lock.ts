/** Many may hold it together, or one alone: control calls among each other, against a clock step or a reset. */
export interface Lock {
  shared<T>(work: () => Promise<T>): Promise<T>;
  exclusive<T>(work: () => Promise<T>): Promise<T>;
}

export function createLock(): Lock {
  let last: Promise<unknown> = Promise.resolve();
  const inside = new Set<Promise<unknown>>();

  const settled = async (work: Promise<unknown>) => {
    await work.then(
      () => null,
      () => null,
    );
  };
  return {
    async shared(work) {
      for (let seen: Promise<unknown> | null = null; seen !== last; await settled(last)) seen = last;
      const run = work();
      inside.add(run);
      try {
        return await run;
      } finally {
        inside.delete(run);
      }
    },
    exclusive(work) {
      const before = last;
      const run = (async () => {
        await settled(before);
        await Promise.allSettled(inside);
        return work();
      })();
      last = run;
      return run;
    },
  };
}
