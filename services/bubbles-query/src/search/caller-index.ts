import type { Position } from '../domain/ranking.ts';
import { type CardRow, readPositioned } from '../domain/search-card.ts';
import type { SearchRequest } from '../ports.ts';
import type { AuthorNames } from './author-names.ts';
import { createDelta } from './delta.ts';
import { createDictionary, type Dictionary } from './dictionary.ts';
import { type Field, positionalField, TOKEN_STRIDE } from './field.ts';
import {
  type BuiltIndex,
  createInterners,
  type Interners,
  indexedBubble,
  type MergeResult,
  type MergeTask,
  NO_TERM,
} from './index-build.ts';
import { planQuery } from './query-matches.ts';
import { type IndexQuery, rankedHits } from './ranked-hits.ts';
import { allLive, findBubble, type IndexedBubble, idBytes, type Level, liveCount, segmentBytes, withDeleted } from './segment.ts';
import { u32 } from './typed-arrays.ts';

/** The bubbles one caller may read, searchable. */
export interface CallerIndex {
  /** Whether the card is newer than what it has. */
  isNews(row: CardRow): boolean;
  /** Takes cards as they are now, in any order and more than once. */
  apply(rows: readonly CardRow[]): void;
  /**
   * Hits in order, as many as are pulled, over the index as it stands at the first pull. A null is no hit: there the caller may let others
   * run.
   */
  search(request: SearchRequest): Generator<Position | null>;
  /** Ids of the authors of its bubbles. */
  authors(): readonly string[];
  /** What should be merged now, null when nothing. The index goes on meanwhile and takes the result by `adopt`. */
  startMerge(): MergeTask | null;
  adopt(result: MergeResult): void;
  size(): number;
  /** How many bubbles changed since the last merge began; long ones count for several. */
  changes(): number;
  bytes(): number;
}

/** The delta takes changes up to this weight; then a merge moves them into the middle level. */
const MAX_DELTA = 512;
/** The middle level takes bubbles up to this number; then a merge makes one level of all. */
const MAX_MIDDLE = 16_384;
/** A middle level pays only beside one that is several times larger. */
const LARGER = 4;
const BYTES_OF_ATTRIBUTE = 120;

type Delta = ReturnType<typeof createDelta>;

interface Merging {
  readonly parts: readonly Level[];
  readonly frozen: Delta;
  readonly isWhole: boolean;
}

/** One large immutable level, one middle one, and the changes since, over one dictionary. */
interface IndexState {
  readonly interners: Interners;
  dictionary: Dictionary;
  /** The largest first. */
  levels: readonly Level[];
  delta: Delta;
  merging: Merging | null;
}

const openState = (built: BuiltIndex): IndexState => ({
  interners: createInterners(built.attributes),
  dictionary: createDictionary(built.terms),
  levels: built.segment.count === 0 ? [] : [allLive(built.segment)],
  delta: createDelta(),
  merging: null,
});

const rowVersionOf = ({ delta, merging, levels }: IndexState, id: string): number => {
  const changed = delta.rowVersionOf(id) ?? merging?.frozen.rowVersionOf(id) ?? null;
  if (changed !== null) return changed;
  for (const { segment } of levels.toReversed()) {
    const doc = findBubble(segment, idBytes(id));
    if (doc >= 0) return u32(segment.rowVersions, doc);
  }
  return -1;
};

const isNews = (state: IndexState, row: CardRow): boolean => row.rowVersion > rowVersionOf(state, row.id);

const applyRows = (state: IndexState, rows: readonly CardRow[]): void => {
  const replaced: Uint8Array[] = [];
  try {
    for (const row of rows) {
      if (!isNews(state, row)) continue;
      if (row.readable) state.delta.put(indexedBubble(row, state.interners, state.dictionary.intern));
      else state.delta.remove(row.id, row.rowVersion);
      replaced.push(idBytes(row.id));
    }
    state.dictionary.sort();
  } finally {
    // Those before a row that failed are known by now, and would never come again.
    state.levels = state.levels.map((level) => withDeleted(level, replaced));
  }
};

/** The levels to search, the changes as the last. */
const searchedLevels = ({ levels, delta, dictionary }: IndexState): readonly Level[] => {
  const sealed = delta.seal(dictionary.size());
  return sealed === null ? levels : [...levels, sealed];
};

const isWasteful = (level: Level | undefined): boolean =>
  level !== undefined && level.deletedCount > MAX_DELTA && level.deletedCount > liveCount(level);

const countOf = (levels: readonly Level[]): number => levels.reduce((total, level) => total + liveCount(level), 0);

/** Freezes the changes; they are searched as a level of their own until the merge is adopted. */
const beginMerge = (state: IndexState): MergeTask | null => {
  const { delta, dictionary } = state;
  const [largest] = state.levels;
  const isDue = delta.weight() > MAX_DELTA || isWasteful(largest);
  if (state.merging !== null || !isDue) return null;
  state.levels = searchedLevels(state);
  const smaller = state.levels.slice(largest === undefined ? 0 : 1);
  const isWhole =
    largest === undefined || isWasteful(largest) || countOf(smaller) > MAX_MIDDLE || countOf(smaller) * LARGER > liveCount(largest);
  const parts = isWhole ? state.levels : smaller;
  state.merging = { parts, frozen: delta, isWhole };
  state.delta = createDelta();
  return {
    parts: parts.map(({ segment, deleted }) => ({ segment, deleted })),
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

/** Takes a finished merge; what changed since it began is marked as deleted in it. */
const adoptMerge = (state: IndexState, result: MergeResult): void => {
  const { merging, delta } = state;
  if (merging === null) return;
  const changedSince = [...delta.bubbles.keys(), ...delta.gone.keys()].map(idBytes);
  const kept = merging.isWhole ? [] : state.levels.slice(0, 1);
  state.levels = result.segment.count === 0 ? kept : [...kept, withDeleted(allLive(result.segment), changedSince)];
  state.merging = null;
  if (result.dictionary !== null) adoptDictionary(state, result.dictionary);
};

const sizeOf = ({ levels, delta }: IndexState): number => countOf(levels) + delta.bubbles.size;

const bytesOf = ({ interners, levels, dictionary, delta }: IndexState): number => {
  const { teams, channels, types, authors } = interners;
  const attributes = [teams, channels, types, authors].reduce((total, interner) => total + interner.texts().length, 0);
  const segments = levels.reduce((total, { segment, deleted }) => total + segmentBytes(segment) + deleted.byteLength, 0);
  return segments + dictionary.bytes() + delta.bytes() + attributes * BYTES_OF_ATTRIBUTE;
};

/** The names of the authors as a field, made again when one of them changed or one was added. */
const createAuthorField = (interners: Interners, names: AuthorNames) => {
  let field: Field | null = null;
  let seen = 0;
  let made: Dictionary | null = null;
  const isCurrent = (dictionary: Dictionary): boolean => {
    const changed = names.changes().slice(seen);
    seen = names.changes().length;
    const count = interners.authors.texts().length + 1;
    return made === dictionary && field?.count === count && !changed.some((id) => interners.authors.find(id) !== null);
  };
  return (dictionary: Dictionary): Field => {
    if (!isCurrent(dictionary) || field === null) {
      const tokens = ['', ...interners.authors.texts().map(names.nameOf)].map((name) =>
        readPositioned(name).flatMap((token) => [dictionary.intern(token.text), token.start, token.end]),
      );
      field = positionalField(tokens.length, (author) => tokens[author] ?? [], { renumber: (id) => id, bound: dictionary.size() });
      made = dictionary;
    }
    return field;
  };
};

/** Null when nothing in the index has the value that a filter asks for. */
const rowFilterOf = ({ filters, nowMs }: SearchRequest, { teams, channels, types }: Interners): IndexQuery['filter'] | null => {
  const team = filters.teamId === null ? null : teams.find(filters.teamId);
  const channel = filters.spaceId === null ? null : channels.find(filters.spaceId);
  const type = filters.type === null ? null : types.find(filters.type);
  const isUnknown =
    (filters.teamId !== null && team === null) ||
    (filters.spaceId !== null && channel === null) ||
    (filters.type !== null && type === null);
  if (isUnknown) return null;
  return { team, channel, type, createdAfterMs: filters.createdAfterMs, createdBeforeMs: filters.createdBeforeMs, nowMs };
};

function* searchIn(state: IndexState, names: Field, request: SearchRequest): Generator<Position | null> {
  const filter = rowFilterOf(request, state.interners);
  if (filter === null || request.query.units.length === 0) return;
  const plan = planQuery(state.dictionary, request.query);
  yield* rankedHits(searchedLevels(state), { plan, filter, after: request.after, names });
}

export const createCallerIndex = (built: BuiltIndex, names: AuthorNames): CallerIndex => {
  const state = openState(built);
  const authorField = createAuthorField(state.interners, names);
  return {
    isNews: (row) => isNews(state, row),
    apply: (rows) => applyRows(state, rows),
    search: (request) => searchIn(state, authorField(state.dictionary), request),
    authors: () => state.interners.authors.texts(),
    startMerge: () => beginMerge(state),
    adopt: (result) => adoptMerge(state, result),
    size: () => sizeOf(state),
    changes: () => state.delta.weight(),
    bytes: () => bytesOf(state),
  };
};
