import { Context } from 'mingo/core';
import * as arrayOperators from 'mingo/operators/query/array';
import * as elementOperators from 'mingo/operators/query/element';
import * as evaluationOperators from 'mingo/operators/query/evaluation';
import * as logicalOperators from 'mingo/operators/query/logical';
import { Query } from 'mingo/query';
import type { Options, QueryOperator } from 'mingo/types';
import { type Fields, isPlainObject } from '../plain-data.ts';
import { storeRefusal } from '../store-errors.ts';
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
const among: Test = (value, operand) => listOf('$in', operand).some((item) => matchesItem(value, item));

const all = (path: string, operand: unknown, options: Options) => {
  const queries = listOf('$all', operand).map((item) => new Query({ [path]: item }, options));
  return (doc: Fields) => queries.length > 0 && queries.every((query) => query.test(doc));
};

const comparisons = {
  $all: all,
  $eq: some(equalValues),
  $ne: none(equalValues),
  $in: some(among),
  $nin: none(among),
  $lt: some(within((order) => order < 0)),
  $lte: some(within((order) => order <= 0)),
  $gt: some(within((order) => order > 0)),
  $gte: some(within((order) => order >= 0)),
};

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

const matchesAll: Matcher = () => true;

/** Compiles a filter; what it cannot mean is refused. */
export const matcher = (filter: Fields): Matcher => {
  if (Object.keys(filter).length === 0) return matchesAll;
  try {
    const query = new Query(filter, { context });
    return (doc) => query.test(doc);
  } catch (error) {
    throw storeRefusal(`The filter is wrong: ${Error.isError(error) ? error.message : String(error)}`);
  }
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
