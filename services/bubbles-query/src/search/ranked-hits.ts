import { UNDATED } from '../domain/bubble.ts';
import { COSTS, comparePositions, ORDERS, type Position, packRank, TIERS } from '../domain/ranking.ts';
import { type Field, readTokens, TOKEN_STRIDE } from './field.ts';
import {
  type Matches,
  matchAuthors,
  matchesInNames,
  matchField,
  noMatches,
  QUALITIES,
  type QueryMatches,
  type QueryPlan,
} from './query-matches.ts';
import { idAt, type Level, ordinalAfter, type Segment } from './segment.ts';
import { mergeOrdered, smallest } from './top-k.ts';
import { f64, type GrowingF64, growingF64, hasBit, num, u8 } from './typed-arrays.ts';

/** What one search asks of every segment. */
export interface IndexQuery {
  readonly plan: QueryPlan;
  /** Attributes as ordinals of the index; null lets every row pass. */
  readonly filter: {
    readonly team: number | null;
    readonly channel: number | null;
    readonly type: number | null;
    readonly createdAfterMs: number | null;
    readonly createdBeforeMs: number | null;
    readonly nowMs: number;
  };
  readonly after: Position | null;
  /** The names of the authors, by author. */
  readonly names: Field;
}

/** A search in one segment as it stood when the search began. */
interface SegmentSearch extends Pick<Level, 'segment' | 'deleted'> {
  readonly query: IndexQuery;
  /** What the names hold of the query. */
  readonly inNames: () => QueryMatches;
  readonly matches: QueryMatches;
}

/** The stages after each other hold ranks after each other: all units within title, author, notes; then some missing. */
const STAGES = TIERS + 1;
const PARTIAL = TIERS;
const TITLE = 0;
const AUTHOR = 1;
const NO_ORDER = ORDERS - 1;
const ORDINAL_ROOM = 2 ** 25;
const DOCUMENTS_PER_SLICE = 8192;
const FIRST_PAGE = 128;
const NEXT_PAGE = 1024;

type MatchesKind = keyof QueryMatches & keyof QueryPlan;

function* matchUnit(
  { segment, query, matches, inNames }: SegmentSearch,
  tier: number,
  [kind, index]: readonly [MatchesKind, number],
): Generator<null> {
  const target = matches[kind][index];
  const plan = query.plan[kind][index];
  if (!target || !plan) return;
  const found = tier === AUTHOR ? inNames()[kind][index] : null;
  if (found) matchAuthors(target, segment.authors, found);
  else yield* matchField(target, tier === TITLE ? segment.title : segment.notes, { plan, tier });
  yield null;
}

function* matchTier(search: SegmentSearch, tier: number): Generator<null> {
  for (const index of search.matches.units.keys()) yield* matchUnit(search, tier, ['units', index]);
  for (const index of search.matches.bridges.keys()) yield* matchUnit(search, tier, ['bridges', index]);
}

const passes = ({ segment, deleted, query }: SegmentSearch, doc: number): boolean => {
  if (hasBit(deleted, doc)) return false;
  const { team, channel, type, createdAfterMs, createdBeforeMs, nowMs } = query.filter;
  if (team !== null && segment.teams[doc] !== team) return false;
  if (channel !== null && segment.channels[doc] !== channel) return false;
  if (type !== null && segment.types[doc] !== type) return false;
  if (segment.hideAt.length > 0 && f64(segment.hideAt, doc) <= nowMs) return false;
  if (createdAfterMs === null && createdBeforeMs === null) return true;
  const created = f64(segment.created, doc);
  if (created === UNDATED) return false;
  return (createdAfterMs === null || created > createdAfterMs) && (createdBeforeMs === null || created < createdBeforeMs);
};

/** The highest state of a field. */
const lastStateOf = (field: number): number => (field + 1) * QUALITIES;

const unitCosts = (): number[] => {
  const costs = [COSTS.missing];
  for (let tier = 0; tier < TIERS; tier++) {
    for (let quality = 0; quality < QUALITIES; quality++) {
      costs.push(tier * COSTS.field + (quality >>> 1) * COSTS.edit + (quality & 1) * COSTS.prefix);
    }
  }
  return costs;
};

/** By state. */
const UNIT_COSTS = unitCosts();
/** By state: two words in one field, one edit. */
const BRIDGE_COSTS = UNIT_COSTS.map((_, state) => Math.floor((state - 1) / QUALITIES) * 2 * COSTS.field + COSTS.edit);

/** The least sum over all ways to take the units alone or two at a time, with the fields up to the tier. */
const costOf = ({ units, bridges }: QueryMatches, doc: number, tier: number): number => {
  const limit = lastStateOf(tier);
  let beforeLast = 0;
  let last = 0;
  for (let unit = 0; unit < units.length; unit++) {
    const matches = units[unit];
    if (matches === undefined) break;
    const state = u8(matches.states, doc);
    let least = last + num(UNIT_COSTS, state <= limit ? state : 0);
    const bridge = unit === 0 ? null : bridges[unit - 1];
    if (bridge) {
      const joined = u8(bridge.states, doc);
      if (joined !== 0 && joined <= limit) least = Math.min(least, beforeLast + num(BRIDGE_COSTS, joined));
    }
    beforeLast = last;
    last = least;
  }
  return last;
};

const missingOf = (cost: number): number => Math.floor(cost / COSTS.missing);

interface BestCost {
  readonly cost: number;
  readonly tier: number;
}

/** Fewest missing, then the lowest tier that achieves it, then the rest. Null unless something, but not too much, is missing. */
const partialCost = (matches: QueryMatches, doc: number, mayMiss: number): BestCost | null => {
  const lastTier = TIERS - 1;
  const cost = costOf(matches, doc, lastTier);
  const missing = missingOf(cost);
  if (missing === 0 || missing > mayMiss) return null;
  for (let tier = 0; tier < lastTier; tier++) {
    const lower = costOf(matches, doc, tier);
    if (missingOf(lower) === missing) return { cost: lower, tier };
  }
  return { cost, tier: lastTier };
};

const isFull = (cost: number): boolean => cost < COSTS.missing;

/** The matches in which a document must be to hold the unit. */
const matchesAround = ({ units, bridges }: QueryMatches, unit: number): Matches[] =>
  [units[unit], bridges[unit - 1], bridges[unit]].filter((matches): matches is Matches => matches !== undefined && matches !== null);

const sizeOf = (matches: readonly Matches[]): number => matches.reduce((total, { documents }) => total + documents.length(), 0);

/** The `count` rarest units: a document that misses fewer than `count` holds one of them. */
const rarest = (matches: QueryMatches, count: number): Matches[] =>
  matches.units
    .map((_, unit) => matchesAround(matches, unit))
    .sort((a, b) => sizeOf(a) - sizeOf(b))
    .slice(0, count)
    .flat();

const isHeld = (lists: readonly Matches[], doc: number): boolean => {
  for (const { states } of lists) if (u8(states, doc) !== 0) return true;
  return false;
};

/** Each document of the lists once. Yields where others may have a turn. */
function* eachCandidate(lists: readonly Matches[], visit: (doc: number) => void): Generator<null> {
  let sinceYield = 0;
  for (const [at, list] of lists.entries()) {
    const documents = list.documents.view();
    const earlier = lists.slice(0, at);
    for (const doc of documents) {
      if (!isHeld(earlier, doc)) visit(doc);
      if (++sinceYield === DOCUMENTS_PER_SLICE) {
        sinceYield = 0;
        yield null;
      }
    }
  }
}

const lengthOf = (tokens: readonly number[]): number => {
  let length = 0;
  for (let at = 2; at < tokens.length; at += TOKEN_STRIDE) length = Math.max(length, num(tokens, at) + 1);
  return length;
};

/** Where the sequence ends when it begins with the token at `from`; -1 when it does not stand there. No two tokens of one start are equal. */
const endOf = (tokens: readonly number[], sequence: readonly number[], from: number): number => {
  let start = num(tokens, from + 1);
  let at = from;
  for (const term of sequence) {
    while (at < tokens.length && num(tokens, at + 1) <= start && !(tokens[at] === term && tokens[at + 1] === start)) at += TOKEN_STRIDE;
    if (at >= tokens.length || num(tokens, at + 1) > start) return -1;
    start = num(tokens, at + 2) + 1;
    at += TOKEN_STRIDE;
  }
  return start;
};

/** 0 when the title is the sequence, 1 when the sequence stands in it in order, 2 otherwise. */
const orderIn = (tokens: readonly number[], sequence: readonly number[]): number => {
  const whole = lengthOf(tokens);
  let least = 2;
  for (let at = 0; at < tokens.length; at += TOKEN_STRIDE) {
    if (tokens[at] !== sequence[0]) continue;
    const end = endOf(tokens, sequence, at);
    if (end === whole && tokens[at + 1] === 0) return 0;
    if (end >= 0) least = 1;
  }
  return least;
};

const orderBy = ({ segment, query }: SegmentSearch): ((doc: number) => number) => {
  const { positions } = segment.title;
  const { sequence } = query.plan;
  if (positions === null || sequence === null) return () => NO_ORDER;
  const tokens: number[] = [];
  return (doc) => orderIn(readTokens(positions, doc, tokens), sequence);
};

function* collectFull(search: SegmentSearch, tier: number, keys: GrowingF64): Generator<null> {
  const orderOf = orderBy(search);
  yield* eachCandidate(rarest(search.matches, 1), (doc) => {
    const cost = costOf(search.matches, doc, tier);
    if (!isFull(cost) || (tier > TITLE && isFull(costOf(search.matches, doc, tier - 1))) || !passes(search, doc)) return;
    const order = cost === 0 ? orderOf(doc) : NO_ORDER;
    keys.push(packRank(cost, tier, order) * ORDINAL_ROOM + doc);
  });
}

function* collectPartial(search: SegmentSearch, keys: GrowingF64): Generator<null> {
  const { mayMiss } = search.query.plan;
  yield* eachCandidate(rarest(search.matches, mayMiss + 1), (doc) => {
    const best = partialCost(search.matches, doc, mayMiss);
    if (best === null || !passes(search, doc)) return;
    keys.push(packRank(best.cost, best.tier, NO_ORDER) * ORDINAL_ROOM + doc);
  });
}

/** Every key of the stage lies below that of the next. */
const endOfStage = (stage: number): number =>
  stage === PARTIAL ? Number.POSITIVE_INFINITY : packRank(COSTS.missing - 1, stage, NO_ORDER) + 1;

function* inOrder(segment: Segment, keys: Float64Array, from: number): Generator<Position> {
  let next = from;
  for (let count = FIRST_PAGE; ; count = NEXT_PAGE) {
    const page = smallest(keys, next, count);
    for (const key of page) {
      const doc = key % ORDINAL_ROOM;
      yield { rank: Math.floor(key / ORDINAL_ROOM), createdMs: f64(segment.created, doc), id: idAt(segment, doc) };
    }
    if (page.length < count) return;
    next = f64(page, count - 1) + 1;
  }
}

/** The hits of one stage in order; null where others may have a turn. Stages must be asked one after the other. */
function* stageHits(search: SegmentSearch, stage: number): Generator<Position | null> {
  const { after, plan } = search.query;
  if (stage === PARTIAL && plan.mayMiss === 0) return;
  if (stage < PARTIAL) yield* matchTier(search, stage);
  if (after !== null && after.rank >= endOfStage(stage)) return;
  const keys = growingF64();
  yield* stage === PARTIAL ? collectPartial(search, keys) : collectFull(search, stage, keys);
  yield* inOrder(search.segment, keys.view(), after === null ? 0 : after.rank * ORDINAL_ROOM + ordinalAfter(search.segment, after));
}

/** The hits in all segments in order; null where others may have a turn. */
export function* rankedHits(levels: readonly Level[], query: IndexQuery): Generator<Position | null> {
  let found: QueryMatches | null = null;
  const inNames = () => {
    found ??= matchesInNames(query.plan, query.names, AUTHOR);
    return found;
  };
  const searches = levels.map(({ segment, deleted }) => ({
    segment,
    deleted,
    query,
    inNames,
    matches: noMatches(query.plan, segment.count),
  }));
  for (let stage = 0; stage < STAGES; stage++) {
    const hits = searches.map((search) => stageHits(search, stage));
    yield* mergeOrdered(hits, comparePositions);
  }
}
