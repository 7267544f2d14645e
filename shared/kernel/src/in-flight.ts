export interface InFlight {
  track<T>(work: Promise<T>): Promise<T>;
  /** Resolves when nothing is under way. */
  idle(): Promise<void>;
  size(): number;
}

/** Counts what is under way. */
export const inFlight = (): InFlight => {
  let count = 0;
  let quiet = Promise.withResolvers<void>();
  return {
    async track(work) {
      count += 1;
      try {
        return await work;
      } finally {
        count -= 1;
        if (count === 0) {
          quiet.resolve();
          quiet = Promise.withResolvers<void>();
        }
      }
    },
    idle: () => (count === 0 ? Promise.resolve() : quiet.promise),
    size: () => count,
  };
};
