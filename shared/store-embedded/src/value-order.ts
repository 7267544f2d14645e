import { types } from 'node:util';
import { type Fields, isBytes } from '@bubbles/store/plain-data.ts';

/** What an index holds for an empty array: sorted before null, equal to no value of a query. */
export const EMPTY_ARRAY = Symbol('empty array');

const RANK = {
  emptyArray: 0,
  null: 5,
  number: 10,
  text: 15,
  object: 20,
  array: 25,
  bytes: 30,
  boolean: 40,
  date: 45,
  pattern: 50,
} as const;

const objectRank = (value: object): number => {
  if (Array.isArray(value)) return RANK.array;
  if (types.isDate(value)) return RANK.date;
  if (isBytes(value)) return RANK.bytes;
  return types.isRegExp(value) ? RANK.pattern : RANK.object;
};

/** The rank of a value's type in MongoDB's order of types; absent counts as null. */
export const typeRank = (value: unknown): number => {
  if (value === null || value === undefined) return RANK.null;
  switch (typeof value) {
    case 'number':
      return RANK.number;
    case 'string':
      return RANK.text;
    case 'boolean':
      return RANK.boolean;
    case 'symbol':
      return RANK.emptyArray;
    default:
      return objectRank(value);
  }
};

/** Surrogates encode the highest code points, but their units are below U+E000. */
const unitRank = (unit: number): number => {
  if (unit >= 0xe000) return unit - 0x800;
  return unit >= 0xd800 ? unit + 0x2000 : unit;
};

/** By code point, as MongoDB compares UTF-8. */
const compareText = (a: string, b: string): number => {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at += 1) {
    const [left, right] = [a.charCodeAt(at), b.charCodeAt(at)];
    if (left !== right) return unitRank(left) - unitRank(right);
  }
  return a.length - b.length;
};

/** NaN comes first and equals itself. */
const compareNumbers = (a: number, b: number): number => {
  if (a < b) return -1;
  if (a > b) return 1;
  return a === b ? 0 : Number(Number.isNaN(b)) - Number(Number.isNaN(a));
};

const compareArrays = (a: readonly unknown[], b: readonly unknown[]): number => {
  for (let at = 0; at < Math.min(a.length, b.length); at += 1) {
    const order = compareValues(a[at], b[at]);
    if (order !== 0) return order;
  }
  return a.length - b.length;
};

/** Field by field in the order in which they were written: `{a, b}` is not `{b, a}`. */
const compareFields = (a: Fields, b: Fields): number => {
  const [left, right] = [Object.entries(a), Object.entries(b)];
  for (const [at, [name, value]] of left.entries()) {
    const other = right[at];
    if (!other) return 1;
    const order = typeRank(value) - typeRank(other[1]) || compareText(name, other[0]) || compareValues(value, other[1]);
    if (order !== 0) return order;
  }
  return left.length - right.length;
};

const compareSameType = (a: unknown, b: unknown): number => {
  if (Array.isArray(a) && Array.isArray(b)) return compareArrays(a, b);
  if (types.isDate(a) && types.isDate(b)) return a.getTime() - b.getTime();
  if (isBytes(a) && isBytes(b)) return a.length - b.length || Buffer.compare(a, b);
  if (typeof a === 'boolean') return Number(a) - Number(b);
  if (types.isRegExp(a) || typeof a !== 'object' || typeof b !== 'object' || a === null || b === null)
    return compareText(String(a), String(b));
  // What is left of one rank are two plain objects.
  return compareFields(a as Fields, b as Fields);
};

/** MongoDB's order over everything that a document may hold. */
export const compareValues = (a: unknown, b: unknown): number => {
  if (a === b) return 0;
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b);
  if (typeof a === 'number' && typeof b === 'number') return compareNumbers(a, b);
  if (a instanceof Date && b instanceof Date) return a.getTime() - b.getTime();
  const [left, right] = [typeRank(a), typeRank(b)];
  if (left !== right) return left - right;
  if (left === RANK.null || left === RANK.emptyArray) return 0;
  return compareSameType(a, b);
};

export const equalValues = (a: unknown, b: unknown): boolean =>
  a === b || (!(typeof a === 'string' && typeof b === 'string') && compareValues(a, b) === 0);
