import { dividedPair, type Token, tokensInTurns } from '../../src/domain/analyser.ts';
import { COSTS, firstLetterAgrees, PREFIX_TYPO_LETTERS, packRank, typoBudget } from '../../src/domain/ranking.ts';
import { PART_PREFIX_CHARACTERS, type ParsedQuery, type Unit } from '../../src/domain/search-query.ts';

/** What ranking sees of a bubble. */
export interface SearchedText {
  readonly title: string | null;
  readonly authorName: string | null;
  readonly summary: string | null;
}

export const tokensOf = (text: string): Token[] => {
  const tokens: Token[] = [];
  for (const token of tokensInTurns(text)) if (token !== null) tokens.push(token);
  return tokens;
};

/** Smaller is better, compared from left to right. */
export interface RankTuple {
  readonly missing: number;
  readonly tier: number;
  readonly fields: number;
  readonly edits: number;
  readonly prefixes: number;
  readonly order: number;
}

export const packTuple = (tuple: RankTuple): number => {
  const cost = tuple.missing * COSTS.missing + tuple.fields * COSTS.field + tuple.edits * COSTS.edit + tuple.prefixes * COSTS.prefix;
  return packRank(cost, tuple.tier, tuple.order);
};

/** How well a query word fits a token: edits, and whether only the beginning of the token was typed. */
interface Quality {
  readonly edits: number;
  readonly prefix: number;
}

type Field = readonly Token[];
type Fields = readonly [title: Field, author: Field, notes: Field];

const NOTES = 2;
const better = (a: Quality, b: Quality | null): boolean => b === null || a.edits < b.edits || (a.edits === b.edits && a.prefix < b.prefix);
const best = (qualities: readonly (Quality | null)[]): Quality | null =>
  qualities.reduce<Quality | null>((least, quality) => (quality !== null && better(quality, least) ? quality : least), null);

/** Optimal string alignment: insertions, deletions, substitutions, swaps of neighbours; no part is edited twice. */
export const osaDistance = (a: string, b: string): number => {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      let least = Math.min(substitution, (last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (isSwap) least = Math.min(least, (beforeLast[j - 2] ?? 0) + 1);
      row.push(least);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length] ?? 0;
};

/** A word against one token: exact, prefix, whole word with edits, prefix with one edit. */
export const qualityOf = (word: string, token: string): Quality | null => {
  if (word === token) return { edits: 0, prefix: 0 };
  if (token.startsWith(word)) return { edits: 0, prefix: 1 };
  const budget = typoBudget(word);
  if (budget === 0) return null;
  const distance = osaDistance(word, token);
  const isTypo = distance <= budget && firstLetterAgrees(word, token);
  const beginnings = Array.from({ length: token.length }, (_, length) => token.slice(0, length));
  const isPrefixTypo = word.length >= PREFIX_TYPO_LETTERS && beginnings.some((beginning) => osaDistance(word, beginning) <= 1);
  return best([isTypo ? { edits: distance, prefix: 0 } : null, isPrefixTypo ? { edits: 1, prefix: 1 } : null]);
};

const holds = (field: Field, text: string): boolean => field.some((token) => token.text === text);

const isTwoNeighbours = (field: Field, word: string): boolean =>
  field.some((left) => field.some((right) => right.start === left.end + 1 && left.text + right.text === word));

const partsQuality = (parts: readonly string[], field: Field): Quality | null => {
  const last = parts[parts.length - 1] ?? '';
  if (!parts.slice(0, -1).every((part) => holds(field, part))) return null;
  if (holds(field, last)) return { edits: 0, prefix: 0 };
  const mayBePrefix = [...last].length >= PART_PREFIX_CHARACTERS;
  return mayBePrefix && field.some((token) => token.text.startsWith(last)) ? { edits: 0, prefix: 1 } : null;
};

/** The best quality of a unit in one field, null when the field does not hold it. */
const unitQuality = (unit: Unit, field: Field, isNotes: boolean): Quality | null => {
  const { word, parts, pairs, loosePairs, glued } = unit;
  const oneEdit = { edits: 1, prefix: 0 };
  return best([
    ...(word === null ? [] : field.map((token) => qualityOf(word, token.text))),
    word !== null && !isNotes && isTwoNeighbours(field, word) ? oneEdit : null,
    parts === null ? null : partsQuality(parts, field),
    pairs?.every((pair) => holds(field, pair)) ? { edits: 0, prefix: 0 } : null,
    loosePairs?.every((pair) => holds(field, pair) || holds(field, dividedPair(pair))) ? oneEdit : null,
    glued.some((token) => holds(field, token)) ? oneEdit : null,
  ]);
};

interface Found {
  readonly field: number;
  readonly quality: Quality;
  readonly units: number;
}

/** The first field that holds the unit decides. */
const findUnit = (unit: Unit, fields: Fields): Found | null => {
  for (const [field, tokens] of fields.entries()) {
    const quality = unitQuality(unit, tokens, field === NOTES);
    if (quality !== null) return { field, quality, units: 1 };
  }
  return null;
};

const findBridge = (token: string, fields: Fields): Found | null => {
  const field = fields.findIndex((tokens) => holds(tokens, token));
  return field < 0 ? null : { field, quality: { edits: 1, prefix: 0 }, units: 2 };
};

/** All ways to cover the units, alone or two at a time; null stands for a missing one. */
const coverings = (query: ParsedQuery, fields: Fields, from = 0): (Found | null)[][] => {
  const unit = query.units[from];
  if (unit === undefined) return [[]];
  const ways = coverings(query, fields, from + 1).map((rest) => [findUnit(unit, fields), ...rest]);
  const bridge = query.bridges[from] ?? null;
  const found = bridge === null ? null : findBridge(bridge, fields);
  return found === null ? ways : [...ways, ...coverings(query, fields, from + 2).map((rest) => [found, ...rest])];
};

/** Whether the words stand in the title one after the other, from the given position; where they end, or null. */
const ends = (title: Field, words: readonly string[], from: number): number[] => {
  const [word, ...rest] = words;
  if (word === undefined) return [from];
  return title.filter((token) => token.start === from && token.text === word).flatMap((token) => ends(title, rest, token.end + 1));
};

const orderOf = (query: ParsedQuery, title: Field): number => {
  const length = title.reduce((most, token) => Math.max(most, token.end + 1), 0);
  if (ends(title, query.sequence, 0).includes(length)) return 0;
  return title.some((token) => ends(title, query.sequence, token.start).length > 0) ? 1 : 2;
};

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

const tupleOf = (covering: readonly (Found | null)[]): Omit<RankTuple, 'order'> => {
  const found = covering.filter((item) => item !== null);
  return {
    missing: covering.length - found.length,
    tier: found.reduce((most, { field }) => Math.max(most, field), 0),
    fields: sum(found.map(({ field, units }) => field * units)),
    edits: sum(found.map(({ quality }) => quality.edits)),
    prefixes: sum(found.map(({ quality }) => quality.prefix)),
  };
};

/** The order of words counts in a title that holds all of them exactly. */
const withOrder = (tuple: Omit<RankTuple, 'order'>, query: ParsedQuery, title: Field): RankTuple => {
  const isExact = sum(Object.values(tuple)) === 0;
  return { ...tuple, order: isExact ? orderOf(query, title) : 2 };
};

export const compareTuples = (a: RankTuple, b: RankTuple): number =>
  a.missing - b.missing || a.tier - b.tier || a.fields - b.fields || a.edits - b.edits || a.prefixes - b.prefixes || a.order - b.order;

/** The ranking, in full: what the engine must equal. Null when the bubble does not match. */
export const rank = (query: ParsedQuery, text: SearchedText): RankTuple | null => {
  if (query.units.length === 0) return null;
  const fields: Fields = [tokensOf(text.title ?? ''), tokensOf(text.authorName ?? ''), tokensOf(text.summary ?? '')];
  const tuples = coverings(query, fields).map((covering) => withOrder(tupleOf(covering), query, fields[0]));
  const [least] = tuples.toSorted(compareTuples);
  return least === undefined || least.missing > query.mayMiss ? null : least;
};
