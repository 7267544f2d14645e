import { types } from 'node:util';
import { type Fields, isPlainObject } from '@bubbles/store/plain-data.ts';

export interface Bound {
  readonly value: unknown;
  readonly inclusive: boolean;
}

/** What a filter says about one path that an index can serve. The filter itself is tried on each document all the same. */
export interface Condition {
  /** It equals one of these. */
  readonly points: readonly unknown[] | null;
  readonly lower: Bound | null;
  readonly upper: Bound | null;
}

export type Conditions = ReadonlyMap<string, Condition>;

const ANYTHING: Condition = { points: null, lower: null, upper: null };

const hasOperators = (value: unknown): value is Fields => isPlainObject(value) && Object.keys(value).some((name) => name.startsWith('$'));

/** An index holds arrays through their elements only, and no patterns. */
const isPoint = (value: unknown) => !Array.isArray(value) && !types.isRegExp(value);
const isBound = (value: unknown) => value !== null && isPoint(value);

const fromOperator = (operator: string, operand: unknown): Partial<Condition> => {
  switch (operator) {
    case '$eq':
      return isPoint(operand) ? { points: [operand] } : {};
    case '$in':
      return Array.isArray(operand) && operand.every(isPoint) ? { points: operand } : {};
    case '$gt':
    case '$gte':
      return isBound(operand) ? { lower: { value: operand, inclusive: operator === '$gte' } } : {};
    case '$lt':
    case '$lte':
      return isBound(operand) ? { upper: { value: operand, inclusive: operator === '$lte' } } : {};
    default:
      return {};
  }
};

/** The first condition of each kind on a path is used: all of them hold, so each alone narrows. */
const narrow = (into: Map<string, Condition>, path: string, condition: Partial<Condition>) => {
  const known = into.get(path) ?? ANYTHING;
  into.set(path, {
    points: known.points ?? condition.points ?? null,
    lower: known.lower ?? condition.lower ?? null,
    upper: known.upper ?? condition.upper ?? null,
  });
};

const read = (filter: Fields, prefix: string, into: Map<string, Condition>) => {
  for (const [name, value] of Object.entries(filter)) {
    if (name === '$and' && Array.isArray(value)) {
      for (const part of value) if (isPlainObject(part)) read(part, prefix, into);
    } else if (!name.startsWith('$')) {
      readField(prefix + name, value, into);
    }
  }
};

const readField = (path: string, value: unknown, into: Map<string, Condition>) => {
  if (!hasOperators(value)) {
    narrow(into, path, fromOperator('$eq', value));
    return;
  }
  for (const [operator, operand] of Object.entries(value)) {
    if (operator === '$elemMatch' && isPlainObject(operand) && !hasOperators(operand)) read(operand, `${path}.`, into);
    else narrow(into, path, fromOperator(operator, operand));
  }
};

export const conditionsOf = (filter: Fields): Conditions => {
  const into = new Map<string, Condition>();
  read(filter, '', into);
  return into;
};

/** The fields that a document inserted by an upsert has from the filter: those it names as equal. */
export const equalities = (filter: Fields): readonly (readonly [string, unknown])[] =>
  Object.entries(filter).flatMap(([name, value]): (readonly [string, unknown])[] => {
    if (name === '$and' && Array.isArray(value)) return value.filter(isPlainObject).flatMap((part) => [...equalities(part)]);
    if (name.startsWith('$') || types.isRegExp(value)) return [];
    if (!hasOperators(value)) return [[name, value]];
    return '$eq' in value ? [[name, value['$eq']]] : [];
  });
