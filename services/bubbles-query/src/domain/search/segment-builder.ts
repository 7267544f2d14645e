import type { CardRow } from './card.ts';
import { f64, growingNumbers, growingWords, sharedF64, sharedU8, sharedU32, u32 } from './cells.ts';
import { buildPlacedWords, type FlatTokens } from './placed-words.ts';
import { buildPostings, eachDocument } from './postings.ts';
import { type Field, hashAt, ID_BYTES, idBytes, type Segment } from './segment.ts';

/** A bubble with its words as term ids and its attributes as ordinals. */
export interface IndexedBubble extends Pick<CardRow, 'id' | 'rev' | 'createdMs' | 'hideAtMs'> {
  readonly team: number;
  readonly channel: number;
  readonly type: number;
  readonly author: number;
  readonly title: FlatTokens;
  readonly notes: ArrayLike<number>;
}

export interface SegmentBuilder {
  /** Answers the place of the bubble in order of arrival. */
  add(bubble: IndexedBubble): number;
  /** Leaves out what was added there. */
  remove(place: number): void;
  /** `renumber` turns the term ids used so far into those of the segment; `bound` is above every one of these. */
  finish(renumber: (term: number) => number, bound: number): Segment;
}

const TITLE_STRIDE = 3;
/** Room for an ordinal below a hash in one double. */
const ORDINAL_ROOM = 2 ** 20;

const EVERYTHING = [0, Number.POSITIVE_INFINITY];

/** Lists of numbers one after the other. */
const createRows = () => {
  const values = growingWords();
  const offsets = growingWords();
  offsets.push(0);
  return {
    add: (row: ArrayLike<number>) => {
      for (let i = 0; i < row.length; i++) values.push(row[i] ?? 0);
      offsets.push(values.length());
    },
    row: (index: number): Uint32Array => values.view().subarray(offsets.at(index), offsets.at(index + 1)),
  };
};

type Rows = ReturnType<typeof createRows>;

/** A field without order: the notes. */
const bagField = (rows: Rows, places: Uint32Array, { renumber, bound }: Renumbering): Field => {
  const postings = buildPostings((visit) => {
    places.forEach((place, doc) => {
      for (const term of rows.row(place)) visit(doc, renumber(term));
    });
  }, bound);
  return { count: places.length, postings, words: null };
};

interface Renumbering {
  readonly renumber: (term: number) => number;
  readonly bound: number;
}

/** A field whose tokens have places: titles and names. */
export const placedField = (count: number, tokensOf: (doc: number) => FlatTokens, { renumber, bound }: Renumbering): Field => {
  const renumbered = (doc: number) => Array.from(tokensOf(doc), (value, at) => (at % TITLE_STRIDE === 0 ? renumber(value) : value));
  const postings = buildPostings((visit) => {
    for (let doc = 0; doc < count; doc++) {
      const tokens = tokensOf(doc);
      for (let at = 0; at < tokens.length; at += TITLE_STRIDE) visit(doc, renumber(tokens[at] ?? 0));
    }
  }, bound);
  return { count, postings, words: buildPlacedWords(count, renumbered) };
};

const sortByHash = (ids: Uint8Array, count: number): Uint32Array => {
  const byHash = sharedU32(count);
  for (let doc = 0; doc < count; doc++) byHash[doc] = doc;
  if (count > ORDINAL_ROOM) return byHash.sort((a, b) => hashAt(ids, a * ID_BYTES) - hashAt(ids, b * ID_BYTES));
  const keys = Float64Array.from({ length: count }, (_, doc) => hashAt(ids, doc * ID_BYTES) * ORDINAL_ROOM + doc).sort();
  for (let at = 0; at < count; at++) byHash[at] = f64(keys, at) % ORDINAL_ROOM;
  return byHash;
};

/** Attributes of bubbles in order of arrival. */
const createColumns = () => {
  const created = growingNumbers();
  const hideAt = growingNumbers();
  const columns = { revs: growingWords(), teams: growingWords(), channels: growingWords(), types: growingWords(), authors: growingWords() };
  const ids: string[] = [];
  const removed = new Set<number>();
  let expires = false;
  const order = (): Uint32Array => {
    const times = created.view();
    const places = ids.map((_, place) => place).filter((place) => !removed.has(place));
    places.sort((a, b) => f64(times, b) - f64(times, a) || ((ids[a] ?? '') > (ids[b] ?? '') ? -1 : 1));
    return Uint32Array.from(places);
  };
  return {
    removed,
    order,
    add: (bubble: IndexedBubble): number => {
      created.push(bubble.createdMs);
      hideAt.push(bubble.hideAtMs ?? Number.POSITIVE_INFINITY);
      expires ||= bubble.hideAtMs !== null;
      columns.revs.push(bubble.rev);
      columns.teams.push(bubble.team);
      columns.channels.push(bubble.channel);
      columns.types.push(bubble.type);
      columns.authors.push(bubble.author);
      return ids.push(bubble.id) - 1;
    },
    inOrder: (places: Uint32Array) => {
      const count = places.length;
      const pick = (cells: Float64Array, target: Float64Array) => target.map((_, doc) => f64(cells, u32(places, doc)));
      const words = (cells: { view: () => Uint32Array }) => fill(sharedU32(count), (doc) => u32(cells.view(), u32(places, doc)));
      const allIds = sharedU8(count * ID_BYTES);
      for (const [doc, place] of places.entries()) allIds.set(idBytes(ids[place] ?? ''), doc * ID_BYTES);
      return {
        count,
        ids: allIds,
        created: share(pick(created.view(), new Float64Array(count))),
        hideAt: share(expires ? pick(hideAt.view(), new Float64Array(count)) : new Float64Array(0)),
        teams: words(columns.teams),
        channels: words(columns.channels),
        types: fill(sharedU8(count), (doc) => u32(columns.types.view(), u32(places, doc))),
        authors: words(columns.authors),
        revs: words(columns.revs),
        byHash: sortByHash(allIds, count),
      };
    },
  };
};

const fill = <T extends Uint8Array | Uint32Array>(cells: T, cellAt: (index: number) => number): T => {
  for (let i = 0; i < cells.length; i++) cells[i] = cellAt(i);
  return cells;
};

const share = (cells: Float64Array): Float64Array => {
  const shared = sharedF64(cells.length);
  shared.set(cells);
  return shared;
};

export const createSegmentBuilder = (): SegmentBuilder => {
  const columns = createColumns();
  const titles = createRows();
  const notes = createRows();
  return {
    add: (bubble) => {
      titles.add(bubble.title);
      notes.add(bubble.notes);
      return columns.add(bubble);
    },
    remove: (place) => columns.removed.add(place),
    finish: (renumber, bound) => {
      const places = columns.order();
      const renumbering = { renumber, bound };
      return {
        ...columns.inOrder(places),
        title: placedField(places.length, (doc) => titles.row(u32(places, doc)), renumbering),
        notes: bagField(notes, places, renumbering),
      };
    },
  };
};

/** The words of each bubble of a segment, which keeps them by word only. */
export const notesByBubble = ({ count, notes }: Segment): ((doc: number) => Uint32Array) => {
  const offsets = new Uint32Array(count + 1);
  eachDocument(notes.postings, EVERYTHING, (doc) => {
    offsets[doc + 1] = u32(offsets, doc + 1) + 1;
  });
  for (let doc = 0; doc < count; doc++) offsets[doc + 1] = u32(offsets, doc + 1) + u32(offsets, doc);
  const values = new Uint32Array(u32(offsets, count));
  const next = offsets.slice();
  for (const term of notes.postings.terms) {
    eachDocument(notes.postings, [term, term + 1], (doc) => {
      const at = u32(next, doc);
      values[at] = term;
      next[doc] = at + 1;
    });
  }
  return (doc) => values.subarray(u32(offsets, doc), u32(offsets, doc + 1));
};
