import { type Chunk, chunksOf, pairsOf, sequenceOf, withoutProlonged } from './analyser.ts';

const MAX_UNITS = 10;
/** Below it the last part of a compound must be whole. */
export const PART_PREFIX_CHARACTERS = 2;

/** A word of the query; one matching form is enough. */
export interface Unit {
  /** Matched with all qualities; null for an unspaced run of several characters. */
  readonly word: string | null;
  /** Parts of a compound, all in one field; the last may be a prefix. Null when the word is no compound. */
  readonly parts: readonly string[] | null;
  /** Pairs of an unspaced run, all in one field. */
  readonly pairs: readonly string[] | null;
  /** Pairs of a run without its prolonged sound marks, each of which may be divided by such marks where it is found. Null when there are none. */
  readonly loosePairs: readonly string[] | null;
  /** The word together with an optional neighbour, matched whole as one edit. */
  readonly glued: readonly string[];
}

export interface ParsedQuery {
  readonly units: readonly Unit[];
  /** For each unit the token it forms with the next one, null where they are not neighbours. */
  readonly bridges: readonly (string | null)[];
  /** How many units may be missing. */
  readonly mayMiss: number;
  /** The parts of the whole query in order, stop words included. */
  readonly sequence: readonly string[];
  /** Equal exactly for queries that rank alike; goes into the fingerprint of a cursor. */
  readonly canonical: string;
}

const STOP_WORDS = new Set('a an and are as at be by for from in is it of on or that the to was with about'.split(' '));

const KATAKANA = /[\p{sc=Kana}ー]/v;

const isStopWord = (chunk: Chunk): boolean => chunk.kind === 'word' && chunk.parts.length === 1 && STOP_WORDS.has(chunk.joined);

/** What may be written together with its neighbour: words, but neither unspaced runs nor emoji nor names with a sign. */
const gluable = (chunk: Chunk | undefined): string | null => (chunk?.kind === 'word' && !/[+#]/.test(chunk.joined) ? chunk.joined : null);

const glue = (left: Chunk | undefined, right: Chunk | undefined): string | null => {
  const [first, second] = [gluable(left), gluable(right)];
  return first === null || second === null ? null : first + second;
};

const NO_FORMS = { word: null, parts: null, pairs: null, loosePairs: null } as const;

const runForms = (characters: readonly string[]): Omit<Unit, 'glued'> => {
  const [only, ...others] = characters;
  if (others.length === 0) return { ...NO_FORMS, word: only ?? null };
  const loosePairs = characters.some((character) => KATAKANA.test(character)) ? pairsOf(withoutProlonged(characters)) : [];
  return { ...NO_FORMS, pairs: pairsOf(characters), loosePairs: loosePairs.length === 0 ? null : loosePairs };
};

const formsOf = (chunk: Chunk): Omit<Unit, 'glued'> => {
  if (chunk.kind === 'emoji') return { ...NO_FORMS, word: chunk.text };
  if (chunk.kind === 'run') return runForms(chunk.characters);
  const isCompound = chunk.parts.length > 1 || chunk.parts[0] !== chunk.joined;
  return { ...NO_FORMS, word: chunk.joined, parts: isCompound ? chunk.parts : null };
};

const unitOf = (chunk: Chunk, glued: readonly string[]): Unit => ({ ...formsOf(chunk), glued });

/** 1-2 words: none; 3-4: one; from 5: two fifths. */
const mayMissOf = (count: number): number => {
  if (count <= 2) return 0;
  return count <= 4 ? 1 : Math.floor(0.4 * count);
};

/** Indexes of the chunks that count: content words when there are any, each once, the first ten. */
const countedOf = (chunks: readonly Chunk[]): number[] => {
  const hasContent = chunks.some((chunk) => !isStopWord(chunk));
  const seen = new Set<string>();
  const counted: number[] = [];
  chunks.forEach((chunk, index) => {
    const key = JSON.stringify(chunk);
    if ((hasContent && isStopWord(chunk)) || seen.has(key)) return;
    seen.add(key);
    counted.push(index);
  });
  return counted.slice(0, MAX_UNITS);
};

/** Canonical form of the query, to which cursors are bound, also those of earlier releases. */
const canonicalOf = (units: readonly Unit[], ...more: readonly unknown[]): string =>
  JSON.stringify([units.map(({ word, parts, pairs, glued }) => ({ word, parts, pairs, glued })), ...more]);

export const parseQuery = (text: string): ParsedQuery => {
  const chunks = chunksOf(text);
  const counted = countedOf(chunks);
  const hasContent = chunks.some((chunk) => !isStopWord(chunk));
  const optional = (chunk: Chunk | undefined) => (hasContent && chunk !== undefined && isStopWord(chunk) ? chunk : undefined);
  const units = counted.flatMap((index) => {
    const chunk = chunks[index];
    if (chunk === undefined) return [];
    const glued = [glue(optional(chunks[index - 1]), chunk), glue(chunk, optional(chunks[index + 1]))];
    return [
      unitOf(
        chunk,
        glued.filter((token) => token !== null),
      ),
    ];
  });
  const bridges = counted.map((index, at) => (counted[at + 1] === index + 1 ? glue(chunks[index], chunks[index + 1]) : null));
  const sequence = chunks.flatMap(sequenceOf);
  return { units, bridges, mayMiss: mayMissOf(units.length), sequence, canonical: canonicalOf(units, bridges, sequence) };
};
