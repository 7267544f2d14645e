type Found<V> = ReadonlyMap<string, V>;
type Read<V> = (keys: readonly string[]) => Promise<Found<V>>;

interface Waiting<V> extends PromiseWithResolvers<Found<V>> {
  readonly keys: Set<string>;
}

/**
 * Reads that come while `inFlight` are on their way wait and go together as one. A read never joins one that has begun, so that each sees
 * every write that was answered before it came.
 */
export function coalesced<V>(read: Read<V>, inFlight: number): Read<V> {
  let running = 0;
  let waiting: Waiting<V> | null = null;

  const run = async (keys: readonly string[]): Promise<Found<V>> => {
    running += 1;
    try {
      return await read(keys);
    } finally {
      running -= 1;
      sendWaiting();
    }
  };
  const sendWaiting = () => {
    if (!waiting) return;
    const { keys, resolve, reject } = waiting;
    waiting = null;
    run([...keys]).then(resolve, reject);
  };

  return (keys) => {
    if (running < inFlight) return run(keys);
    waiting ??= { keys: new Set(), ...Promise.withResolvers<Found<V>>() };
    for (const key of keys) waiting.keys.add(key);
    return waiting.promise;
  };
}
