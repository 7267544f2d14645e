import type { AggregateStore, Stored } from '@bubbles/store/aggregates.ts';
import { stateOf } from '@bubbles/store/aggregates.ts';
import type { Collection, Filter, IndexSpec } from '@bubbles/store/collection.ts';
import { OUTBOX_INDEX } from '@bubbles/store/outbox.ts';
import { type Bubble, FIRST_MS, sortPrefix, unknownBubble } from '../../domain/bubble.ts';
import type { BubbleStore, ListFilters, ListRow, RowQuery } from '../../ports.ts';

export type BubbleDoc = Stored<Bubble>;

/** Lists are led by their reader and sorted by one string; each filter that selects much has an index of its own. */
export const BUBBLE_INDEXES: readonly IndexSpec[] = [
  { name: 'reader', keys: { readers: 1, sk: -1 } },
  { name: 'reader_team_v2', keys: { readers: 1, 'row.teamId': 1, sk: -1 } },
  { name: 'reader_channel_v2', keys: { readers: 1, 'row.channelId': 1, sk: -1 } },
  { name: 'reader_type_v2', keys: { readers: 1, 'row.type': 1, sk: -1 } },
  { name: 'hide_at', keys: { hideAt: 1 } },
  OUTBOX_INDEX,
];
export const DROPPED_BUBBLE_INDEXES: readonly string[] = ['reader_team', 'reader_channel', 'reader_type'];

/** Dates are bounds on the sort key, and any of them leaves the legacy bubbles out. */
function sortRange({ createdAfterMs, createdBeforeMs }: ListFilters, before: string | null): { $gte?: string; $lt?: string } {
  const [upper] = [before, createdBeforeMs === null ? null : sortPrefix(createdBeforeMs)].filter((bound) => bound !== null).toSorted();
  const dated = createdAfterMs !== null || createdBeforeMs !== null;
  return {
    ...(dated ? { $gte: sortPrefix(createdAfterMs === null ? FIRST_MS : createdAfterMs + 1) } : {}),
    ...(upper === undefined ? {} : { $lt: upper }),
  };
}

function rowFilter({ userId, filters, before, now }: Omit<RowQuery, 'limit'>): Filter<BubbleDoc> {
  const range = sortRange(filters, before);
  return {
    readers: userId,
    ...(filters.teamId === null ? {} : { 'row.teamId': filters.teamId }),
    ...(filters.spaceId === null ? {} : { 'row.channelId': filters.spaceId }),
    ...(filters.type === null ? {} : { 'row.type': filters.type }),
    ...(Object.keys(range).length === 0 ? {} : { sk: range }),
    $or: [{ hideAt: null }, { hideAt: { $gt: now } }],
  };
}

const ROW_ALONE = { row: 1, commentCount: 1 } as const;
const rowOf = ({ _id, row, commentCount }: BubbleDoc): ListRow[] => (row === null ? [] : [{ id: _id, ...row, commentCount }]);
const read = (doc: BubbleDoc): Bubble => stateOf<Bubble>(doc);

export const bubbleStore = (aggregates: AggregateStore<Bubble>, collection: Collection<BubbleDoc>): BubbleStore => ({
  get: (id) => aggregates.get(id),
  async change(id, change) {
    for (;;) {
      const changed = await aggregates.update(id, change);
      if (changed !== null) return changed;
      const first = change(unknownBubble(id));
      if (first === null) return unknownBubble(id);
      if (await aggregates.insert(first.state, first.events)) return first.state;
    }
  },
  async rows(query) {
    const docs = await collection.find(rowFilter(query), { sort: { sk: -1 }, limit: query.limit, projection: ROW_ALONE });
    return docs.flatMap(rowOf);
  },
  async rowsAmong(ids, query) {
    const docs = await collection.find({ ...rowFilter({ ...query, before: null }), _id: { $in: [...ids] } }, { projection: ROW_ALONE });
    return docs.flatMap(rowOf);
  },
  byIds: async (ids) => (await collection.find({ _id: { $in: [...ids] } })).map(read),
  async idsToWithdraw(now, limit) {
    const docs = await collection.find({ hideAt: { $lte: now } }, { sort: { hideAt: 1 }, limit, projection: { _id: 1 } });
    return docs.map(({ _id }) => _id);
  },
});
