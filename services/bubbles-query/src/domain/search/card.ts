import { type Token, tokensOf } from './analysis.ts';

/** A search card as one caller sees it. */
export interface CardRow {
  readonly id: string;
  /** Version of the bubble it was written from: a row that is not newer than the known one changes nothing. */
  readonly rev: number;
  readonly seq: number;
  /** Whether the caller is among the readers; false takes the bubble out of the caller's index. */
  readonly readable: boolean;
  /** Milliseconds, or `UNDATED`. */
  readonly createdMs: number;
  readonly hideAtMs: number | null;
  readonly teamId: string | null;
  readonly channelId: string | null;
  readonly type: string;
  readonly authorId: string | null;
  /** Analysed by `cardText`. */
  readonly title: string;
  readonly notes: string;
}

/** An author's name, analysed by `nameText`. */
export interface PersonRow {
  readonly id: string;
  /** A row that is older than the known one changes nothing; the sequence number cannot tell, because clocks of writers differ. */
  readonly rev: number;
  readonly seq: number;
  readonly name: string;
}

const placed = (token: Token): string =>
  token.start === token.end ? `${token.text}:${token.start}` : `${token.text}:${token.start}-${token.end}`;

/** Tokens with their positions, `tok:3` or `tok:3-4`, one blank between them. */
const placedText = (text: string | null): string => (text === null ? '' : tokensOf(text).map(placed).join(' '));

/** Analysed once, when the text changes; indexes are made of this alone. */
export const cardText = (bubble: { readonly title: string | null; readonly summary: string | null }): { title: string; notes: string } => ({
  title: placedText(bubble.title),
  notes: bubble.summary === null ? '' : [...new Set(tokensOf(bubble.summary).map((token) => token.text))].join(' '),
});

export const nameText = (name: string | null): string => placedText(name);

export const readPlaced = (text: string): Token[] =>
  text === ''
    ? []
    : text.split(' ').map((item) => {
        const colon = item.lastIndexOf(':');
        const [start, end] = item
          .slice(colon + 1)
          .split('-')
          .map(Number);
        return { text: item.slice(0, colon), start: start ?? 0, end: end ?? start ?? 0 };
      });

export const readWords = (text: string): string[] => (text === '' ? [] : text.split(' '));
