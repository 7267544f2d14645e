/** A card written by another version of the analysis must be written again; a cursor of another version of the ranking is refused. */
export const ANALYSER_VERSION = 2;

/** A token and the positions it covers: a joined token covers all the parts of its chunk. */
export interface Token {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** What stands between separators: a word (perhaps a compound), an unspaced run of a script without blanks, or an emoji. */
export type Chunk =
  | { readonly kind: 'word'; readonly joined: string; readonly parts: readonly string[] }
  | { readonly kind: 'run'; readonly characters: readonly string[] }
  | { readonly kind: 'emoji'; readonly text: string };

/** Longer ones are cut on both sides, so that a page of base64 costs a dictionary little. */
const MAX_TOKEN_UNITS = 128;

const UNSPACED = String.raw`[[\p{scx=Hani}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}]&&[\p{L}\p{M}\p{N}]]`;
const WORD = String.raw`[[\p{L}\p{M}\p{N}]--${UNSPACED}]`;
const LETTER = String.raw`[\p{L}--${UNSPACED}]`;
const NAME_WITH_SIGN = String.raw`${LETTER}{1,2}(?:\+{1,2}|#)(?![+#]|${WORD})`;
const RUN = `(?:${NAME_WITH_SIGN}|${WORD}+)`;
const JOINER = String.raw`[\-_.'\/&@:·]`;
const PICTURE = String.raw`\p{Extended_Pictographic}[\u{E0020}-\u{E007F}]*`;
const EMOJI = String.raw`\p{RI}\p{RI}|${PICTURE}(?:\u200D${PICTURE})*`;

const CHUNKS = new RegExp(`(?<emoji>${EMOJI})|(?<run>${UNSPACED}+)|${RUN}(?:${JOINER}${RUN})*`, 'gv');
const CAMEL_CASE = /(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll}{2})/v;
const SIGN = /[+#]+$/;

/** Signs that compatibility forms would turn into letters and glue to the word before them, or that Unicode calls pictures. */
const MARKS_OF_TRADE = /[™℠©®]/g;
const APOSTROPHES = /[‘’ʼ´`′]/g;
const HYPHENS = /[‐‑−]/g;
const STRIPPED = new RegExp(
  [
    String.raw`[\u0300-\u036F]`,
    String.raw`[\u0591-\u05BD\u05BF\u05C1\u05C2\u05C4\u05C5\u05C7]`,
    String.raw`[\u0610-\u061A\u0640\u064B-\u0652\u0656-\u065F\u0670\u06D6-\u06DC\u06DF-\u06E4\u06E7\u06E8\u06EA-\u06ED]`,
    String.raw`[\u00AD\u061C\u200B\u200C\u200E\u200F\u202A-\u202E\u2060-\u2064\u2066-\u2069\uFEFF]`,
    String.raw`[\uFE00-\uFE0F\u{E0100}-\u{E01EF}\u{1F3FB}-\u{1F3FF}\p{Me}]`,
  ].join('|'),
  'gv',
);
const LONE_JOINER = /(?<!\p{Extended_Pictographic})\u200D|\u200D(?!\p{Extended_Pictographic})/gv;

const FOLDED: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ı: 'i',
  ς: 'σ',
  ё: 'е',
  أ: 'ا',
  إ: 'ا',
  آ: 'ا',
  ى: 'ي',
  ة: 'ه',
};
const FOLDABLE = new RegExp(`[${Object.keys(FOLDED).join('')}]`, 'gv');

/** Case is kept, because it says where a compound divides. */
const normalise = (text: string): string =>
  text
    .replace(MARKS_OF_TRADE, ' ')
    .replace(APOSTROPHES, "'")
    .normalize('NFKC')
    .replace(HYPHENS, '-')
    .normalize('NFD')
    .replace(STRIPPED, '')
    .replace(LONE_JOINER, '')
    .normalize('NFC');

const fold = (text: string): string => text.toLowerCase().replace(FOLDABLE, (letter) => FOLDED[letter] ?? letter);

/** Cuts between code points only. */
const cut = (text: string): string => {
  if (text.length <= MAX_TOKEN_UNITS) return text;
  const splitsPair = /[\uD800-\uDBFF]/.test(text.charAt(MAX_TOKEN_UNITS - 1));
  return text.slice(0, splitsPair ? MAX_TOKEN_UNITS - 1 : MAX_TOKEN_UNITS);
};

const SEPARATED = new RegExp(`(${JOINER})`, 'v');

const wordChunk = (text: string): Chunk => {
  const parts: string[] = [];
  let joined = '';
  let joiner = '';
  for (const piece of text.split(SEPARATED)) {
    if (piece.length === 1 && "-_.'/&@:·".includes(piece)) {
      joiner = piece;
      continue;
    }
    const folded = piece.split(CAMEL_CASE).map(fold);
    joined += folded.join('');
    const isPossessive = joiner === "'" && folded.length === 1 && folded[0] === 's' && parts.length > 0;
    if (!isPossessive) parts.push(...folded.map(cut));
    joiner = '';
  }
  return { kind: 'word', joined: cut(joined), parts };
};

/** The chunks of a text in order. */
export const chunksOf = (text: string): Chunk[] => {
  const chunks: Chunk[] = [];
  for (const match of normalise(text).matchAll(CHUNKS)) {
    const { emoji, run } = match.groups ?? {};
    if (emoji !== undefined) chunks.push({ kind: 'emoji', text: cut(emoji) });
    else if (run !== undefined) chunks.push({ kind: 'run', characters: [...fold(run)] });
    else chunks.push(wordChunk(match[0]));
  }
  return chunks;
};

/** The name without its sign: `c` of `c++`; null when it has none. */
const baseOf = (part: string): string | null => (SIGN.test(part) ? part.replace(SIGN, '') : null);

/** Overlapping pairs of neighbours. */
export const pairsOf = (characters: readonly string[]): string[] =>
  characters.slice(1).map((character, index) => `${characters[index]}${character}`);

const wordTokens = (chunk: Extract<Chunk, { kind: 'word' }>, start: number): Token[] => {
  const tokens: Token[] = [];
  const isCompound = chunk.parts.length > 1 || chunk.parts[0] !== chunk.joined;
  if (isCompound) tokens.push({ text: chunk.joined, start, end: start + chunk.parts.length - 1 });
  chunk.parts.forEach((part, index) => {
    const place = { start: start + index, end: start + index };
    tokens.push({ text: part, ...place });
    const base = baseOf(part);
    if (base !== null) tokens.push({ text: base, ...place });
  });
  return tokens;
};

const runTokens = (characters: readonly string[], start: number): Token[] => {
  const pairs = pairsOf(characters);
  return characters.flatMap((character, index) => {
    const at = start + index;
    const pair = pairs[index];
    const single = { text: character, start: at, end: at };
    return pair === undefined ? [single] : [single, { text: pair, start: at, end: at + 1 }];
  });
};

/** The words of a chunk in the order in which they stand: what adjacency is measured on. */
export const sequenceOf = (chunk: Chunk): readonly string[] => {
  if (chunk.kind === 'word') return chunk.parts;
  return chunk.kind === 'run' ? chunk.characters : [chunk.text];
};

/** Every token of a text, by start position. */
export const tokensOf = (text: string): Token[] => {
  const tokens: Token[] = [];
  let position = 0;
  for (const chunk of chunksOf(text)) {
    if (chunk.kind === 'word') tokens.push(...wordTokens(chunk, position));
    else if (chunk.kind === 'run') tokens.push(...runTokens(chunk.characters, position));
    else tokens.push({ text: chunk.text, start: position, end: position });
    position += sequenceOf(chunk).length;
  }
  return tokens;
};
