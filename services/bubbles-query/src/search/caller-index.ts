import type { Position } from '../domain/ranking.ts';
import { type CardRow, readPlaced } from '../domain/search-card.ts';
import type { SearchRequest } from '../ports.ts';
import type { AuthorNames } from './author-names.ts';
import type { Dictionary } from './dictionary.ts';
import { type Field, positionalField } from './field.ts';
import type { BuiltIndex, Interners, MergeResult, MergeTask } from './index-build.ts';
import { adoptMerge, applyRows, beginMerge, bytesOf, type IndexState, isNews, openState, searchedLevels, sizeOf } from './index-state.ts';
import { planQuery } from './query-plan.ts';
import { type RowFilter, rankedHits } from './ranked-hits.ts';

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
        readPlaced(name).flatMap((token) => [dictionary.intern(token.text), token.start, token.end]),
      );
      field = positionalField(tokens.length, (author) => tokens[author] ?? [], { renumber: (id) => id, bound: dictionary.size() });
      made = dictionary;
    }
    return field;
  };
};

/** Null when nothing in the index has the value that a filter asks for. */
const rowFilterOf = ({ filters, nowMs }: SearchRequest, { teams, channels, types }: Interners): RowFilter | null => {
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
