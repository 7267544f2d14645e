import { createAuthorField } from './author-field.ts';
import type { CardRow } from './card.ts';
import { type Admission, namesFound, type Question, STAGES, stageHits, startRun } from './evaluate.ts';
import type { BuiltIndex, Interners, MergeResult, MergeTask } from './index-build.ts';
import { adoptMerge, applyRows, beginMerge, bytesOf, type IndexState, isNews, openState, searchedLevels, sizeOf } from './index-state.ts';
import { mergeOrdered } from './merge-ordered.ts';
import type { NameBook } from './name-book.ts';
import { planQuery } from './query-plan.ts';
import type { ParsedQuery } from './query-units.ts';
import { comparePositions, type Position } from './rank.ts';
import type { Field } from './segment.ts';

/** What may be asked beside the words; null admits everything. Dates are exclusive. */
export interface SearchFilters {
  readonly teamId: string | null;
  readonly channelId: string | null;
  readonly type: string | null;
  readonly createdAfterMs: number | null;
  readonly createdBeforeMs: number | null;
}

export interface SearchRequest {
  readonly query: ParsedQuery;
  readonly filters: SearchFilters;
  readonly after: Position | null;
  readonly nowMs: number;
}

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

const admissionOf = (filters: SearchFilters, interners: Interners, nowMs: number): Admission | null => {
  const team = filters.teamId === null ? null : interners.teams.find(filters.teamId);
  const channel = filters.channelId === null ? null : interners.channels.find(filters.channelId);
  const type = filters.type === null ? null : interners.types.find(filters.type);
  const isUnknown =
    (filters.teamId !== null && team === null) ||
    (filters.channelId !== null && channel === null) ||
    (filters.type !== null && type === null);
  if (isUnknown) return null;
  return { team, channel, type, createdAfterMs: filters.createdAfterMs, createdBeforeMs: filters.createdBeforeMs, nowMs };
};

function* searchIn(state: IndexState, field: Field, request: SearchRequest): Generator<Position | null> {
  const admission = admissionOf(request.filters, state.interners, request.nowMs);
  if (admission === null || request.query.units.length === 0) return;
  const plan = planQuery(state.lexicon, request.query);
  let found: ReturnType<typeof namesFound> | null = null;
  const names = () => {
    found ??= namesFound(plan, field);
    return found;
  };
  const question: Question = { plan, admission, after: request.after, names };
  const runs = searchedLevels(state).map(({ segment, dead }) => startRun(segment, dead, question));
  for (let stage = 0; stage < STAGES; stage++) {
    const hits = runs.map((run) => stageHits(run, stage));
    yield* mergeOrdered(hits, comparePositions);
  }
}

export const createCallerIndex = (built: BuiltIndex, names: NameBook): CallerIndex => {
  const state = openState(built);
  const authorField = createAuthorField(state.interners, names);
  return {
    isNews: (row) => isNews(state, row),
    apply: (rows) => applyRows(state, rows),
    search: (request) => searchIn(state, authorField(state.lexicon), request),
    authors: () => state.interners.authors.texts(),
    startMerge: () => beginMerge(state),
    adopt: (result) => adoptMerge(state, result),
    size: () => sizeOf(state),
    changes: () => state.delta.weight(),
    bytes: () => bytesOf(state),
  };
};
