/** What is under way. */
export interface Traffic {
  /** One more of this caller; the answer ends it. */
  enter(caller: string): () => void;
  inFlight(): number;
  /** More is under way than there should be, and this caller has more than its share of it: whoever has less may always come in. */
  exceeds(caller: string, limit: number): boolean;
  /** Resolves when nothing is. */
  idle(): Promise<void>;
}

export const countTraffic = (): Traffic => {
  let inFlight = 0;
  const held = new Map<string, number>();
  let waiting: (() => void)[] = [];
  const leave = (caller: string) => {
    inFlight -= 1;
    const rest = (held.get(caller) ?? 0) - 1;
    if (rest > 0) held.set(caller, rest);
    else held.delete(caller);
    if (inFlight > 0) return;
    for (const resolve of waiting) resolve();
    waiting = [];
  };
  return {
    enter: (caller) => {
      inFlight += 1;
      held.set(caller, (held.get(caller) ?? 0) + 1);
      return () => leave(caller);
    },
    inFlight: () => inFlight,
    exceeds: (caller, limit) => inFlight > limit && (held.get(caller) ?? 0) > limit / held.size,
    idle: () => {
      if (inFlight === 0) return Promise.resolve();
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.push(resolve);
      return promise;
    },
  };
};
