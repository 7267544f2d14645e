import { f64, type GrowingNumbers, growingNumbers, isMarked, u8 } from './cells.ts';
import { costOf, isFull, partialCost, type QueryMarks } from './costs.ts';
import { createMarks, enterAuthors, enterField, type Marks } from './marks.ts';
import { orderIn, readTokens } from './placed-words.ts';
import type { QueryPlan, UnitPlan } from './query-plan.ts';
import { MISSING_COST, ORDERS, type Position, packRank, TIERS, UNDATED } from './rank.ts';
import { type Field, idAt, ordinalAfter, type Segment } from './segment.ts';
import { smallest } from './select.ts';

/** Filters as ordinals of the index; null admits everything. */
export interface Admission {
  readonly team: number | null;
  readonly channel: number | null;
  readonly type: number | null;
  readonly createdAfterMs: number | null;
  readonly createdBeforeMs: number | null;
  readonly nowMs: number;
}

/** What one search asks of every segment. */
export interface Question {
  readonly plan: QueryPlan;
  readonly admission: Admission;
  readonly after: Position | null;
  /** What the names hold of each unit, and of each bridge: computed when first needed. */
  readonly names: () => QueryMarks;
}

/** A search in one segment as it stood when the search began. */
export interface Run {
  readonly segment: Segment;
  readonly dead: Uint8Array;
  readonly question: Question;
  readonly marks: QueryMarks;
}

/** The stages after each other hold ranks after each other: all units within title, author, notes; then some missing. */
export const STAGES = TIERS + 1;
const PARTIAL = TIERS;
const TITLE = 0;
const AUTHOR = 1;
const NO_ORDER = ORDERS - 1;
const ORDINAL_ROOM = 2 ** 25;
const DOCUMENTS_A_BREATH = 8192;
const FIRST_PAGE = 128;
const NEXT_PAGE = 1024;

export const startRun = (segment: Segment, dead: Uint8Array, question: Question): Run => {
  const { units, bridges } = question.plan;
  const marks = {
    units: units.map(() => createMarks(segment.count)),
    bridges: bridges.map((bridge) => (bridge === null ? null : createMarks(segment.count))),
  };
  return { segment, dead, question, marks };
};

type MarksKind = keyof QueryMarks & keyof QueryPlan;

function* enterOne({ segment, question, marks }: Run, tier: number, [kind, index]: readonly [MarksKind, number]): Generator<null> {
  const target = marks[kind][index];
  const plan = question.plan[kind][index];
  if (!target || !plan) return;
  const found = tier === AUTHOR ? question.names()[kind][index] : null;
  if (found) enterAuthors(target, segment.authors, found);
  else yield* enterField(target, tier === TITLE ? segment.title : segment.notes, { plan, tier });
  yield null;
}

function* enterTier(run: Run, tier: number): Generator<null> {
  for (const index of run.marks.units.keys()) yield* enterOne(run, tier, ['units', index]);
  for (const index of run.marks.bridges.keys()) yield* enterOne(run, tier, ['bridges', index]);
}

const isAdmitted = ({ segment, dead, question }: Run, doc: number): boolean => {
  if (isMarked(dead, doc)) return false;
  const { team, channel, type, createdAfterMs, createdBeforeMs, nowMs } = question.admission;
  if (team !== null && segment.teams[doc] !== team) return false;
  if (channel !== null && segment.channels[doc] !== channel) return false;
  if (type !== null && segment.types[doc] !== type) return false;
  if (segment.hideAt.length > 0 && f64(segment.hideAt, doc) <= nowMs) return false;
  if (createdAfterMs === null && createdBeforeMs === null) return true;
  const created = f64(segment.created, doc);
  if (created === UNDATED) return false;
  return (createdAfterMs === null || created > createdAfterMs) && (createdBeforeMs === null || created < createdBeforeMs);
};

/** The marks in which a document must appear to hold the unit. */
const marksAround = ({ units, bridges }: QueryMarks, unit: number): Marks[] =>
  [units[unit], bridges[unit - 1], bridges[unit]].filter((marks): marks is Marks => marks !== undefined && marks !== null);

const sizeOf = (marks: readonly Marks[]): number => marks.reduce((total, { touched }) => total + touched.length(), 0);

/** The `count` rarest units: a document that misses fewer than `count` holds one of them. */
const rarest = (marks: QueryMarks, count: number): Marks[] =>
  marks.units
    .map((_, unit) => marksAround(marks, unit))
    .sort((a, b) => sizeOf(a) - sizeOf(b))
    .slice(0, count)
    .flat();

const isHeld = (lists: readonly Marks[], doc: number): boolean => {
  for (const { states } of lists) if (u8(states, doc) !== 0) return true;
  return false;
};

/** Each document of the lists once, with breaths. */
function* eachCandidate(lists: readonly Marks[], visit: (doc: number) => void): Generator<null> {
  let sinceBreath = 0;
  for (const [at, list] of lists.entries()) {
    const documents = list.touched.view();
    const earlier = lists.slice(0, at);
    for (const doc of documents) {
      if (!isHeld(earlier, doc)) visit(doc);
      if (++sinceBreath === DOCUMENTS_A_BREATH) {
        sinceBreath = 0;
        yield null;
      }
    }
  }
}

const orderBy = ({ segment, question }: Run): ((doc: number) => number) => {
  const { words } = segment.title;
  const { sequence } = question.plan;
  if (words === null || sequence === null) return () => NO_ORDER;
  const tokens: number[] = [];
  return (doc) => orderIn(readTokens(words, doc, tokens), sequence);
};

function* collectFull(run: Run, tier: number, keys: GrowingNumbers): Generator<null> {
  const orderOf = orderBy(run);
  yield* eachCandidate(rarest(run.marks, 1), (doc) => {
    const cost = costOf(run.marks, doc, tier);
    if (!isFull(cost) || (tier > TITLE && isFull(costOf(run.marks, doc, tier - 1))) || !isAdmitted(run, doc)) return;
    const order = cost === 0 ? orderOf(doc) : NO_ORDER;
    keys.push(packRank(cost, tier, order) * ORDINAL_ROOM + doc);
  });
}

function* collectPartial(run: Run, keys: GrowingNumbers): Generator<null> {
  const { mayMiss } = run.question.plan;
  yield* eachCandidate(rarest(run.marks, mayMiss + 1), (doc) => {
    const best = partialCost(run.marks, doc, mayMiss);
    if (best === null || !isAdmitted(run, doc)) return;
    keys.push(packRank(best.cost, best.tier, NO_ORDER) * ORDINAL_ROOM + doc);
  });
}

/** Every key of the stage lies below that of the next. */
const endOfStage = (stage: number): number =>
  stage === PARTIAL ? Number.POSITIVE_INFINITY : packRank(MISSING_COST - 1, stage, NO_ORDER) + 1;

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
export function* stageHits(run: Run, stage: number): Generator<Position | null> {
  const { after, plan } = run.question;
  if (stage === PARTIAL && plan.mayMiss === 0) return;
  if (stage < PARTIAL) yield* enterTier(run, stage);
  if (after !== null && after.rank >= endOfStage(stage)) return;
  const keys = growingNumbers();
  yield* stage === PARTIAL ? collectPartial(run, keys) : collectFull(run, stage, keys);
  yield* inOrder(run.segment, keys.view(), after === null ? 0 : after.rank * ORDINAL_ROOM + ordinalAfter(run.segment, after));
}

/** What the names hold of a query, by author. */
export const namesFound = (plan: QueryPlan, names: Field): QueryMarks => {
  const entered = (unit: UnitPlan): Marks => {
    const marks = createMarks(names.count);
    for (const _ of enterField(marks, names, { plan: unit, tier: AUTHOR }));
    return marks;
  };
  return { units: plan.units.map(entered), bridges: plan.bridges.map((bridge) => (bridge === null ? null : entered(bridge))) };
};
