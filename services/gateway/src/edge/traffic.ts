/** What is under way. */
export interface Traffic {
  /** One more; the answer ends it. */
  enter(): () => void;
  inFlight(): number;
  /** Resolves when nothing is. */
  idle(): Promise<void>;
}

export const countTraffic = (): Traffic => {
  let inFlight = 0;
  let waiting: (() => void)[] = [];
  const leave = () => {
    inFlight -= 1;
    if (inFlight > 0) return;
    for (const resolve of waiting) resolve();
    waiting = [];
  };
  return {
    enter: () => {
      inFlight += 1;
      return leave;
    },
    inFlight: () => inFlight,
    idle: () => {
      if (inFlight === 0) return Promise.resolve();
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.push(resolve);
      return promise;
    },
  };
};
