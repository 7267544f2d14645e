import type { CardRow } from '../domain/search-card.ts';
import { createDictionary, type Dictionary } from './dictionary.ts';
import { TOKEN_STRIDE } from './field.ts';
import {
  type BuiltIndex,
  createInterners,
  type Interners,
  indexedBubble,
  type MergeResult,
  type MergeTask,
  NO_TERM,
} from './index-build.ts';
import {
  alive,
  createSegmentBuilder,
  findBubble,
  type IndexedBubble,
  idBytes,
  type Level,
  segmentBytes,
  withoutTombstones,
  withTombstones,
} from './segment.ts';
import { u32 } from './typed-arrays.ts';

/** Changes gather until there are so many; the middle level takes them until it has that many. */
const MAX_DELTA = 512;
const MAX_MIDDLE = 16_384;
/** A middle level pays only below one that is several times larger. */
const LARGER = 4;
const BYTES_OF_ATTRIBUTE = 120;

const BYTES_OF_BUBBLE = 400;
const BYTES_OF_WORD = 8;
const BYTES_OF_GONE = 120;
/** Of a bubble that weighs one. */
const USUAL_WORDS = 128;

const wordsOf = (bubble: IndexedBubble | undefined): number => (bubble === undefined ? 0 : bubble.title.length + bubble.notes.length);

/** Changes since the last merge: the newest state of each bubble. */
const createDelta = () => {
  const bubbles = new Map<string, IndexedBubble>();
  const gone = new Map<string, number>();
  let words = 0;
  let sealed: Level | null = null;
  const forget = (id: string): boolean => {
    words -= wordsOf(bubbles.get(id));
    return bubbles.delete(id);
  };
  return {
    bubbles,
    gone,
    /** Null for a bubble that did not change. */
    revOf: (id: string): number | null => bubbles.get(id)?.rev ?? gone.get(id) ?? null,
    put: (bubble: IndexedBubble): void => {
      gone.delete(bubble.id);
      forget(bubble.id);
      words += wordsOf(bubble);
      bubbles.set(bubble.id, bubble);
      sealed = null;
    },
    remove: (id: string, rev: number): void => {
      if (forget(id)) sealed = null;
      gone.set(id, rev);
    },
    /** As a level; `bound` is above every term id. */
    seal: (bound: number): Level | null => {
      if (bubbles.size === 0) return null;
      if (sealed === null) {
        const builder = createSegmentBuilder();
        for (const bubble of bubbles.values()) builder.add(bubble);
        sealed = withoutTombstones(builder.finish((id) => id, bound));
      }
      return sealed;
    },
    /** How many changes there are, in bubbles of usual length. */
    weight: (): number => Math.max(bubbles.size, words / USUAL_WORDS) + gone.size,
    bytes: (): number => bubbles.size * BYTES_OF_BUBBLE + words * BYTES_OF_WORD + gone.size * BYTES_OF_GONE,
  };
};

type Delta = ReturnType<typeof createDelta>;

interface Merging {
  readonly parts: readonly Level[];
  readonly frozen: Delta;
  readonly isWhole: boolean;
}

/** One large immutable level, one middle one, and the changes since, over one dictionary. */
export interface IndexState {
  readonly interners: Interners;
  dictionary: Dictionary;
  /** The largest first. */
  levels: readonly Level[];
  delta: Delta;
  merging: Merging | null;
}

export const openState = (built: BuiltIndex): IndexState => ({
  interners: createInterners(built.attributes),
  dictionary: createDictionary(built.terms),
  levels: built.segment.count === 0 ? [] : [withoutTombstones(built.segment)],
  delta: createDelta(),
  merging: null,
});

const revOf = ({ delta, merging, levels }: IndexState, id: string): number => {
  const changed = delta.revOf(id) ?? merging?.frozen.revOf(id) ?? null;
  if (changed !== null) return changed;
  for (const { segment } of levels.toReversed()) {
    const doc = findBubble(segment, idBytes(id));
    if (doc >= 0) return u32(segment.revs, doc);
  }
  return -1;
};

export const isNews = (state: IndexState, row: CardRow): boolean => row.rev > revOf(state, row.id);

export const applyRows = (state: IndexState, rows: readonly CardRow[]): void => {
  const replaced: Uint8Array[] = [];
  try {
    for (const row of rows) {
      if (!isNews(state, row)) continue;
      if (row.readable) state.delta.put(indexedBubble(row, state.interners, state.dictionary.intern));
      else state.delta.remove(row.id, row.rev);
      replaced.push(idBytes(row.id));
    }
    state.dictionary.sort();
  } finally {
    // Those before a row that failed are known by now, and would never come again.
    state.levels = state.levels.map((level) => withTombstones(level, replaced));
  }
};

/** The levels to search, the changes as the last. */
export const searchedLevels = ({ levels, delta, dictionary }: IndexState): readonly Level[] => {
  const sealed = delta.seal(dictionary.size());
  return sealed === null ? levels : [...levels, sealed];
};

const isWasteful = (level: Level | undefined): boolean =>
  level !== undefined && level.deadCount > MAX_DELTA && level.deadCount > alive(level);

const countOf = (levels: readonly Level[]): number => levels.reduce((total, level) => total + alive(level), 0);

/** Freezes the changes; they are searched as a level of their own until the merge is adopted. */
export const beginMerge = (state: IndexState): MergeTask | null => {
  const { delta, dictionary } = state;
  const [largest] = state.levels;
  const isDue = delta.weight() > MAX_DELTA || isWasteful(largest);
  if (state.merging !== null || !isDue) return null;
  state.levels = searchedLevels(state);
  const smaller = state.levels.slice(largest === undefined ? 0 : 1);
  const isWhole =
    largest === undefined || isWasteful(largest) || countOf(smaller) > MAX_MIDDLE || countOf(smaller) * LARGER > alive(largest);
  const parts = isWhole ? state.levels : smaller;
  state.merging = { parts, frozen: delta, isWhole };
  state.delta = createDelta();
  return {
    parts: parts.map(({ segment, dead }) => ({ segment, dead })),
    size: dictionary.size(),
    dictionary: isWhole ? { base: dictionary.base, added: [...dictionary.added()] } : null,
  };
};

const renumbered = (bubble: IndexedBubble, renumber: (id: number) => number): IndexedBubble => ({
  ...bubble,
  title: Array.from(bubble.title, (value, at) => (at % TOKEN_STRIDE === 0 ? renumber(value) : value)),
  notes: Array.from(bubble.notes, renumber),
});

const adoptDictionary = (state: IndexState, { ids, terms }: NonNullable<MergeResult['dictionary']>): void => {
  const old = state.dictionary;
  const dictionary = createDictionary(terms);
  const renumber = (id: number): number => {
    const known = id < ids.length ? u32(ids, id) : NO_TERM;
    return known === NO_TERM ? dictionary.intern(old.textOf(id)) : known;
  };
  state.dictionary = dictionary;
  for (const bubble of [...state.delta.bubbles.values()]) state.delta.put(renumbered(bubble, renumber));
};

/** Takes a finished merge; what changed since it began is dead in it. */
export const adoptMerge = (state: IndexState, result: MergeResult): void => {
  const { merging, delta } = state;
  if (merging === null) return;
  const changedSince = [...delta.bubbles.keys(), ...delta.gone.keys()].map(idBytes);
  const kept = merging.isWhole ? [] : state.levels.slice(0, 1);
  state.levels = result.segment.count === 0 ? kept : [...kept, withTombstones(withoutTombstones(result.segment), changedSince)];
  state.merging = null;
  if (result.dictionary !== null) adoptDictionary(state, result.dictionary);
};

export const sizeOf = ({ levels, delta }: IndexState): number => countOf(levels) + delta.bubbles.size;

export const bytesOf = ({ interners, levels, dictionary, delta }: IndexState): number => {
  const { teams, channels, types, authors } = interners;
  const attributes = [teams, channels, types, authors].reduce((total, interner) => total + interner.texts().length, 0);
  const segments = levels.reduce((total, { segment, dead }) => total + segmentBytes(segment) + dead.byteLength, 0);
  return segments + dictionary.bytes() + delta.bytes() + attributes * BYTES_OF_ATTRIBUTE;
};
