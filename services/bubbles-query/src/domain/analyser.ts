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
/** Between groups of digits: a comma, and a blank before exactly three of them. */
const DIGIT_JOINER = String.raw`(?<=\p{Nd})[,٫٬](?=\p{Nd})|(?<=(?<![\p{L}\p{N}])\p{Nd}{1,3}) (?=\p{Nd}{3}(?!\p{Nd}))`;
const PICTURE = String.raw`\p{Extended_Pictographic}[\u{E0020}-\u{E007F}]*`;
const EMOJI = String.raw`\p{RI}\p{RI}|${PICTURE}(?:\u200D${PICTURE})*`;

const CHUNKS = new RegExp(`(?<emoji>${EMOJI})|(?<run>${UNSPACED}+)|${RUN}(?:(?:${JOINER}|${DIGIT_JOINER})${RUN})*`, 'gv');
const CAMEL_CASE = /(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll}{2})/v;
const SIGN = /[+#]+$/;

/** Signs that compatibility forms would turn into letters and glue to the word before them, or that Unicode calls pictures. */
const MARKS_OF_TRADE = /[™℠©®]/g;
const APOSTROPHES = /[‘’ʼ´`′]/g;
const HYPHENS = /[‐‑−]/g;
/** Between two letters of katakana: marks that may as well not be there, and dashes that stand for the prolonged sound mark. */
const KATAKANA_JOINER = /(?<=[\p{sc=Kana}ー])[・·゠=](?=\p{sc=Kana})/gv;
const KATAKANA_DASH = /(?<=[\p{sc=Kana}ー])[\-–—―~〜](?=\p{sc=Kana})/gv;
const PROLONGED = 'ー';
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

/**
 * More marks than any language puts on one letter, among them the two letters that become marks. To compose takes a time that is quadratic in the length of
 * such a run.
 */
const MAX_MARKS = 30;
const LONG_RUN_OF_MARKS = new RegExp(String.raw`([\p{M}\uFF9E\uFF9F]{${MAX_MARKS}})[\p{M}\uFF9E\uFF9F]+`, 'gv');
/** A text that is analysed at once becomes so much longer only by letters that stand for whole words or phrases. */
const MAX_COMPOSED_UNITS = 8192;

/** Case is kept, because it says where a compound divides. */
const normalise = (text: string): string =>
  text
    .replace(MARKS_OF_TRADE, ' ')
    .replace(APOSTROPHES, "'")
    .replace(LONG_RUN_OF_MARKS, '$1')
    .normalize('NFKC')
    .slice(0, MAX_COMPOSED_UNITS)
    .replace(HYPHENS, '-')
    .replace(KATAKANA_JOINER, '')
    .replace(KATAKANA_DASH, PROLONGED)
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

const SEPARATED = new RegExp(`(${JOINER}|[,٫٬ ])`, 'v');
/** A `v` before a number with a full stop in it, which is as often left out. */
const VERSION = /^v(?=\p{Nd}+$)/iv;
const DIGIT_FIRST = /^\p{Nd}/v;

interface Piece {
  readonly text: string;
  readonly joiner: string;
  readonly nextJoiner: string;
  readonly next: string;
}

const piecesOf = (text: string): Piece[] => {
  const split = text.split(SEPARATED);
  return split.flatMap((piece, at) =>
    at % 2 === 1 ? [] : { text: piece, joiner: split[at - 1] ?? '', nextJoiner: split[at + 1] ?? '', next: split[at + 2] ?? '' },
  );
};

/** The words of a piece; those that may be left out are in its joined form alone. */
const wordsOf = ({ text, joiner, nextJoiner, next }: Piece, isFirst: boolean): { readonly all: string; readonly parts: string[] } => {
  const folded = text.split(CAMEL_CASE).map(fold);
  const all = folded.join('');
  if (joiner === "'" && all === 's' && !isFirst) return { all, parts: [] };
  const isVersion = nextJoiner === '.' && DIGIT_FIRST.test(next) && VERSION.test(text);
  return { all, parts: isVersion ? [all.slice(1)] : folded };
};

const wordChunk = (text: string): Chunk => {
  const parts: string[] = [];
  let joined = '';
  for (const piece of piecesOf(text)) {
    const words = wordsOf(piece, parts.length === 0);
    joined += words.all;
    for (const part of words.parts) parts.push(cut(part));
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

/** Before a pair of characters that prolonged sound marks divide. No text has such a token, so that only who looks for it finds it. */
const DIVIDED = '~';
export const dividedPair = (pair: string): string => DIVIDED + pair;

/** A run as it is without prolonged sound marks. */
export const withoutProlonged = (characters: readonly string[]): string[] => characters.filter((character) => character !== PROLONGED);

const nextBeyondMarks = (characters: readonly string[], index: number): number => {
  let next = index + 1;
  while (characters[next] === PROLONGED) next++;
  return next;
};

function* runTokens(characters: readonly string[], start: number): Generator<Token> {
  for (const [index, character] of characters.entries()) {
    const at = start + index;
    yield { text: character, start: at, end: at };
    const neighbour = characters[index + 1];
    if (neighbour !== undefined) yield { text: character + neighbour, start: at, end: at + 1 };
    if (neighbour !== PROLONGED || character === PROLONGED) continue;
    const next = nextBeyondMarks(characters, index);
    const beyond = characters[next];
    if (beyond !== undefined) yield { text: dividedPair(character + beyond), start: at, end: start + next };
  }
}

/** The words of a chunk in the order in which they stand: what adjacency is measured on. */
export const sequenceOf = (chunk: Chunk): readonly string[] => {
  if (chunk.kind === 'word') return chunk.parts;
  return chunk.kind === 'run' ? chunk.characters : [chunk.text];
};

/** Units of a text that are analysed at once. */
const STRETCH_UNITS = 2048;
/** How far back from its end a stretch looks for a good place to end. */
const LOOK_BACK_UNITS = 512;
/** Behind these a text divides without a difference to what is found in it; a blank may stand within a number. */
const SEPARATES = /[\s。、！？「」『』]/;
const ENDS_WITH_DIGIT = /\p{Nd}$/v;
/** What is not to be taken from the character before it. */
const ATTACHED = /^(?:[\p{M}\p{EMod}\u{E0020}-\u{E007F}\uDC00-\uDFFF]|\u200D)/u;

const lastEnd = (at: number, isEnd: (end: number) => boolean): number | null => {
  for (let end = at; end > at - LOOK_BACK_UNITS; end--) if (isEnd(end)) return end;
  return null;
};

const isGoodEnd = (text: string, end: number): boolean =>
  SEPARATES.test(text.charAt(end - 1)) && !ENDS_WITH_DIGIT.test(text.slice(Math.max(0, end - 3), end - 1));

const isFairEnd = (text: string, end: number): boolean => !ATTACHED.test(text.slice(end, end + 2)) && text.charAt(end - 1) !== '\u200D';

const beforeLast = (text: string, end: number): number => end - (/[\uDC00-\uDFFF]/.test(text.charAt(end - 1)) ? 2 : 1);

/** A text in stretches that are analysed one by one. One without a good end is gone on with from its last character, so that no pair is lost. */
function* stretchesOf(text: string): Generator<string> {
  for (let from = 0; from < text.length; ) {
    const end = from + STRETCH_UNITS;
    if (end >= text.length) {
      yield text.slice(from);
      return;
    }
    const good = lastEnd(end, (at) => isGoodEnd(text, at));
    const next = good ?? lastEnd(end, (at) => isFairEnd(text, at)) ?? end;
    yield text.slice(from, next);
    from = good ?? beforeLast(text, next);
  }
}

function* chunkTokens(chunk: Chunk, start: number): Generator<Token> {
  if (chunk.kind === 'word') yield* wordTokens(chunk, start);
  else if (chunk.kind === 'run') yield* runTokens(chunk.characters, start);
  else yield { text: chunk.text, start, end: start };
}

/** Every token of a text, by start position; null where others may have a turn. */
export function* tokensInTurns(text: string): Generator<Token | null> {
  let position = 0;
  for (const stretch of stretchesOf(text)) {
    for (const chunk of chunksOf(stretch)) {
      yield* chunkTokens(chunk, position);
      position += sequenceOf(chunk).length;
    }
    yield null;
  }
}
