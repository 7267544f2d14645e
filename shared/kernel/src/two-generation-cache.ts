/** A map that drops entries which were not used for `keepMs` to twice that long, or sooner when more than `most` were used meanwhile. */
export interface TwoGenerationCache<V> {
  get(key: string, nowMs: number): V | null;
  set(key: string, value: V, nowMs: number): void;
}

/** Two maps: what is touched moves to the young one, the old one is dropped whole, so that forgetting costs nothing. */
export const createTwoGenerationCache = <V>(keepMs: number, most = Number.POSITIVE_INFINITY): TwoGenerationCache<V> => {
  let young = new Map<string, V>();
  let old = new Map<string, V>();
  let turnedAt = Number.NEGATIVE_INFINITY;

  const turn = (nowMs: number) => {
    if (nowMs - turnedAt <= keepMs && young.size < most) return;
    old = young;
    young = new Map();
    turnedAt = nowMs;
  };

  return {
    get: (key, nowMs) => {
      turn(nowMs);
      const touched = young.get(key);
      if (touched !== undefined) return touched;
      const value = old.get(key);
      if (value === undefined) return null;
      young.set(key, value);
      return value;
    },
    set: (key, value, nowMs) => {
      turn(nowMs);
      young.set(key, value);
    },
  };
};
