/** Sorted sources as one sorted sequence; nulls are passed on where they come. */
export function* mergeOrdered<T>(sources: readonly Generator<T | null>[], compare: (a: T, b: T) => number): Generator<T | null> {
  const heads: { source: Generator<T | null>; value: T }[] = [];
  for (const source of sources) {
    const value = yield* nextOf(source);
    if (value !== undefined) heads.push({ source, value });
  }
  while (heads.length > 0) {
    const least = heads.reduce((a, b) => (compare(b.value, a.value) < 0 ? b : a));
    yield least.value;
    const value = yield* nextOf(least.source);
    if (value === undefined) heads.splice(heads.indexOf(least), 1);
    else least.value = value;
  }
}

/** The next value after any nulls; undefined at the end. */
function* nextOf<T>(source: Generator<T | null>): Generator<null, T | undefined> {
  for (;;) {
    const { done, value } = source.next();
    if (done === true) return undefined;
    if (value !== null) return value;
    yield null;
  }
}
