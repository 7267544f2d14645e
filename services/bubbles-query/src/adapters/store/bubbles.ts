import type { AggregateStore, Stored } from '@bubbles/shared/store/aggregates.ts';
import { stateOf } from '@bubbles/shared/store/aggregates.ts';
import type { Collection, Filter, IndexSpec } from '@bubbles/shared/store/collection.ts';
import { OUTBOX_INDEX } from '@bubbles/shared/store/outbox.ts';
import { type Bubble, unknownBubble } from '../../domain/bubble.ts';
import type { BubbleStore, ListFilters, RowQuery } from '../../ports.ts';

export type BubbleDoc = Stored<Bubble>;

/** Lists are led by their reader and sorted by one string; each filter that selects much has an index of its own. */
export const BUBBLE_INDEXES: readonly IndexSpec[] = [
  { name: 'reader', keys: { readers: 1, sk: -1 } },
  { name: 'reader_team', keys: { readers: 1, teamId: 1, sk: -1 } },
  { name: 'reader_channel', keys: { readers: 1, channelId: 1, sk: -1 } },
  { name: 'reader_type', keys: { readers: 1, type: 1, sk: -1 } },
  OUTBOX_INDEX,
];

const SK_DIGITS = 13;
const MAX_MS = 10 ** SK_DIGITS - 1;
/** The sort keys of a millisecond begin with it and a full stop; those of the legacy bubbles with that of none. */
const firstOf = (ms: number): string => `${String(Math.min(Math.max(ms, 1), MAX_MS)).padStart(SK_DIGITS, '0')}.`;

/** Dates are bounds on the sort key, and any of them leaves the legacy bubbles out. */
function sortRange({ createdAfterMs, createdBeforeMs }: ListFilters, before: string | null): { $gte?: string; $lt?: string } {
  const upper = [...(before === null ? [] : [before]), ...(createdBeforeMs === null ? [] : [firstOf(createdBeforeMs)])].toSorted()[0];
  const dated = createdAfterMs !== null || createdBeforeMs !== null;
  return {
    ...(dated ? { $gte: firstOf(createdAfterMs === null ? 1 : createdAfterMs + 1) } : {}),
    ...(upper === undefined ? {} : { $lt: upper }),
  };
}

function rowFilter({ userId, filters, before, now }: RowQuery): Filter<BubbleDoc> {
  const range = sortRange(filters, before);
  return {
    readers: userId,
    ...(filters.teamId === null ? {} : { teamId: filters.teamId }),
    ...(filters.spaceId === null ? {} : { channelId: filters.spaceId }),
    ...(filters.type === null ? {} : { type: filters.type }),
    ...(Object.keys(range).length === 0 ? {} : { sk: range }),
    $or: [{ hideAt: null }, { hideAt: { $gt: now } }],
  };
}

const read = (doc: BubbleDoc): Bubble => stateOf<Bubble>(doc);

export const bubbleStore = (aggregates: AggregateStore<Bubble>, collection: Collection<BubbleDoc>): BubbleStore => ({
  get: (id) => aggregates.get(id),
  async change(id, change) {
    for (;;) {
      const changed = await aggregates.update(id, (bubble) => {
        const result = change(bubble);
        return result && { state: result.bubble, events: result.events };
      });
      if (changed !== null) return changed;
      await aggregates.insert(unknownBubble(id));
    }
  },
  async rows(query) {
    const docs = await collection.find(rowFilter(query), { sort: { sk: -1 }, limit: query.limit, projection: { row: 1, commentCount: 1 } });
    return docs.flatMap(({ _id, row, commentCount }) => (row === null ? [] : [{ id: _id, ...row, commentCount }]));
  },
  byIds: async (ids) => (await collection.find({ _id: { $in: [...ids] } })).map(read),
});
