export const percentile = (values: readonly number[], share: number): number => {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
};

export const median = (values: readonly number[]): number => percentile(values, 0.5);

/** The median of the quotients round by round: what disturbs the machine disturbs both sides of a round. */
export const pairedRatio = (values: readonly number[], baseline: readonly number[]): number =>
  median(values.map((value, round) => value / (baseline[round] ?? Number.NaN)));

export const seededRandom = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
};

const RESAMPLES = 2000;

/** Where the median lies with 95 % confidence, by drawing the values again and again. */
export const medianInterval = (values: readonly number[]): readonly [number, number] => {
  const random = seededRandom(1);
  const drawn = () => median(values.map(() => values[Math.floor(random() * values.length)] ?? Number.NaN));
  const medians = Array.from({ length: RESAMPLES }, drawn);
  return [percentile(medians, 0.025), percentile(medians, 0.975)];
};
