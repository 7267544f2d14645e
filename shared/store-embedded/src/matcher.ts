import { types } from 'node:util';
import { storeRefusal } from '@bubbles/store/collection.ts';
import { type Fields, isPlainObject } from '@bubbles/store/plain-data.ts';
import { holdsAt, valueReader } from './paths.ts';
import { compareValues, equalValues, typeRank } from './value-order.ts';

type Matcher = (doc: Fields) => boolean;
type Test = (value: unknown) => boolean;
/** Compiles a condition on a path; refuses a wrong operand. */
type Operator = (path: string, operand: unknown) => Matcher;

const JOINS: readonly string[] = ['$and', '$or', '$nor'];

/** `{ $gt: 1 }` is a condition, `{ city: 'Oslo' }` a value; `{ $or: [...] }` is a filter. */
export const hasOperators = (value: unknown): value is Fields =>
  isPlainObject(value) && Object.keys(value).some((name) => name.startsWith('$') && !JOINS.includes(name));

/** Like `holdsAt`, without looking into arrays. */
const onValues = (path: string, test: Test): Matcher => {
  const read = valueReader(path);
  return (doc) => read(doc).some(test);
};
const not = (matches: Matcher): Matcher => {
  return (doc) => !matches(doc);
};
const every = (parts: readonly Matcher[]): Matcher => {
  const [only] = parts;
  return parts.length === 1 && only ? only : (doc) => parts.every((matches) => matches(doc));
};
const either = (parts: readonly Matcher[]): Matcher => {
  return (doc) => parts.some((matches) => matches(doc));
};

const listOf = (name: string, operand: unknown): readonly unknown[] => {
  if (!Array.isArray(operand)) throw storeRefusal(`${name} needs an array.`);
  return operand;
};

const equals = (operand: unknown): Test => {
  if (!types.isRegExp(operand)) return (value) => equalValues(value, operand);
  return (value) => (typeof value === 'string' ? value.search(operand) !== -1 : equalValues(value, operand));
};
/** Lists of texts are often long, such as ids, and are looked up by hash. */
const among = (name: string, operand: unknown): Test => {
  const list = listOf(name, operand);
  if (list.every((item) => typeof item === 'string')) {
    const texts = new Set<unknown>(list);
    return (value) => texts.has(value);
  }
  const tests = list.map(equals);
  return (value) => tests.some((test) => test(value));
};
/** A range holds within the type of its bound only. */
const within = (holds: (order: number) => boolean): Operator => {
  return (path, bound) => {
    const rank = typeRank(bound);
    return holdsAt(path, (value) => typeRank(value) === rank && holds(compareValues(value, bound)));
  };
};

const $eq: Operator = (path, operand) => holdsAt(path, equals(operand));
const $in: Operator = (path, operand) => holdsAt(path, among('$in', operand));

const OPERATORS: Readonly<Record<string, Operator>> = {
  $eq,
  $in,
  $ne: (path, operand) => not($eq(path, operand)),
  $nin: (path, operand) => not(holdsAt(path, among('$nin', operand))),
  $lt: within((order) => order < 0),
  $lte: within((order) => order <= 0),
  $gt: within((order) => order > 0),
  $gte: within((order) => order >= 0),
  $exists: (path, operand) => {
    const exists = onValues(path, (value) => value !== undefined);
    return operand ? exists : not(exists);
  },
  $size: (path, operand) => onValues(path, (value) => Array.isArray(value) && value.length === operand),
  $all: (path, operand) => {
    const parts = listOf('$all', operand).map((item) => conditionMatcher(path, item));
    return parts.length > 0 ? every(parts) : () => false;
  },
  $elemMatch: (path, operand) => {
    const matches = elementMatcher(operand);
    return onValues(path, (value) => Array.isArray(value) && value.some(matches));
  },
  $not: (path, operand) => {
    if (!hasOperators(operand) && !types.isRegExp(operand)) throw storeRefusal('$not needs an operator or a pattern.');
    return not(conditionMatcher(path, operand));
  },
};

const conditionMatcher = (path: string, condition: unknown): Matcher => {
  if (!hasOperators(condition)) return $eq(path, condition);
  return every(
    Object.entries(condition).map(([name, operand]) => {
      const operator = Object.hasOwn(OPERATORS, name) ? OPERATORS[name] : undefined;
      if (!operator) throw storeRefusal(`'${name}' is not a query operator that stores may use.`);
      return operator(path, operand);
    }),
  );
};

const joined = (name: string, operand: unknown): Matcher => {
  const parts = listOf(name, operand).map((part) => {
    if (!isPlainObject(part)) throw storeRefusal(`${name} needs filters.`);
    return matcher(part);
  });
  if (parts.length === 0) throw storeRefusal(`${name} needs at least one filter.`);
  if (name === '$and') return every(parts);
  return name === '$or' ? either(parts) : not(either(parts));
};

/** Compiles a filter. Values are compared as MongoDB does: by type, texts by code point, sub-documents in the order of their fields. */
export const matcher = (filter: Fields): Matcher =>
  every(
    Object.entries(filter).map(([name, value]) => {
      if (JOINS.includes(name)) return joined(name, value);
      if (name.startsWith('$')) throw storeRefusal(`'${name}' is not a query operator that stores may use.`);
      return conditionMatcher(name, value);
    }),
  );

/** Compiles a condition on an element of an array, as `$elemMatch` and `$pull` take it: on its fields, or on the element itself. */
export const elementMatcher = (condition: unknown): Test => {
  if (isPlainObject(condition) && !hasOperators(condition)) {
    const matches = matcher(condition);
    return (element) => isPlainObject(element) && matches(element);
  }
  const matches = conditionMatcher('element', condition);
  return (element) => matches({ element });
};
