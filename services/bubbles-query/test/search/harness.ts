import { UNDATED } from '../../src/domain/bubble.ts';
import { comparePositions, type Position } from '../../src/domain/ranking.ts';
import { atOnce, type CardRow, cardText, nameText } from '../../src/domain/search-card.ts';
import { parseQuery } from '../../src/domain/search-query.ts';
import type { ListFilters } from '../../src/ports.ts';
import { type AuthorNames, createAuthorNames } from '../../src/search/author-names.ts';
import { type CallerIndex, createCallerIndex } from '../../src/search/caller-index.ts';
import { createIndexBuild, mergeSegments } from '../../src/search/index-build.ts';
import { packTuple, rank } from './definition.ts';

/** A bubble as the tests state it; its author's name is the author's id. */
export interface TestBubble {
  readonly id: string;
  readonly title: string | null;
  readonly authorName: string | null;
  readonly summary: string | null;
  readonly createdMs: number;
  readonly hideAtMs: number | null;
  readonly teamId: string | null;
  readonly channelId: string | null;
  readonly type: string;
}

export const NO_FILTERS: ListFilters = { teamId: null, spaceId: null, type: null, createdAfterMs: null, createdBeforeMs: null };

export const testBubble = (overrides: Partial<TestBubble> & Pick<TestBubble, 'id'>): TestBubble => ({
  title: null,
  authorName: null,
  summary: null,
  createdMs: UNDATED,
  hideAtMs: null,
  teamId: null,
  channelId: null,
  type: 'meeting_recording',
  ...overrides,
});

export const uuidOf = (number: number): string => `00000000-0000-4000-8000-${number.toString(16).padStart(12, '0')}`;

export const cardOf = (bubble: TestBubble, rowVersion: number, readable = true): CardRow => {
  const { id, createdMs, hideAtMs, teamId, channelId, type, authorName } = bubble;
  return {
    id,
    rowVersion,
    seq: rowVersion,
    readable,
    createdMs,
    hideAtMs,
    teamId,
    channelId,
    type,
    authorId: authorName,
    ...atOnce(cardText(bubble)),
  };
};

/** Knows every author by the name that is the id. */
export const selfNamed = (): AuthorNames => {
  const names = createAuthorNames();
  return { ...names, nameOf: nameText };
};

export const indexOf = (bubbles: readonly TestBubble[], names: AuthorNames = selfNamed()): CallerIndex => {
  const build = createIndexBuild();
  build.add(bubbles.map((bubble) => cardOf(bubble, 1)));
  return createCallerIndex(build.finish(), names);
};

/** Merges at once when a merge is due. */
export const mergeNow = (index: CallerIndex): boolean => {
  const task = index.startMerge();
  if (task !== null) index.adopt(mergeSegments(task));
  return task !== null;
};

export interface Asked {
  readonly q: string;
  readonly filters?: ListFilters;
  readonly after?: Position | null;
  readonly nowMs?: number;
}

/** Up to `count` hits. */
export const pull = (
  index: CallerIndex,
  { q, filters = NO_FILTERS, after = null, nowMs = 0 }: Asked,
  count = Number.POSITIVE_INFINITY,
): Position[] => {
  const hits: Position[] = [];
  if (count === 0) return hits;
  for (const hit of index.search({ query: parseQuery(q), filters, after, nowMs })) {
    if (hit !== null) hits.push(hit);
    if (hits.length === count) break;
  }
  return hits;
};

const passes = (bubble: TestBubble, filters: ListFilters, nowMs: number): boolean => {
  const { teamId, spaceId, type, createdAfterMs, createdBeforeMs } = filters;
  if (bubble.hideAtMs !== null && bubble.hideAtMs <= nowMs) return false;
  if (teamId !== null && bubble.teamId !== teamId) return false;
  if (spaceId !== null && bubble.channelId !== spaceId) return false;
  if (type !== null && bubble.type !== type) return false;
  if ((createdAfterMs !== null || createdBeforeMs !== null) && bubble.createdMs === UNDATED) return false;
  return (createdAfterMs === null || bubble.createdMs > createdAfterMs) && (createdBeforeMs === null || bubble.createdMs < createdBeforeMs);
};

/** The whole order by the definition. */
export const defined = (bubbles: readonly TestBubble[], { q, filters = NO_FILTERS, after = null, nowMs = 0 }: Asked): Position[] => {
  const query = parseQuery(q);
  return bubbles
    .filter((bubble) => passes(bubble, filters, nowMs))
    .flatMap((bubble) => {
      const tuple = rank(query, bubble);
      return tuple === null ? [] : [{ rank: packTuple(tuple), createdMs: bubble.createdMs, id: bubble.id }];
    })
    .sort(comparePositions)
    .filter((position) => after === null || comparePositions(position, after) > 0);
};
