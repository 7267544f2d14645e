import type { Fields } from '@bubbles/store/plain-data.ts';
import { type Conditions, conditionsOf } from './conditions.ts';
import { matcher } from './matcher.ts';
import type { Row } from './ordered-index.ts';
import { sortValueReader } from './paths.ts';
import { type Plan, planFor, type SortSpec } from './planner.ts';
import type { Table } from './table.ts';
import { compareValues } from './value-order.ts';

export interface Query {
  readonly filter: Fields;
  readonly sort?: SortSpec | undefined;
  readonly limit?: number | undefined;
}

interface Source {
  readonly rows: Iterable<Row>;
  /** Whether the rows come in the order that was asked for. */
  readonly sorted: boolean;
  readonly scan: boolean;
}

const NO_SORT: SortSpec = {};

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

const planOf = (table: Table, conditions: Conditions, sort: SortSpec): Plan | null => {
  const plan = planFor(table.indexes, conditions, sort);
  const idLeads = conditions.has('_id') || Object.keys(sort)[0] === '_id';
  return plan ?? (idLeads ? planFor([table.idIndex()], conditions, sort) : null);
};

const sourceOf = (table: Table, filter: Fields, sort: SortSpec): Source => {
  const conditions = conditionsOf(filter);
  const asked = Object.keys(sort).length > 0;
  const ids = conditions.get('_id')?.points;
  if (ids) {
    const rows = byIds(table, ids);
    return { rows, sorted: !asked || rows.length < 2, scan: false };
  }
  const plan = planOf(table, conditions, sort);
  if (plan) return { rows: walkOnce(plan), sorted: plan.sorted, scan: false };
  return { rows: table.all(), sorted: !asked, scan: asked || Object.keys(filter).length > 0 };
};

const sortRows = (rows: readonly Row[], sort: SortSpec): Row[] => {
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
