/** Keys in order, so that equal values are equal bytes. */
export const canonicalJson = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) => (isPlainObject(inner) ? sorted(inner) : inner));

const isPlainObject = (value: unknown): value is object => typeof value === 'object' && value !== null && !Array.isArray(value);
const sorted = (value: object): object => Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
