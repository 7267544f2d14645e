const FIRST_MS = 100;
const MOST_MS = 5000;
/** Never nothing: who backs off lets others run first. */
const LEAST_MS = 5;

/** Full jitter under a ceiling that doubles with each failure in a row, at most 5 s. `jitter` gives 0 to 1. */
export const backoffMs = (failures: number, jitter: () => number, mostMs = MOST_MS): number =>
  Math.max(LEAST_MS, jitter() * Math.min(FIRST_MS * 2 ** Math.min(failures, 10), mostMs));
