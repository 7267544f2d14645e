import { types } from 'node:util';
import type { Direction, FindOptions } from '@bubbles/store/collection.ts';
import { type Fields, isPlainObject } from '@bubbles/store/plain-data.ts';
import { hasOperators } from './matcher.ts';
import type { OrderedIndex, Range, RangeEnd } from './ordered-index.ts';
import { typeRank } from './value-order.ts';

interface Bound {
  readonly value: unknown;
  readonly inclusive: boolean;
}

/** What a filter says about one path that an index can serve. The filter itself is tried on each document all the same. */
interface Condition {
  /** It equals one of these. */
  readonly points: readonly unknown[] | null;
  readonly lower: Bound | null;
  readonly upper: Bound | null;
}

type Conditions = ReadonlyMap<string, Condition>;

const ANYTHING: Condition = { points: null, lower: null, upper: null };

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

type SortSpec = NonNullable<FindOptions['sort']>;

/** How an index answers a query. */
export interface Plan {
  readonly index: OrderedIndex;
  /** Where the documents are; several when a path may equal one of several values. */
  readonly ranges: readonly Range[];
  /** Whether walking gives the order that was asked for. */
  readonly sorted: boolean;
  readonly reverse: boolean;
}

interface Fit {
  readonly plan: Plan;
  readonly score: number;
}

const MAX_LOOKUPS = 1_000;
const SCORE = { point: 4, sort: 3, range: 2 } as const;

/** The leading paths of the index that the filter fixes to points. */
const fixedPaths = (index: OrderedIndex, conditions: Conditions): readonly (readonly unknown[])[] => {
  const fixed: (readonly unknown[])[] = [];
  for (const path of index.paths) {
    const points = conditions.get(path)?.points;
    const lookups = fixed.reduce((product, list) => product * list.length, points?.length ?? 0);
    if (!points || lookups > MAX_LOOKUPS) break;
    fixed.push(points);
  }
  return fixed;
};

const prefixes = (fixed: readonly (readonly unknown[])[]): readonly (readonly unknown[])[] =>
  fixed.reduce<readonly (readonly unknown[])[]>((keys, points) => keys.flatMap((key) => points.map((point) => [...key, point])), [[]]);

/** In an array two bounds may hold for two elements, so that an index can use only one of them. */
const boundsOf = (condition: Condition | undefined, multikey: boolean): Pick<Condition, 'lower' | 'upper'> | null => {
  if (!condition || (!condition.lower && !condition.upper)) return null;
  return multikey && condition.lower ? { lower: condition.lower, upper: null } : condition;
};

const rangeOf = (prefix: readonly unknown[], bounds: Pick<Condition, 'lower' | 'upper'> | null, direction: Direction): Range => {
  if (!bounds) return { from: { values: prefix, rank: null, after: false }, to: { values: prefix, rank: null, after: true } };
  const rank = typeRank((bounds.lower ?? bounds.upper)?.value);
  const end = (side: 'lower' | 'upper', after: boolean): RangeEnd => {
    const bound = bounds[side];
    return bound ? { values: [...prefix, bound.value], rank: null, after: after === bound.inclusive } : { values: prefix, rank, after };
  };
  return direction === 1 ? { from: end('lower', false), to: end('upper', true) } : { from: end('upper', false), to: end('lower', true) };
};

/** Whether the index, behind its fixed paths, runs in the order asked for (or against it); a path fixed to one value does not matter to the order. */
const orderOf = (index: OrderedIndex, fixed: number, sort: SortSpec): { readonly sorted: boolean; readonly reverse: boolean } => {
  const fixedNames = new Set(index.paths.slice(0, fixed).filter((path) => !index.isMultikey(path)));
  const wanted = Object.entries(sort).filter(([path]) => !fixedNames.has(path));
  const running = index.paths.slice(fixed);
  const against = wanted.map(([path, direction], at) => {
    if (running[at] !== path || index.isMultikey(path)) return null;
    return direction !== index.spec.keys[path];
  });
  const sorted = against.every((value) => value !== null && value === against[0]);
  return { sorted, reverse: sorted && against[0] === true };
};

/** A sparse index holds only documents that have one of its paths, which a value other than null proves. */
const holdsAll = (index: OrderedIndex, conditions: Conditions): boolean => {
  if (!index.spec.sparse) return true;
  return index.paths.some((path) => {
    const condition = conditions.get(path);
    return Boolean(condition?.lower ?? condition?.upper ?? condition?.points?.every((point) => point !== null));
  });
};

const fit = (index: OrderedIndex, conditions: Conditions, sort: SortSpec): Fit | null => {
  if (!holdsAll(index, conditions)) return null;
  const fixed = fixedPaths(index, conditions);
  const next = index.paths[fixed.length];
  const bounds = next === undefined ? null : boundsOf(conditions.get(next), index.isMultikey(next));
  const ranges = prefixes(fixed).map((prefix) => rangeOf(prefix, bounds, next === undefined ? 1 : (index.spec.keys[next] ?? 1)));
  const order = orderOf(index, fixed.length, sort);
  const asked = Object.keys(sort).length > 0;
  const sorted = !asked || (order.sorted && ranges.length === 1);
  const score = fixed.length * SCORE.point + (bounds ? SCORE.range : 0) + (asked && sorted ? SCORE.sort : 0);
  return score === 0 ? null : { plan: { index, ranges, sorted, reverse: asked && sorted && order.reverse }, score };
};

/** The index that narrows most, or null when none serves the query. */
export const planFor = (indexes: readonly OrderedIndex[], conditions: Conditions, sort: SortSpec): Plan | null => {
  let best: Fit | null = null;
  for (const index of indexes) {
    const candidate = fit(index, conditions, sort);
    if (candidate && (!best || candidate.score > best.score)) best = candidate;
  }
  return best?.plan ?? null;
};
