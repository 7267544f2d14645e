import { type Fields, isPlainObject } from '@bubbles/store/plain-data.ts';
import { compareValues, EMPTY_ARRAY } from './value-order.ts';

export const isArrayIndex = (segment: string): boolean => /^(0|[1-9]\d*)$/.test(segment);

/** The first segment of a path. */
export const rootOf = (path: string): string => {
  const dot = path.indexOf('.');
  return dot === -1 ? path : path.slice(0, dot);
};

/** Hands over each value that stands at the path, going into the elements of arrays on the way; `undefined` where there is none. */
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

const reader = (path: string, spread: (value: unknown, into: unknown[]) => void): Reader => {
  const segments = path.split('.');
  const single = segments.length === 1;
  return (doc) => {
    const values: unknown[] = [];
    if (single) spread(Object.hasOwn(doc, path) ? doc[path] : undefined, values);
    else visit(doc, segments, (value) => spread(value, values));
    return values;
  };
};

/** What a condition on the path is tried on: the values there, and the elements of those that are arrays. */
export const candidateReader = (path: string): Reader =>
  reader(path, (value, into) => {
    into.push(value);
    if (Array.isArray(value)) for (const element of value) into.push(element);
  });

/** What an index on the path holds: as the candidates, but an array is there through its elements only. */
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
