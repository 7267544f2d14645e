import { f64, u8, u32 } from './cells.ts';
import { type PlacedWords, placedBytes } from './placed-words.ts';
import { type Postings, postingsBytes } from './postings.ts';
import { type Position, uuidText } from './rank.ts';

/** Something words are looked up in: titles, notes, or the names of authors. Places are kept where neighbours matter. */
export interface Field {
  readonly count: number;
  readonly postings: Postings;
  readonly words: PlacedWords | null;
}

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
  readonly revs: Uint32Array;
  /** Ordinals by the hash of their id. */
  readonly byHash: Uint32Array;
  readonly title: Field;
  readonly notes: Field;
}

export const ID_BYTES = 16;

export const idBytes = (id: string): Uint8Array => Buffer.from(id.replaceAll('-', ''), 'hex');

export const idAt = (segment: Segment, doc: number): string => uuidText(segment.ids, doc * ID_BYTES);

/** Spreads ids of every kind, also those that count or begin with a time. */
export const hashAt = (bytes: Uint8Array, offset: number): number => {
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
  for (let at = firstOrdinal(segment.count, (place) => hashOf(place) >= hash); at < segment.count && hashOf(at) === hash; at++) {
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

const fieldBytes = (field: Field): number => postingsBytes(field.postings) + (field.words === null ? 0 : placedBytes(field.words));

export const segmentBytes = (segment: Segment): number => {
  const { ids, created, hideAt, teams, channels, types, authors, revs, byHash } = segment;
  const cells = [ids, created, hideAt, teams, channels, types, authors, revs, byHash];
  return cells.reduce((total, { byteLength }) => total + byteLength, fieldBytes(segment.title) + fieldBytes(segment.notes));
};
