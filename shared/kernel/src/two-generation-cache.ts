/** A map that drops entries which were not used for `keepMs` to twice that long, or sooner when more than `most` were used meanwhile. */
interface TwoGenerationCache<V> {
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

interface ExpiringMemoOptions<V> {
  /** Rejects what must not be kept. */
  readonly make: (key: string) => Promise<{ readonly value: V; readonly expiresAtMs: number }>;
  readonly now: () => number;
  readonly keepMs: number;
  readonly most: number;
}

/** Makes the value of a key once and gives it again until it expires. A failure is not kept. */
export const createExpiringMemo = <V>({ make, now, keepMs, most }: ExpiringMemoOptions<V>): ((key: string) => Promise<V>) => {
  const made = createTwoGenerationCache<{ readonly value: V; readonly expiresAtMs: number }>(keepMs, most);
  return async (key) => {
    const nowMs = now();
    const known = made.get(key, nowMs);
    if (known !== null && known.expiresAtMs > nowMs) return known.value;
    const fresh = await make(key);
    made.set(key, fresh, nowMs);
    return fresh.value;
  };
};
