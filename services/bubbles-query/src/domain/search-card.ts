import type { Bubble } from './bubble.ts';
import type { Person } from './person.ts';
import { type CardRow, cardText, nameBeginning } from './search/card.ts';

/** What search knows of a bubble, whoever searches. */
export interface SearchCard extends Omit<CardRow, 'seq' | 'readable' | 'createdMs'> {
  readonly createdAt: Date | null;
  readonly readers: readonly string[];
  /** Nothing but the id is known of it any more. */
  readonly removed: boolean;
}

/** Before a name itself, where there is no account whose name it could be. */
const NAMED = '~';

/** Whose name the author has: an account's, whatever it is by then, or the one that the recording tells. */
const authorIdOf = (author: Person | null): string | null => {
  if (author?.userId) return author.userId;
  return author?.name ? NAMED + nameBeginning(author.name) : null;
};

/** The name in an author's id that is no account's; null for an account's. */
export const nameInId = (authorId: string): string | null => (authorId.startsWith(NAMED) ? authorId.slice(NAMED.length) : null);

/** Null as long as it is not known what the bubble is. With turns for others, since its texts may be long. */
export function* searchCard({ id, rev, details, notes, readers, removed }: Bubble): Generator<null, SearchCard | null> {
  if (details === null && !removed) return null;
  return {
    id,
    rev,
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
