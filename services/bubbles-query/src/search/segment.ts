import type { Position } from '../domain/ranking.ts';
import type { CardRow } from '../domain/search-card.ts';
import { uuidText } from '../domain/short-id.ts';
import { bagField, type Field, type FlatTokens, fieldBytes, positionalField } from './field.ts';
import { f64, growingF64, growingU32, hasBit, setBit, shared, u8, u32 } from './typed-arrays.ts';

/** Some of a caller's bubbles, immutable. Ordinals follow created_at, newest first, then id, descending. */
export interface Segment {
  readonly count: number;
  readonly ids: Uint8Array;
  readonly created: Float64Array;
  /** Empty when nothing in it expires; infinite for a bubble that does not. */
  readonly hideAt: Float64Array;
  readonly teams: Uint32Array;
  readonly channels: Uint32Array;
  readonly types: Uint8Array;
  readonly authors: Uint32Array;
  readonly rowVersions: Uint32Array;
  /** Ordinals by the hash of their id. */
  readonly byHash: Uint32Array;
  readonly title: Field;
  readonly notes: Field;
}

const ID_BYTES = 16;

export const idBytes = (id: string): Uint8Array => Buffer.from(id.replaceAll('-', ''), 'hex');

export const idAt = (segment: Segment, doc: number): string => uuidText(segment.ids, doc * ID_BYTES);

/** Spreads ids of every kind, also those that count up or begin with a time. */
const hashAt = (bytes: Uint8Array, offset: number): number => {
  let hash = 0x811c9dc5;
  for (let i = 0; i < ID_BYTES; i++) hash = Math.imul(hash ^ u8(bytes, offset + i), 0x01000193);
  return (hash ^ (hash >>> 15)) >>> 0;
};

const compareIdAt = (segment: Segment, doc: number, id: Uint8Array): number => {
  const offset = doc * ID_BYTES;
  for (let i = 0; i < ID_BYTES; i++) {
    const difference = u8(segment.ids, offset + i) - u8(id, i);
    if (difference !== 0) return difference;
  }
  return 0;
};

const firstOrdinal = (count: number, isPast: (ordinal: number) => boolean): number => {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isPast(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
};

/** The ordinal of a bubble, -1 when it is not here. */
export const findBubble = (segment: Segment, id: Uint8Array): number => {
  const hash = hashAt(id, 0);
  const hashOf = (at: number) => hashAt(segment.ids, u32(segment.byHash, at) * ID_BYTES);
  for (let at = firstOrdinal(segment.count, (at) => hashOf(at) >= hash); at < segment.count && hashOf(at) === hash; at++) {
    const doc = u32(segment.byHash, at);
    if (compareIdAt(segment, doc, id) === 0) return doc;
  }
  return -1;
};

/** The first ordinal that comes after the position among equals of its rank. */
export const ordinalAfter = (segment: Segment, position: Position): number => {
  const id = idBytes(position.id);
  return firstOrdinal(segment.count, (doc) => {
    const created = f64(segment.created, doc);
    return created === position.createdMs ? compareIdAt(segment, doc, id) < 0 : created < position.createdMs;
  });
};

export const segmentBytes = (segment: Segment): number => {
  const { ids, created, hideAt, teams, channels, types, authors, rowVersions, byHash } = segment;
  const cells = [ids, created, hideAt, teams, channels, types, authors, rowVersions, byHash];
  return cells.reduce((total, { byteLength }) => total + byteLength, fieldBytes(segment.title) + fieldBytes(segment.notes));
};

/** A segment and which of its bubbles have been replaced or removed since. */
export interface Level {
  readonly segment: Segment;
  readonly deleted: Uint8Array;
  readonly deletedCount: number;
}

export const allLive = (segment: Segment): Level => ({ segment, deleted: new Uint8Array((segment.count + 7) >>> 3), deletedCount: 0 });

export const liveCount = ({ segment, deletedCount }: Level): number => segment.count - deletedCount;

/** Bitmaps are replaced, not changed: a search that has begun keeps the one it saw. */
export const withDeleted = (level: Level, ids: readonly Uint8Array[]): Level => {
  let { deleted, deletedCount } = level;
  for (const id of ids) {
    const doc = findBubble(level.segment, id);
    if (doc < 0 || hasBit(deleted, doc)) continue;
    if (deleted === level.deleted) deleted = level.deleted.slice();
    setBit(deleted, doc);
    deletedCount++;
  }
  return deleted === level.deleted ? level : { ...level, deleted, deletedCount };
};

/** A bubble with its words as term ids and its attributes as ordinals. */
export interface IndexedBubble extends Pick<CardRow, 'id' | 'rowVersion' | 'createdMs' | 'hideAtMs'> {
  readonly team: number;
  readonly channel: number;
  readonly type: number;
  readonly author: number;
  readonly title: FlatTokens;
  readonly notes: ArrayLike<number>;
}

/** Room for an ordinal below a hash in one double. */
const ORDINAL_ROOM = 2 ** 20;

/** Lists of numbers, one for each entry, one after the other. */
const createRows = () => {
  const values = growingU32();
  const offsets = growingU32();
  offsets.push(0);
  return {
    add: (row: ArrayLike<number>) => {
      for (let i = 0; i < row.length; i++) values.push(row[i] ?? 0);
      offsets.push(values.length());
    },
    row: (index: number): Uint32Array => values.view().subarray(offsets.at(index), offsets.at(index + 1)),
  };
};

const sortByHash = (ids: Uint8Array, count: number): Uint32Array => {
  const byHash = shared(Uint32Array, count);
  for (let doc = 0; doc < count; doc++) byHash[doc] = doc;
  if (count > ORDINAL_ROOM) return byHash.sort((a, b) => hashAt(ids, a * ID_BYTES) - hashAt(ids, b * ID_BYTES));
  const keys = Float64Array.from({ length: count }, (_, doc) => hashAt(ids, doc * ID_BYTES) * ORDINAL_ROOM + doc).sort();
  for (let at = 0; at < count; at++) byHash[at] = f64(keys, at) % ORDINAL_ROOM;
  return byHash;
};

/** The attributes of the entries, which are bubbles in order of arrival. */
const createColumns = () => {
  const created = growingF64();
  const hideAt = growingF64();
  const columns = { rowVersions: growingU32(), teams: growingU32(), channels: growingU32(), types: growingU32(), authors: growingU32() };
  const ids: string[] = [];
  const removed = new Set<number>();
  let expires = false;
  const order = (): Uint32Array => {
    const times = created.view();
    const entries = ids.map((_, entry) => entry).filter((entry) => !removed.has(entry));
    entries.sort((a, b) => f64(times, b) - f64(times, a) || ((ids[a] ?? '') > (ids[b] ?? '') ? -1 : 1));
    return Uint32Array.from(entries);
  };
  return {
    removed,
    order,
    add: (bubble: IndexedBubble): number => {
      created.push(bubble.createdMs);
      hideAt.push(bubble.hideAtMs ?? Number.POSITIVE_INFINITY);
      expires ||= bubble.hideAtMs !== null;
      columns.rowVersions.push(bubble.rowVersion);
      columns.teams.push(bubble.team);
      columns.channels.push(bubble.channel);
      columns.types.push(bubble.type);
      columns.authors.push(bubble.author);
      return ids.push(bubble.id) - 1;
    },
    inOrder: (entries: Uint32Array) => {
      const count = entries.length;
      const pick = (cells: Float64Array, target: Float64Array) => target.map((_, doc) => f64(cells, u32(entries, doc)));
      const words = (cells: { view: () => Uint32Array }) => fill(shared(Uint32Array, count), (doc) => u32(cells.view(), u32(entries, doc)));
      const allIds = shared(Uint8Array, count * ID_BYTES);
      for (const [doc, entry] of entries.entries()) allIds.set(idBytes(ids[entry] ?? ''), doc * ID_BYTES);
      return {
        count,
        ids: allIds,
        created: toShared(pick(created.view(), new Float64Array(count))),
        hideAt: toShared(expires ? pick(hideAt.view(), new Float64Array(count)) : new Float64Array(0)),
        teams: words(columns.teams),
        channels: words(columns.channels),
        types: fill(shared(Uint8Array, count), (doc) => u32(columns.types.view(), u32(entries, doc))),
        authors: words(columns.authors),
        rowVersions: words(columns.rowVersions),
        byHash: sortByHash(allIds, count),
      };
    },
  };
};

const fill = <T extends Uint8Array | Uint32Array>(cells: T, cellAt: (index: number) => number): T => {
  for (let i = 0; i < cells.length; i++) cells[i] = cellAt(i);
  return cells;
};

const toShared = (cells: Float64Array): Float64Array => {
  const copy = shared(Float64Array, cells.length);
  copy.set(cells);
  return copy;
};

export const createSegmentBuilder = () => {
  const columns = createColumns();
  const titles = createRows();
  const notes = createRows();
  return {
    /** Answers the number of the entry. */
    add: (bubble: IndexedBubble): number => {
      titles.add(bubble.title);
      notes.add(bubble.notes);
      return columns.add(bubble);
    },
    /** Leaves an entry out of the segment. */
    remove: (entry: number): void => {
      columns.removed.add(entry);
    },
    /** `renumber` turns the term ids that were added into those of the segment; `bound` is above every one of these. */
    finish: (renumber: (term: number) => number, bound: number): Segment => {
      const entries = columns.order();
      const renumbering = { renumber, bound };
      return {
        ...columns.inOrder(entries),
        title: positionalField(entries.length, (doc) => titles.row(u32(entries, doc)), renumbering),
        notes: bagField(entries.length, (doc) => notes.row(u32(entries, doc)), renumbering),
      };
    },
  };
};
