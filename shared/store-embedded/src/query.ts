import { type FindOptions, storeRefusal } from '@bubbles/store/collection.ts';
import { cloneData, type Fields, isPlainObject } from '@bubbles/store/plain-data.ts';
import { matcher } from './matcher.ts';
import type { Row } from './ordered-index.ts';
import { sortValueReader } from './paths.ts';
import { conditionsOf, type Plan, planFor } from './planner.ts';
import type { Table } from './table.ts';
import { compareValues } from './value-order.ts';

type Sort = NonNullable<FindOptions['sort']>;

export interface Query {
  readonly filter: Fields;
  readonly sort?: Sort | undefined;
  readonly limit?: number | undefined;
}

interface Source {
  readonly rows: Iterable<Row>;
  /** Whether the rows come in the order that was asked for. */
  readonly sorted: boolean;
  readonly scan: boolean;
}

const NO_SORT: Sort = {};

function* distinctRows(rows: Iterable<Row>): Generator<Row> {
  const seen = new Set<string>();
  for (const row of rows) {
    if (seen.has(row.id)) continue;
    seen.add(row.id);
    yield row;
  }
}

function* walk({ index, ranges, reverse }: Plan): Generator<Row> {
  for (const range of ranges) yield* index.walk(range, reverse);
}

const walkOnce = (plan: Plan): Iterable<Row> => {
  const mayRepeat = plan.ranges.length > 1 || plan.index.paths.some((path) => plan.index.isMultikey(path));
  return mayRepeat ? distinctRows(walk(plan)) : walk(plan);
};

const byIds = (table: Table, ids: readonly unknown[]): Row[] =>
  [...new Set(ids)].flatMap((id) => {
    const row = typeof id === 'string' ? table.get(id) : undefined;
    return row ? [row] : [];
  });

const sourceOf = (table: Table, filter: Fields, sort: Sort): Source => {
  const conditions = conditionsOf(filter);
  const asked = Object.keys(sort).length > 0;
  const ids = conditions.get('_id')?.points;
  if (ids) {
    const rows = byIds(table, ids);
    return { rows, sorted: !asked || rows.length < 2, scan: false };
  }
  const idLeads = conditions.has('_id') || Object.keys(sort)[0] === '_id';
  const plan = planFor(table.indexes, conditions, sort) ?? (idLeads ? planFor([table.idIndex()], conditions, sort) : null);
  if (plan) return { rows: walkOnce(plan), sorted: plan.sorted, scan: false };
  return { rows: table.all(), sorted: !asked, scan: asked || Object.keys(filter).length > 0 };
};

const sortRows = (rows: readonly Row[], sort: Sort): Row[] => {
  const order = Object.entries(sort).map(([path, direction]) => ({ direction, read: sortValueReader(path, direction) }));
  const keyed = rows.map((row) => ({ row, key: order.map(({ read }) => read(row.doc)) }));
  keyed.sort((a, b) => {
    for (const [at, { direction }] of order.entries()) {
      const difference = compareValues(a.key[at], b.key[at]);
      if (difference !== 0) return difference * direction;
    }
    return 0;
  });
  return keyed.map(({ row }) => row);
};

const idAlone = (filter: Fields): string | null => {
  const id = filter['_id'];
  return typeof id === 'string' && Object.keys(filter).length === 1 ? id : null;
};

/** The rows that match, in order, and whether every document had to be looked at to find them. */
export const select = (table: Table, query: Query): { readonly rows: Row[]; readonly scan: boolean } => {
  const { filter, sort = NO_SORT, limit = Number.POSITIVE_INFINITY } = query;
  const id = idAlone(filter);
  if (id !== null) return { rows: byIds(table, [id]), scan: false };
  const matches = matcher(filter);
  const source = sourceOf(table, filter, sort);
  const rows: Row[] = [];
  for (const row of source.rows) {
    if (source.sorted && rows.length >= limit) break;
    if (matches(row.doc)) rows.push(row);
  }
  return { rows: source.sorted ? rows : sortRows(rows, sort).slice(0, limit), scan: source.scan };
};

type Projection = NonNullable<FindOptions['projection']>;

/** The named paths as a tree; a leaf is a path that ends there. */
interface Tree {
  readonly [name: string]: Tree | null;
}

const treeOf = (paths: readonly string[]): Tree => {
  const names = new Set(paths.map((path) => path.split('.', 1)[0] ?? path));
  return Object.fromEntries(
    [...names].map((name) => {
      const below = paths.filter((path) => path.startsWith(`${name}.`)).map((path) => path.slice(name.length + 1));
      return [name, paths.includes(name) ? null : treeOf(below)];
    }),
  );
};

const pick = (fields: Fields, tree: Tree): Fields => {
  const picked: Fields = {};
  for (const [name, below] of Object.entries(tree)) {
    if (!Object.hasOwn(fields, name)) continue;
    const value = below ? pickBelow(fields[name], below) : cloneData(fields[name]);
    if (value !== undefined) picked[name] = value;
  }
  return picked;
};
const pickBelow = (value: unknown, tree: Tree): unknown => {
  if (Array.isArray(value)) return value.filter((item) => typeof item === 'object' && item !== null).map((item) => pickBelow(item, tree));
  return isPlainObject(value) ? pick(value, tree) : undefined;
};

const omit = (fields: Fields, tree: Tree): Fields => {
  const kept: Fields = {};
  for (const [name, value] of Object.entries(fields)) {
    const below = Object.hasOwn(tree, name) ? tree[name] : undefined;
    if (below !== null) kept[name] = below ? omitBelow(value, below) : cloneData(value);
  }
  return kept;
};
const omitBelow = (value: unknown, tree: Tree): unknown => {
  if (Array.isArray(value)) return value.map((item) => omitBelow(item, tree));
  return isPlainObject(value) ? omit(value, tree) : cloneData(value);
};

/** A copy of what is asked for, and of nothing else. */
export const projector = (projection: Projection | undefined): ((doc: Fields) => Fields) => {
  // A copy of an object is an object.
  if (!projection) return (doc) => cloneData(doc) as Fields;
  const entries = Object.entries(projection);
  const others = entries.filter(([path]) => path !== '_id');
  const including = (others[0] ?? entries[0])?.[1] === 1;
  if (others.some(([, shown]) => (shown === 1) !== including))
    throw storeRefusal('A projection either names what is shown or what is not.');
  const paths = entries.filter(([, shown]) => (shown === 1) === including).map(([path]) => path);
  if (!including) {
    const tree = treeOf(paths);
    return (doc) => omit(doc, tree);
  }
  const tree = treeOf(projection['_id'] === 0 ? paths : ['_id', ...paths]);
  return (doc) => pick(doc, tree);
};
