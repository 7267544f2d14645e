/** How well a query word fits a token: edits, and whether only the beginning of the token was typed. */
export interface Quality {
  readonly edits: number;
  readonly prefix: number;
}

export const PREFIX_TYPO_LETTERS = 6;
const TYPO_LETTERS = 4;
const FREE_TYPO_LETTERS = 5;
const TWO_TYPOS_LETTERS = 8;

/** Digits, signs, unspaced scripts, and everything outside the basic plane (emoji, flags, rare Han): no typos, so letters are code units. */
const WITHOUT_TYPOS =
  /[\p{N}+#\p{RI}\p{Extended_Pictographic}\p{scx=Hani}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}]|[\u{10000}-\u{10FFFF}]/v;

/** How many edits the word may be away. */
export const typoBudget = (word: string): number => {
  if (word.length < TYPO_LETTERS || WITHOUT_TYPOS.test(word)) return 0;
  return word.length < TWO_TYPOS_LETTERS ? 1 : 2;
};

/** Four letters leave no room: the first must agree, or the first two be swapped. */
export const firstLetterAgrees = (word: string, token: string): boolean =>
  word.length >= FREE_TYPO_LETTERS || word[0] === token[0] || (word[0] === token[1] && word[1] === token[0]);

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
