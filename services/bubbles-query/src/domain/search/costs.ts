import { num, u8 } from './cells.ts';
import { lastStateOf, type Marks } from './marks.ts';
import { ONE_EDIT, QUALITIES } from './query-plan.ts';
import { EDIT_COST, FIELD_COST, MISSING_COST, PREFIX_COST, TIERS } from './rank.ts';

/** The marks of a query in one segment. */
export interface QueryMarks {
  readonly units: readonly Marks[];
  /** Between each unit and the next; null where the two never stand as one token. */
  readonly bridges: readonly (Marks | null)[];
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
export const costOf = ({ units, bridges }: QueryMarks, doc: number, tier: number): number => {
  const limit = lastStateOf(tier);
  let beforeLast = 0;
  let last = 0;
  for (let unit = 0; unit < units.length; unit++) {
    const marks = units[unit];
    if (marks === undefined) break;
    const state = u8(marks.states, doc);
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

export interface BestCost {
  readonly cost: number;
  readonly tier: number;
}

/** Fewest missing, then the lowest tier that achieves it, then the rest. Null unless something, but not too much, is missing. */
export const partialCost = (marks: QueryMarks, doc: number, mayMiss: number): BestCost | null => {
  const lastTier = TIERS - 1;
  const cost = costOf(marks, doc, lastTier);
  const missing = missingOf(cost);
  if (missing === 0 || missing > mayMiss) return null;
  for (let tier = 0; tier < lastTier; tier++) {
    const lower = costOf(marks, doc, tier);
    if (missingOf(lower) === missing) return { cost: lower, tier };
  }
  return { cost, tier: lastTier };
};

export const isFull = (cost: number): boolean => cost < MISSING_COST;
