import { accountIds, type Person } from './person.ts';
import { shortSummary } from './summary.ts';

export type BubbleType = 'meeting_recording' | 'screen_recording' | 'custom_image';

/** Facts come in groups, each with a revision that only rises: the newest of a group is what counts, whatever the order of arrival. */
interface Group {
  readonly revision: number;
}
export interface Details extends Group {
  readonly type: BubbleType;
  readonly title: string | null;
  readonly teamId: string | null;
  readonly channelId: string | null;
  readonly channelName: string | null;
  readonly createdAt: Date | null;
  readonly author: Person | null;
  readonly creatorId: string | null;
  readonly participants: readonly Person[];
  readonly isPublic: boolean;
  readonly archived: boolean;
  readonly draft: boolean;
  readonly template: boolean;
  readonly hasMedia: boolean;
  readonly expiresAt: Date | null;
  readonly responseRequired: boolean;
  readonly embedCode: string | null;
  readonly meeting: { readonly platform: string | null; readonly startTime: Date | null } | null;
}
export interface Media extends Group {
  readonly isProcessed: boolean | null;
  readonly hasAudio: boolean;
  readonly videoUrl: string | null;
  readonly thumbnailUrl: string | null;
  readonly screenshotUrl: string | null;
  readonly durationSeconds: number | null;
}
export interface Notes extends Group {
  readonly summary: string | null;
  readonly actionItems: string | null;
}
/** What a row of a list shows, derived with every change so that a page reads nothing else. */
export interface Row {
  readonly type: BubbleType;
  readonly title: string | null;
  readonly createdAt: Date | null;
  readonly teamId: string | null;
  readonly channelId: string | null;
  readonly creatorId: string | null;
  readonly thumbnailUrl: string | null;
  readonly durationSeconds: number | null;
  readonly expiresAt: Date | null;
  /** At most as long as a row may show it. */
  readonly summary: string | null;
}

/** Everything that is known of a bubble. A fact may come before the bubble itself: `details` is null until then. */
export interface Bubble {
  readonly id: string;
  /** Rises with every new fact. */
  readonly changeCount: number;
  readonly details: Details | null;
  readonly media: Media | null;
  /** The segments are stored apart, before this mark. */
  readonly transcript: Group | null;
  readonly notes: Notes | null;
  /** Final. Nothing else of it is kept. */
  readonly removed: boolean;
  /** When its ready event was written; that happens once. */
  readonly readyAt: Date | null;
  /** Visible comments, counted at `commentsVersion`. */
  readonly commentCount: number;
  /** Rises with every change of a comment or thread. */
  readonly commentsVersion: number;
  /** Accounts that see it in lists: the participants, or none for an archived bubble, a draft or a template. */
  readonly readers: readonly string[];
  /** When its readers stop seeing it; null when they never do, or have. Lists check the time too: without readers it only leaves their indexes. */
  readonly hideAt: Date | null;
  /** Lists are sorted by it: `sortPrefix` of its time and the id. */
  readonly sortKey: string;
  readonly row: Row | null;
}

/** From 1970 until then, in 2286, times have 13 digits of milliseconds at most: what every release has known. */
export const NEAR_END_MS = 10 ** 13;
/** The creation time of a bubble without a date: before all others. */
export const UNDATED = Number.NEGATIVE_INFINITY;

/** What bubbles are ordered by. */
export interface Moment {
  /** Milliseconds, or `UNDATED`. */
  readonly createdMs: number;
  /** Lower-case uuid. */
  readonly id: string;
}

const NEAR_DIGITS = 13;
/** The year 0000 begins: no time that is accepted lies before it. */
export const FIRST_MS = -62_167_219_200_000;
const EARLY_DIGITS = 14;
const FAR_DIGITS = 15;

const digits = (value: number, width: number): string => String(value).padStart(width, '0');
const LEGACY = digits(0, NEAR_DIGITS);
const LAST_NEAR = digits(NEAR_END_MS - 1, NEAR_DIGITS);

/**
 * What the sort keys of a millisecond begin with: its 13 digits from 1970 to 2286. A colon sorts behind the full stop that ends these, so that earlier
 * times stand between legacy bubbles and the first digit, and later times behind the last.
 */
export const sortPrefix = (ms: number): string => {
  if (ms === UNDATED) return `${LEGACY}.`;
  if (ms < 1) return `${LEGACY}:${digits(Math.max(ms, FIRST_MS) - FIRST_MS, EARLY_DIGITS)}.`;
  return ms < NEAR_END_MS ? `${digits(ms, NEAR_DIGITS)}.` : `${LAST_NEAR}:${digits(ms, FAR_DIGITS)}.`;
};

export const createdMsOf = (createdAt: Date | null): number => (createdAt === null ? UNDATED : createdAt.getTime());

export const sortKeyOf = (createdMs: number, id: string): string => sortPrefix(createdMs) + id;

export const emptyBubble = (id: string): Bubble => ({
  id,
  changeCount: 0,
  details: null,
  media: null,
  transcript: null,
  notes: null,
  removed: false,
  readyAt: null,
  commentCount: 0,
  commentsVersion: 0,
  readers: [],
  hideAt: null,
  sortKey: sortKeyOf(UNDATED, id),
  row: null,
});

export const tombstone = ({ id, changeCount }: Bubble): Bubble => ({ ...emptyBubble(id), changeCount: changeCount + 1, removed: true });

/** Archived bubbles, drafts and templates leave every list; expiry is checked when they are read. */
const isListable = ({ archived, draft, template }: Details): boolean => !archived && !draft && !template;

function rowOf({ details, media, notes }: Bubble): Row | null {
  if (details === null) return null;
  const { type, title, createdAt, teamId, channelId, creatorId, expiresAt } = details;
  const summary = notes?.summary ?? null;
  return {
    type,
    title,
    createdAt,
    teamId,
    channelId,
    creatorId,
    expiresAt,
    thumbnailUrl: media?.thumbnailUrl ?? null,
    durationSeconds: media?.durationSeconds ?? null,
    summary: summary === null ? null : shortSummary(summary),
  };
}

/** The fields that lists are found by, which follow from the facts. */
function derived(bubble: Bubble): Bubble {
  const { id, details } = bubble;
  if (details === null) return bubble;
  const readers = isListable(details) ? accountIds(details.participants) : [];
  return {
    ...bubble,
    readers,
    hideAt: readers.length === 0 ? null : details.expiresAt,
    sortKey: sortKeyOf(createdMsOf(details.createdAt), id),
    row: rowOf(bubble),
  };
}

type GroupName = 'details' | 'media' | 'transcript' | 'notes';

/** The bubble with a newer group of facts; null when it knows that already, or is removed. */
export function withFacts<G extends GroupName>(bubble: Bubble, group: G, facts: NonNullable<Bubble[G]>): Bubble | null {
  const known = bubble[group];
  if (bubble.removed || (known !== null && known.revision >= facts.revision)) return null;
  return derived({ ...bubble, changeCount: bubble.changeCount + 1, [group]: facts });
}

/** The bubble with what an earlier release derived in another way; null when nothing differs. */
export const derivedAgain = (bubble: Bubble): Bubble | null => {
  const { details, id } = bubble;
  const sortKey = details === null ? bubble.sortKey : sortKeyOf(createdMsOf(details.createdAt), id);
  return sortKey === bubble.sortKey ? null : { ...bubble, sortKey };
};

/** The bubble without readers once it has expired; null before, and when it has none. */
export const withoutReaders = (bubble: Bubble, now: Date): Bubble | null =>
  bubble.hideAt !== null && bubble.hideAt <= now ? { ...bubble, readers: [], hideAt: null } : null;

/** Exists, and is neither archived, a draft, a template nor expired. The one predicate of lists, single reads, search and fan-out. */
export const isReadable = ({ details, removed }: Bubble, now: Date): boolean =>
  !removed && details !== null && isListable(details) && (details.expiresAt === null || details.expiresAt > now);

export const participates = ({ details }: Bubble, userId: string): boolean =>
  details?.participants.some((person) => person.userId === userId) ?? false;

/** All people named in a read of it. */
export const peopleIn = ({ details }: Bubble): readonly Person[] =>
  details === null ? [] : [...details.participants, ...(details.author ? [details.author] : [])];

/** A read by id is open to participants, and to everybody when the bubble is public. */
export const mayRead = (bubble: Bubble, userId: string, now: Date): boolean =>
  isReadable(bubble, now) && (participates(bubble, userId) || (bubble.details?.isPublic ?? false));
