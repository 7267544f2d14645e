import { EDIT_COST, FIELD_COST, MISSING_COST, PREFIX_COST, TIERS } from '../domain/ranking.ts';
import { areNeighbours, type Field, readTokens } from './field.ts';
import { documentsWithAll, eachDocumentInSteps } from './posting-lists.ts';
import { ONE_EDIT, QUALITIES, type UnitPlan } from './query-plan.ts';
import { type GrowingU32, growingU32, num, u8 } from './typed-arrays.ts';

/**
 * What a unit found in each document: 0 nothing, else 1 + quality + 5 × field. Fields are searched in order, qualities best first, so that
 * the first match of a document is the one that counts.
 */
export interface Matches {
  readonly states: Uint8Array;
  /** The documents in which the unit was found. */
  readonly documents: GrowingU32;
}

export const createMatches = (count: number): Matches => ({ states: new Uint8Array(count), documents: growingU32() });

/** The highest state of a field. */
const lastStateOf = (field: number): number => (field + 1) * QUALITIES;

const addMatch = (matches: Matches, doc: number, state: number): void => {
  if (matches.states[doc] !== 0) return;
  matches.states[doc] = state;
  matches.documents.push(doc);
};

function* matchSplit(field: Field, [left, right]: readonly [number, number], visit: (doc: number) => void): Generator<null> {
  const { positions } = field;
  if (positions === null) return;
  const tokens: number[] = [];
  const documents = yield* documentsWithAll(field.postings, [
    [left, left + 1],
    [right, right + 1],
  ]);
  for (const doc of documents) {
    if (areNeighbours(readTokens(positions, doc, tokens), left, right)) visit(doc);
  }
}

/** Adds what a field holds of a unit; `tier` is the field's number. Yields where others may have a turn. */
export function* matchField(
  matches: Matches,
  field: Field,
  { plan, tier }: { readonly plan: UnitPlan; readonly tier: number },
): Generator<null> {
  for (const [quality, ranges] of plan.terms.entries()) {
    const state = 1 + quality + tier * QUALITIES;
    const visit = (doc: number) => addMatch(matches, doc, state);
    yield* eachDocumentInSteps(field.postings, ranges, visit);
    for (const conjunction of plan.conjunctions) {
      if (conjunction.quality === quality) (yield* documentsWithAll(field.postings, conjunction.terms)).forEach(visit);
    }
    if (quality !== ONE_EDIT) continue;
    for (const split of plan.splits) {
      yield* matchSplit(field, split, visit);
      yield null;
    }
  }
}

/** Adds the documents of every author whose name holds the unit. */
export const matchAuthors = (matches: Matches, authors: Uint32Array, found: Matches): void => {
  if (found.documents.length() === 0) return;
  for (let doc = 0; doc < authors.length; doc++) {
    const state = u8(found.states, authors[doc] ?? 0);
    if (state !== 0) addMatch(matches, doc, state);
  }
};

/** The matches of a query in one segment. */
export interface QueryMatches {
  readonly units: readonly Matches[];
  /** Between each unit and the next; null where the two never stand as one token. */
  readonly bridges: readonly (Matches | null)[];
}

const unitCosts = (): number[] => {
  const costs = [MISSING_COST];
  for (let tier = 0; tier < TIERS; tier++) {
    for (let quality = 0; quality < QUALITIES; quality++) {
      costs.push(tier * FIELD_COST + (quality >>> 1) * EDIT_COST + (quality & 1) * PREFIX_COST);
    }
  }
  return costs;
};

/** By state. */
const UNIT_COSTS = unitCosts();
/** By state: two words in one field, one edit. */
const BRIDGE_COSTS = UNIT_COSTS.map((_, state) => Math.floor((state - 1) / QUALITIES) * 2 * FIELD_COST + (ONE_EDIT >>> 1) * EDIT_COST);

/** The least sum over all ways to take the units alone or two at a time, with the fields up to the tier. */
export const costOf = ({ units, bridges }: QueryMatches, doc: number, tier: number): number => {
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

const missingOf = (cost: number): number => Math.floor(cost / MISSING_COST);

interface BestCost {
  readonly cost: number;
  readonly tier: number;
}

/** Fewest missing, then the lowest tier that achieves it, then the rest. Null unless something, but not too much, is missing. */
export const partialCost = (matches: QueryMatches, doc: number, mayMiss: number): BestCost | null => {
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

export const isFull = (cost: number): boolean => cost < MISSING_COST;
