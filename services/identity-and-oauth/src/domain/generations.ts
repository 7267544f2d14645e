/** A map that forgets what was not touched for `keepMs`, some time between once and twice that long; sooner when more than `most` were touched meanwhile. */
export interface Generations<V> {
  get(key: string, nowMs: number): V | null;
  set(key: string, value: V, nowMs: number): void;
}

/** Two maps: whatever is touched moves to the young one, the old one is dropped whole, so that forgetting costs nothing. */
export function generations<V>(keepMs: number, most = Number.POSITIVE_INFINITY): Generations<V> {
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
      const value = young.get(key) ?? old.get(key);
      if (value === undefined) return null;
      young.set(key, value);
      return value;
    },
    set: (key, value, nowMs) => {
      turn(nowMs);
      young.set(key, value);
    },
  };
}
