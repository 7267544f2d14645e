import { type Token, tokensInTurns } from './analyser.ts';
import type { Bubble } from './bubble.ts';
import type { Person } from './person.ts';

/**
 * What is written into a feed carries a number that rises with the time of the write: milliseconds, with room for several writes in each. They pass
 * 32 bits, so that they cannot be shifted.
 */
const NUMBERS_PER_MS = 4096;
/** Covers writers that are slow to finish and clocks that differ. */
const OVERLAP_MS = 65_000;
/** A write that is acknowledged later is written again with a new number: well within the overlap of those who read. */
export const ACKNOWLEDGED_WITHIN_MS = 5000;

export const seqAt = (ms: number): number => ms * NUMBERS_PER_MS;

/** Where to read from so that nothing written around the watermark is missed. */
export const withOverlap = (watermark: number): number => Math.max(0, watermark - seqAt(OVERLAP_MS));

/** A search card as one caller sees it. */
export interface CardRow {
  readonly id: string;
  /** Version of the bubble and of its analysis; a row that is not newer than the known one is ignored. */
  readonly rowVersion: number;
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
  readonly rowVersion: number;
  readonly seq: number;
  readonly name: string;
}

const positioned = (token: Token): string =>
  token.start === token.end ? `${token.text}:${token.start}` : `${token.text}:${token.start}-${token.end}`;

/** How much of a text is read, and how long what is kept of it may be. Search does not find what does not fit. */
interface Room {
  readonly units: number;
  readonly characters: number;
}
const TITLE_ROOM: Room = { units: 2048, characters: 2 ** 14 };
const NOTES_ROOM: Room = { units: 2 ** 20, characters: 2 ** 18 };
const NAME_ROOM: Room = { units: 256, characters: 2 ** 11 };

/** Each item of a text once, as long as they fit, one blank between them; yields where others may have a turn. */
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
  return { title: yield* itemsOf(title, TITLE_ROOM, positioned), notes: yield* itemsOf(summary, NOTES_ROOM, ({ text }) => text) };
}

/** The part of a name that is indexed. */
const nameBeginning = (name: string): string => name.slice(0, NAME_ROOM.units);

/** Runs such work without a turn for others. */
export const atOnce = <T>(work: Generator<null, T>): T => {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
};

export const nameText = (name: string | null): string => atOnce(itemsOf(name, NAME_ROOM, positioned));

export const readPositioned = (text: string): Token[] =>
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

/** The searchable part of a bubble, independent of the reader. */
export interface SearchCard extends Omit<CardRow, 'rowVersion' | 'seq' | 'readable' | 'createdMs'> {
  /** `changeCount` of the bubble from which the card was written. */
  readonly changeCount: number;
  readonly createdAt: Date | null;
  readonly readers: readonly string[];
  /** Nothing but the id is known of it any more. */
  readonly removed: boolean;
}

/** Marks an author id that is a name, because the author has no account. */
const NAMED = '~';

/** The author's account, whose current name counts, or else the name that the recording tells. */
const authorIdOf = (author: Person | null): string | null => {
  if (author?.userId) return author.userId;
  return author?.name ? NAMED + nameBeginning(author.name) : null;
};

/** The name in an author's id that is no account's; null for an account's. */
export const nameInId = (authorId: string): string | null => (authorId.startsWith(NAMED) ? authorId.slice(NAMED.length) : null);

/** Null as long as it is not known what the bubble is. Yields where others may have a turn, since its texts may be long. */
export function* searchCard({ id, changeCount, details, notes, readers, removed }: Bubble): Generator<null, SearchCard | null> {
  if (details === null && !removed) return null;
  return {
    id,
    changeCount,
    readers,
    removed,
    createdAt: details?.createdAt ?? null,
    hideAtMs: details?.expiresAt?.getTime() ?? null,
    teamId: details?.teamId ?? null,
    channelId: details?.channelId ?? null,
    type: details?.type ?? '',
    authorId: authorIdOf(details?.author ?? null),
    ...(yield* cardText({ title: details?.title ?? null, summary: notes?.summary ?? null })),
  };
}
