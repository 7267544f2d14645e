import { type Fields, isPlainObject } from '@bubbles/store/plain-data.ts';
import { compareValues, EMPTY_ARRAY } from './value-order.ts';

export const isArrayIndex = (segment: string): boolean => /^(0|[1-9]\d*)$/.test(segment);

/** The first segment of a path. */
export const rootOf = (path: string): string => {
  const dot = path.indexOf('.');
  return dot === -1 ? path : path.slice(0, dot);
};

/** Calls `leaf` with each value at the path, also below elements of arrays on the way; with `undefined` where there is none. */
const visit = (value: unknown, segments: readonly string[], leaf: (value: unknown) => void): void => {
  const [segment, ...rest] = segments;
  if (segment === undefined) {
    leaf(value);
  } else if (Array.isArray(value)) {
    if (isArrayIndex(segment) && Number(segment) < value.length) visit(value[Number(segment)], rest, leaf);
    for (const element of value) if (isPlainObject(element)) visit(element, segments, leaf);
  } else if (isPlainObject(value) && Object.hasOwn(value, segment)) {
    visit(value[segment], rest, leaf);
  } else {
    leaf(undefined);
  }
};

type Reader = (doc: Fields) => unknown[];

const reader = (path: string, spread: (value: unknown, into: unknown[]) => unknown): Reader => {
  const segments = path.split('.');
  const single = segments.length === 1;
  return (doc) => {
    const values: unknown[] = [];
    if (single) spread(Object.hasOwn(doc, path) ? doc[path] : undefined, values);
    else visit(doc, segments, (value) => spread(value, values));
    return values;
  };
};

/** The values at the path. */
export const valueReader = (path: string): ((doc: Fields) => unknown[]) => reader(path, (value, into) => into.push(value));

/** Whether a condition holds on the path: for a value there, or for an element of one that is an array. */
export const holdsAt = (path: string, test: (value: unknown) => boolean): ((doc: Fields) => boolean) => {
  const holds = (value: unknown) => test(value) || (Array.isArray(value) && value.some(test));
  if (!path.includes('.')) return (doc) => holds(Object.hasOwn(doc, path) ? doc[path] : undefined);
  const read = valueReader(path);
  return (doc) => read(doc).some(holds);
};

/** What an index on the path holds: the values there, an array through its elements only. */
export const indexedReader = (path: string): Reader => {
  const read = reader(path, (value, into) => {
    if (!Array.isArray(value)) into.push(value);
    else if (value.length === 0) into.push(EMPTY_ARRAY);
    else for (const element of value) into.push(element);
  });
  return (doc) => {
    const values = read(doc);
    return values.length === 0 ? [undefined] : values;
  };
};

/** The value by which a document is sorted: the least of an array's elements, or the greatest when descending. */
export const sortValueReader = (path: string, direction: 1 | -1): ((doc: Fields) => unknown) => {
  const read = indexedReader(path);
  return (doc) => {
    const values = read(doc);
    return values.length === 1 ? values[0] : values.reduce((best, value) => (compareValues(value, best) * direction < 0 ? value : best));
  };
};
