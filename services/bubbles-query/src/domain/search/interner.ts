/** Ordinals for texts; 0 stands for null. */
export interface Interner {
  ordinalOf(text: string | null): number;
  /** Null when the text has none. */
  find(text: string): number | null;
  /** Those with an ordinal, from 1 on. */
  texts(): readonly string[];
}

export const createInterner = (known: readonly string[]): Interner => {
  const texts = [...known];
  const ordinals = new Map(texts.map((text, index) => [text, index + 1]));
  return {
    ordinalOf: (text) => {
      if (text === null) return 0;
      const ordinal = ordinals.get(text);
      if (ordinal !== undefined) return ordinal;
      ordinals.set(text, texts.push(text));
      return texts.length;
    },
    find: (text) => ordinals.get(text) ?? null,
    texts: () => texts,
  };
};
