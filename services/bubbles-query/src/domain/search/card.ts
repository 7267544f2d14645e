import { type Token, tokensInTurns } from './analysis.ts';
import { atOnce } from './turns.ts';

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

/** How much of a text is read, and how long what is kept of it may be. What does not fit is not found, and stands in nobody's way. */
interface Room {
  readonly units: number;
  readonly characters: number;
}
const TITLE_ROOM: Room = { units: 2048, characters: 2 ** 14 };
const NOTES_ROOM: Room = { units: 2 ** 20, characters: 2 ** 18 };
const NAME_ROOM: Room = { units: 256, characters: 2 ** 11 };

/** Each item of a text once, as long as they fit, one blank between them; with turns for others. */
function* itemsOf(text: string | null, room: Room, itemOf: (token: Token) => string): Generator<null, string> {
  const items = new Set<string>();
  let left = room.characters;
  for (const token of tokensInTurns((text ?? '').slice(0, room.units))) {
    const item = token === null ? null : itemOf(token);
    if (item === null) yield null;
    if (item === null || items.has(item)) continue;
    left -= item.length + 1;
    if (left < 0) break;
    items.add(item);
  }
  return [...items].join(' ');
}

/** Analysed once, when the text changes; indexes are made of this alone: tokens of the title with their positions, `tok:3` or `tok:3-4`, and of the notes. */
export function* cardText({
  title,
  summary,
}: {
  readonly title: string | null;
  readonly summary: string | null;
}): Generator<null, { readonly title: string; readonly notes: string }> {
  return { title: yield* itemsOf(title, TITLE_ROOM, placed), notes: yield* itemsOf(summary, NOTES_ROOM, ({ text }) => text) };
}

/** As much of a name as is read. */
export const nameBeginning = (name: string): string => name.slice(0, NAME_ROOM.units);

export const nameText = (name: string | null): string => atOnce(itemsOf(name, NAME_ROOM, placed));

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
