import { type CardRow, readPositioned, readWords } from '../domain/search-card.ts';
import { eachDocument, readTokens } from './field.ts';
import { createSegmentBuilder, type IndexedBubble, idAt, type Segment } from './segment.ts';
import { packTerms, type SortedTerms, termAt } from './sorted-terms.ts';
import { hasBit, u32 } from './typed-arrays.ts';

/** The texts that bubbles of an index share, by ordinal; 0 stands for null. */
interface Attributes {
  readonly teams: readonly string[];
  readonly channels: readonly string[];
  readonly types: readonly string[];
  readonly authors: readonly string[];
}

/** Ordinals for texts; 0 stands for null. */
interface Interner {
  ordinalOf(text: string | null): number;
  /** Null when the text has none. */
  find(text: string): number | null;
  /** Those with an ordinal, from 1 on. */
  texts(): readonly string[];
}

const createInterner = (known: readonly string[]): Interner => {
  const texts = [...known];
  const ordinals = new Map(texts.map((text, index) => [text, index + 1]));
  return {
    ordinalOf: (text) => {
      if (text === null) return 0;
      const ordinal = ordinals.get(text);
      if (ordinal !== undefined) return ordinal;
      ordinals.set(text, texts.push(text));
      return texts.length;
    },
    find: (text) => ordinals.get(text) ?? null,
    texts: () => texts,
  };
};

/** An index that was built from all cards of a caller: plain data, so that a thread can build it. */
export interface BuiltIndex {
  readonly terms: SortedTerms;
  readonly segment: Segment;
  readonly attributes: Attributes;
}

export const createInterners = (from: Attributes) => ({
  teams: createInterner(from.teams),
  channels: createInterner(from.channels),
  types: createInterner(from.types),
  authors: createInterner(from.authors),
});

export type Interners = ReturnType<typeof createInterners>;

const NO_ATTRIBUTES: Attributes = { teams: [], channels: [], types: [], authors: [] };

/** A card with its words as the ids that `idOf` gives. */
export const indexedBubble = (row: CardRow, interners: Interners, idOf: (text: string) => number): IndexedBubble => ({
  id: row.id,
  rowVersion: row.rowVersion,
  createdMs: row.createdMs,
  hideAtMs: row.hideAtMs,
  team: interners.teams.ordinalOf(row.teamId),
  channel: interners.channels.ordinalOf(row.channelId),
  type: interners.types.ordinalOf(row.type),
  author: interners.authors.ordinalOf(row.authorId),
  title: readPositioned(row.title).flatMap((token) => [idOf(token.text), token.start, token.end]),
  notes: readWords(row.notes).map(idOf),
});

/** Ranks by text: `ranks[id]` is the number of the text with that id in sorted order. */
const rankTexts = (texts: readonly string[]): { readonly sorted: string[]; readonly ranks: Uint32Array } => {
  const sorted = [...texts].sort();
  const ids = new Map(texts.map((text, id) => [text, id]));
  const ranks = new Uint32Array(texts.length);
  sorted.forEach((text, rank) => {
    ranks[ids.get(text) ?? 0] = rank;
  });
  return { sorted, ranks };
};

/** Makes an index of all cards of a caller. A bubble may come again with a newer revision while the cards are read. */
export const createIndexBuild = () => {
  const builder = createSegmentBuilder();
  const interners = createInterners(NO_ATTRIBUTES);
  const ids = new Map<string, number>();
  const newest = new Map<string, { readonly rowVersion: number; readonly entry: number | null }>();
  const idOf = (text: string): number => {
    const known = ids.get(text);
    if (known !== undefined) return known;
    ids.set(text, ids.size);
    return ids.size - 1;
  };
  const addRow = (row: CardRow): void => {
    const known = newest.get(row.id);
    if (known !== undefined && known.rowVersion >= row.rowVersion) return;
    if (known !== undefined && known.entry !== null) builder.remove(known.entry);
    newest.set(row.id, { rowVersion: row.rowVersion, entry: row.readable ? builder.add(indexedBubble(row, interners, idOf)) : null });
  };
  return {
    add: (rows: readonly CardRow[]): void => {
      for (const row of rows) addRow(row);
    },
    finish: (): BuiltIndex => {
      const { sorted, ranks } = rankTexts([...ids.keys()]);
      const segment = builder.finish((id) => u32(ranks, id), sorted.length);
      const { teams, channels, types, authors } = interners;
      const attributes = { teams: teams.texts(), channels: channels.texts(), types: types.texts(), authors: authors.texts() };
      return { terms: packTerms(sorted), segment, attributes };
    },
  };
};

/** Segments to become one; with `dictionary` the dictionary is rewritten as well, without the words that no segment holds any more. */
export interface MergeTask {
  readonly parts: readonly { readonly segment: Segment; readonly deleted: Uint8Array }[];
  readonly size: number;
  readonly dictionary: { readonly base: SortedTerms; readonly added: readonly string[] } | null;
}

export interface MergeResult {
  readonly segment: Segment;
  /** The new dictionary, and for each old id the new one or `NO_TERM`. */
  readonly dictionary: { readonly terms: SortedTerms; readonly ids: Uint32Array } | null;
}

export const NO_TERM = 0xffffffff;

const rewriteDictionary = ({ parts, size, dictionary }: MergeTask): MergeResult['dictionary'] => {
  if (dictionary === null) return null;
  const { base, added } = dictionary;
  const used = new Uint8Array(size);
  for (const { segment } of parts) {
    for (const term of segment.title.postings.terms) used[term] = 1;
    for (const term of segment.notes.postings.terms) used[term] = 1;
  }
  const texts: [string, number][] = [];
  used.forEach((isUsed, id) => {
    if (isUsed === 1) texts.push([id < base.count ? termAt(base, id) : (added[id - base.count] ?? ''), id]);
  });
  texts.sort(([a], [b]) => (a < b ? -1 : 1));
  const ids = new Uint32Array(size).fill(NO_TERM);
  texts.forEach(([, id], rank) => {
    ids[id] = rank;
  });
  return { terms: packTerms(texts.map(([text]) => text)), ids };
};

const EVERY_TERM = [0, Number.POSITIVE_INFINITY];

/** The words of each bubble of a segment, which keeps them by word only. */
const notesByBubble = ({ count, notes }: Segment): ((doc: number) => Uint32Array) => {
  const offsets = new Uint32Array(count + 1);
  eachDocument(notes.postings, EVERY_TERM, (doc) => {
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

/** Everything of the parts that is not deleted, in one segment. */
export const mergeSegments = (task: MergeTask): MergeResult => {
  const dictionary = rewriteDictionary(task);
  const builder = createSegmentBuilder();
  for (const { segment, deleted } of task.parts) {
    const notesOf = notesByBubble(segment);
    for (let doc = 0; doc < segment.count; doc++) {
      if (!hasBit(deleted, doc)) builder.add(bubbleAt(segment, doc, notesOf(doc)));
    }
  }
  const renumber = dictionary === null ? (id: number) => id : (id: number) => u32(dictionary.ids, id);
  return { segment: builder.finish(renumber, dictionary?.terms.count ?? task.size), dictionary };
};

const bubbleAt = (segment: Segment, doc: number, notes: Uint32Array): IndexedBubble => {
  const hideAt = segment.hideAt.length === 0 ? Number.POSITIVE_INFINITY : (segment.hideAt[doc] ?? 0);
  return {
    id: idAt(segment, doc),
    rowVersion: u32(segment.rowVersions, doc),
    createdMs: segment.created[doc] ?? 0,
    hideAtMs: hideAt === Number.POSITIVE_INFINITY ? null : hideAt,
    team: u32(segment.teams, doc),
    channel: u32(segment.channels, doc),
    type: segment.types[doc] ?? 0,
    author: u32(segment.authors, doc),
    title: segment.title.positions === null ? [] : readTokens(segment.title.positions, doc, []),
    notes,
  };
};

/** Does what takes too long for the event loop. */
export interface IndexBuilder {
  build(batches: AsyncIterable<readonly CardRow[]>): Promise<BuiltIndex>;
  merge(task: MergeTask): Promise<MergeResult>;
  stop(): Promise<void>;
}

/** On the event loop: for few bubbles. */
export const inlineBuilder = (): IndexBuilder => ({
  build: async (batches) => {
    const build = createIndexBuild();
    for await (const rows of batches) build.add(rows);
    return build.finish();
  },
  merge: (task) => Promise.resolve(mergeSegments(task)),
  stop: () => Promise.resolve(),
});
