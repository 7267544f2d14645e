import { f64 } from './typed-arrays.ts';

const siftDown = (heap: Float64Array, length: number, root: number): void => {
  let at = root;
  const value = f64(heap, root);
  for (;;) {
    let child = 2 * at + 1;
    if (child >= length) break;
    if (child + 1 < length && f64(heap, child + 1) > f64(heap, child)) child++;
    if (f64(heap, child) <= value) break;
    heap[at] = f64(heap, child);
    at = child;
  }
  heap[at] = value;
};

/** The `count` smallest keys that are at least `from`, ascending. */
export const smallest = (keys: Float64Array, from: number, count: number): Float64Array => {
  const heap = new Float64Array(Math.min(count, keys.length));
  let length = 0;
  for (let i = 0; i < keys.length; i++) {
    const key = f64(keys, i);
    if (key < from) continue;
    if (length < heap.length) {
      heap[length++] = key;
      if (length === heap.length) for (let root = length >>> 1; root >= 0; root--) siftDown(heap, length, root);
    } else if (key < f64(heap, 0)) {
      heap[0] = key;
      siftDown(heap, length, 0);
    }
  }
  return heap.subarray(0, length).sort();
};

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
