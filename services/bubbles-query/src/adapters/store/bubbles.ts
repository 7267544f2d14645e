import {
  type AggregateStore,
  type AggregateStoreOptions,
  createAggregateStore,
  OUTBOX_INDEX,
  type Stored,
  stateOf,
} from '@bubbles/store/aggregates.ts';
import type { Collection, Filter, IndexSpec } from '@bubbles/store/collection.ts';
import type { OpenCollection } from '@bubbles/store/indexed-collections.ts';
import type { Migration } from '@bubbles/store/migration-step.ts';
import { type Bubble, emptyBubble, FIRST_MS, sortPrefix } from '../../domain/bubble.ts';
import type { BubbleStore, ListFilters, ListRow, RowQuery } from '../../ports.ts';

/** A bubble as it is stored: processes of earlier releases read these fields under these names. */
interface StoredBubble extends Omit<Bubble, 'changeCount' | 'sortKey' | 'commentsVersion'> {
  readonly rev: number;
  readonly sk: string;
  readonly commentsEpoch: number;
}
export type BubbleDoc = Stored<StoredBubble>;

const toStored = ({ changeCount, sortKey, commentsVersion, ...bubble }: Bubble): StoredBubble => ({
  ...bubble,
  rev: changeCount,
  sk: sortKey,
  commentsEpoch: commentsVersion,
});
const toBubble = ({ rev, sk, commentsEpoch, ...bubble }: StoredBubble): Bubble => ({
  ...bubble,
  changeCount: rev,
  sortKey: sk,
  commentsVersion: commentsEpoch,
});
export const bubbleIn = (doc: BubbleDoc): Bubble => toBubble(stateOf<StoredBubble>(doc));

/** Lists are led by their reader and sorted by one string; each filter that selects much has an index of its own. */
const INDEXES: readonly IndexSpec[] = [
  { name: 'reader', keys: { readers: 1, sk: -1 } },
  { name: 'reader_team_v2', keys: { readers: 1, 'row.teamId': 1, sk: -1 } },
  { name: 'reader_channel_v2', keys: { readers: 1, 'row.channelId': 1, sk: -1 } },
  { name: 'reader_type_v2', keys: { readers: 1, 'row.type': 1, sk: -1 } },
  { name: 'hide_at', keys: { hideAt: 1 } },
  OUTBOX_INDEX,
];
const DROPPED_INDEXES: readonly string[] = ['reader_team', 'reader_channel', 'reader_type'];

/** The migration job builds these indexes, not the start of a process, because the collection may hold millions of bubbles. */
export const MIGRATIONS: readonly Migration[] = [
  { number: 1, name: 'index_bubbles', phase: 'expand', collection: 'bubbles', indexes: INDEXES, dropped: DROPPED_INDEXES },
];

/** Dates are bounds on the sort key, and any of them leaves the legacy bubbles out. */
function sortRange({ createdAfterMs, createdBeforeMs }: ListFilters, before: string | null): { $gte?: string; $lt?: string } {
  const latest = createdBeforeMs === null ? null : sortPrefix(createdBeforeMs);
  const upper = before === null || (latest !== null && latest < before) ? latest : before;
  const dated = createdAfterMs !== null || createdBeforeMs !== null;
  return {
    ...(dated ? { $gte: sortPrefix(createdAfterMs === null ? FIRST_MS : createdAfterMs + 1) } : {}),
    ...(upper === null ? {} : { $lt: upper }),
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

const storeOver = (aggregates: AggregateStore<StoredBubble>, collection: Collection<BubbleDoc>): BubbleStore => ({
  async get(id) {
    const stored = await aggregates.get(id);
    return stored && toBubble(stored);
  },
  async change(id, change) {
    for (;;) {
      const stored = await aggregates.update(id, (before) => {
        const changed = change(toBubble(before));
        return changed && { ...changed, state: toStored(changed.state) };
      });
      if (stored !== null) return toBubble(stored);
      const first = change(emptyBubble(id));
      if (first === null) return emptyBubble(id);
      if (await aggregates.insert(toStored(first.state), first.events)) return first.state;
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
  byIds: async (ids) => (await collection.find({ _id: { $in: [...ids] } })).map(bubbleIn),
  async idsToWithdraw(now, limit) {
    const docs = await collection.find({ hideAt: { $lte: now } }, { sort: { hideAt: 1 }, limit, projection: { _id: 1 } });
    return docs.map(({ _id }) => _id);
  },
});

/** The store, and the collection whose documents carry events to relay. */
export const openBubbles = (open: OpenCollection, options: AggregateStoreOptions) => {
  const documents = open<BubbleDoc>('bubbles', INDEXES, DROPPED_INDEXES);
  return { store: storeOver(createAggregateStore<StoredBubble>(documents, options), documents), documents };
};
