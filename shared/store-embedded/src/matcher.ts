import { type Fields, isPlainObject } from '@bubbles/store/plain-data.ts';
import { storeRefusal } from '@bubbles/store/store-errors.ts';
import { Context } from 'mingo/core';
import * as arrayOperators from 'mingo/operators/query/array';
import * as elementOperators from 'mingo/operators/query/element';
import * as evaluationOperators from 'mingo/operators/query/evaluation';
import * as logicalOperators from 'mingo/operators/query/logical';
import { Query } from 'mingo/query';
import type { Options, QueryOperator } from 'mingo/types';
import { candidateReader } from './paths.ts';
import { compareValues, equalValues, typeRank } from './value-order.ts';

export type Matcher = (doc: Fields) => boolean;

type Test = (value: unknown, operand: unknown) => boolean;

/** Holds when one of the values at the path passes. */
const some = (test: Test) => (path: string, operand: unknown) => {
  const read = candidateReader(path);
  return (doc: Fields) => read(doc).some((value) => test(value, operand));
};
const none = (test: Test) => (path: string, operand: unknown) => {
  const holds = some(test)(path, operand);
  return (doc: Fields) => !holds(doc);
};

/** A range holds within the type of its bound only. */
const within = (holds: (order: number) => boolean): Test => {
  return (value, bound) => typeRank(value) === typeRank(bound) && holds(compareValues(value, bound));
};

const listOf = (operator: string, operand: unknown): readonly unknown[] => {
  if (!Array.isArray(operand)) throw storeRefusal(`${operator} needs an array.`);
  return operand;
};
const matchesItem = (value: unknown, item: unknown) =>
  item instanceof RegExp && typeof value === 'string' ? item.test(value) : equalValues(value, item);
/** Lists of texts are long: ids, and what is to be left out. */
const among = (operator: string, operand: unknown): ((value: unknown) => boolean) => {
  const list = listOf(operator, operand);
  if (!list.every((item) => typeof item === 'string')) return (value) => list.some((item) => matchesItem(value, item));
  const texts = new Set<unknown>(list);
  return (value) => texts.has(value);
};
const someAmong = (operator: string) => (path: string, operand: unknown) => {
  const read = candidateReader(path);
  const isAmong = among(operator, operand);
  return (doc: Fields) => read(doc).some(isAmong);
};
const noneAmong = (operator: string) => (path: string, operand: unknown) => {
  const holds = someAmong(operator)(path, operand);
  return (doc: Fields) => !holds(doc);
};

const all = (path: string, operand: unknown, options: Options) => {
  const queries = listOf('$all', operand).map((item) => new Query({ [path]: item }, options));
  return (doc: Fields) => queries.length > 0 && queries.every((query) => query.test(doc));
};

const simple = {
  $eq: some(equalValues),
  $ne: none(equalValues),
  $in: someAmong('$in'),
  $nin: noneAmong('$nin'),
  $lt: some(within((order) => order < 0)),
  $lte: some(within((order) => order <= 0)),
  $gt: some(within((order) => order > 0)),
  $gte: some(within((order) => order >= 0)),
};
const comparisons = { $all: all, ...simple };

/** mingo's query language with MongoDB's comparison of values: by type, by code point, bytes as bytes, sub-documents in the order of their fields. */
const context = Context.init({
  query: {
    $and: logicalOperators.$and,
    $or: logicalOperators.$or,
    $nor: logicalOperators.$nor,
    $not: logicalOperators.$not,
    $exists: elementOperators.$exists,
    $type: elementOperators.$type,
    $elemMatch: arrayOperators.$elemMatch,
    $size: arrayOperators.$size,
    $regex: evaluationOperators.$regex,
    $mod: evaluationOperators.$mod,
    // mingo types an operator as the intersection of all of its own, which no function but those can be.
    ...(comparisons as unknown as Record<`$${string}`, QueryOperator>),
  },
});

const every =
  (parts: readonly Matcher[]): Matcher =>
  (doc) =>
    parts.every((matches) => matches(doc));
const either =
  (parts: readonly Matcher[]): Matcher =>
  (doc) =>
    parts.some((matches) => matches(doc));

type Comparison = keyof typeof simple;
const isSimple = (operator: string): operator is Comparison => Object.hasOwn(simple, operator);
const isScalar = (value: unknown) => typeof value !== 'object' || value === null || value instanceof Date;

const fieldMatcher = (path: string, value: unknown): Matcher | null => {
  if (isScalar(value)) return simple.$eq(path, value);
  if (!isPlainObject(value) || Object.keys(value).length === 0) return null;
  const parts: Matcher[] = [];
  for (const [operator, operand] of Object.entries(value)) {
    if (!isSimple(operator) || !(isScalar(operand) || Array.isArray(operand))) return null;
    parts.push(simple[operator](path, operand));
  }
  return every(parts);
};
const listMatcher = (join: typeof every, value: unknown): Matcher | null =>
  Array.isArray(value) && value.length > 0 && value.every(isPlainObject) ? join(value.map(matcher)) : null;

/** What nearly every filter is made of, without mingo; null for the rest. */
const ownMatcher = (name: string, value: unknown): Matcher | null => {
  if (name === '$and') return listMatcher(every, value);
  if (name === '$or') return listMatcher(either, value);
  return name.startsWith('$') ? null : fieldMatcher(name, value);
};

const refused = (error: unknown) => storeRefusal(`The filter is wrong: ${Error.isError(error) ? error.message : String(error)}`);

const mingoMatcher = (filter: Fields): Matcher => {
  const query = new Query(filter, { context });
  return (doc) => query.test(doc);
};

/** Compiles a filter; what it cannot mean is refused. */
export const matcher = (filter: Fields): Matcher => {
  const parts: Matcher[] = [];
  const rest: Fields = {};
  try {
    for (const [name, value] of Object.entries(filter)) {
      const part = ownMatcher(name, value);
      if (part) parts.push(part);
      else rest[name] = value;
    }
    if (Object.keys(rest).length > 0) parts.push(mingoMatcher(rest));
  } catch (error) {
    throw refused(error);
  }
  const [only] = parts;
  return parts.length === 1 && only ? only : every(parts);
};

/** Tries a condition, as `$pull` takes one, on an element of an array. */
export const elementMatcher = (condition: unknown): ((element: unknown) => boolean) => {
  const onFields = isPlainObject(condition) && !Object.keys(condition).some((name) => name.startsWith('$'));
  if (onFields) {
    const matches = matcher(condition);
    return (element) => isPlainObject(element) && matches(element);
  }
  const matches = matcher({ element: condition });
  return (element) => matches({ element });
};
