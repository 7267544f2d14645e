/** Tells, at the start of each request, whether there is room for it. */
export interface LoadShedder {
  admit(): boolean;
  /** Since when it has been refusing, on the scale of `performance.now()`; null while it admits. */
  refusingSince(): number | null;
  stop(): void;
}

export const NO_SHEDDING: LoadShedder = { admit: () => true, refusingSince: () => null, stop: () => undefined };

const SAMPLE_MS = 50;
const MAX_LAG_MS = 40;
/** Lag without traffic is another process, and one late sample a garbage collection: neither is overload. */
const MIN_REQUESTS_PER_SAMPLE = 10;
const LATE_SAMPLES = 2;

/** Judges by the lag of the event loop, in real time whatever the product's clock says. */
export const createLoadShedder = (): LoadShedder => {
  let due = performance.now() + SAMPLE_MS;
  let requests = 0;
  let late = 0;
  let since: number | null = null;
  const timer = setInterval(() => {
    const now = performance.now();
    late = now - due > MAX_LAG_MS && requests >= MIN_REQUESTS_PER_SAMPLE ? late + 1 : 0;
    since = late >= LATE_SAMPLES ? (since ?? now) : null;
    due = now + SAMPLE_MS;
    requests = 0;
  }, SAMPLE_MS).unref();
  return {
    admit: () => {
      requests += 1;
      return since === null;
    },
    refusingSince: () => since,
    stop: () => clearInterval(timer),
  };
};
