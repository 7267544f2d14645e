import type { OutgoingEvent } from '@bubbles/bus/outgoing.ts';
import type { CreatedPosition } from '@bubbles/kernel/cursors.ts';
import type { Changed } from '@bubbles/store/aggregates.ts';
import type { Bubble, BubbleType, Row } from './domain/bubble.ts';
import type { Comment, ShownComment, Thread } from './domain/comment.ts';
import type { Directory, KnownPerson } from './domain/person.ts';
import type { IndexCache } from './domain/search/index-cache.ts';
import type { SearchCard } from './domain/search-card.ts';
import type { Transcript } from './domain/transcript.ts';

export interface ListFilters {
  readonly teamId: string | null;
  readonly spaceId: string | null;
  readonly type: BubbleType | null;
  /** Milliseconds; strictly after and strictly before. Either leaves legacy bubbles out. */
  readonly createdAfterMs: number | null;
  readonly createdBeforeMs: number | null;
}
export interface ListRow extends Row {
  readonly id: string;
  readonly commentCount: number;
}
export interface RowQuery {
  readonly userId: string;
  readonly filters: ListFilters;
  /** The sort key of the last row of the page before. */
  readonly before: string | null;
  readonly limit: number;
  readonly now: Date;
}

/** The event that tells that a bubble became ready; it shows the bubble as a participant reads it. */
export type BubbleReady = (bubble: Bubble, directory: Directory, readyAt: Date) => OutgoingEvent;

export interface BubbleStore {
  get(id: string): Promise<Bubble | null>;
  /**
   * Atomic, with its events in the same write. A bubble that nobody told of begins as an unknown one. `change` runs again when another writer won; null
   * leaves it as it is. Answers what is then stored.
   */
  change(id: string, change: (bubble: Bubble) => Changed<Bubble> | null): Promise<Bubble>;
  /** The rows that a user lists, newest first. */
  rows(query: RowQuery): Promise<ListRow[]>;
  /** Those of the ids that are among all the rows that a user lists, in any order. */
  rowsAmong(ids: readonly string[], query: Pick<RowQuery, 'userId' | 'filters' | 'now'>): Promise<ListRow[]>;
  byIds(ids: readonly string[]): Promise<Bubble[]>;
  /** Bubbles that have expired by then and still have readers. */
  idsToWithdraw(now: Date, limit: number): Promise<string[]>;
}

export interface TranscriptStore {
  get(bubbleId: string): Promise<Transcript | null>;
  /** Unless it has a newer one already. */
  put(transcript: Transcript): Promise<void>;
  purge(bubbleId: string): Promise<void>;
}

export interface CommentQuery {
  readonly bubbleId: string;
  /** The last comment of the page before. */
  readonly after: CreatedPosition | null;
  readonly limit: number;
}
export interface CommentStore {
  /** Unless it has a newer revision already. It is hidden until it has been joined with its thread: `join` follows. */
  put(comment: Comment): Promise<void>;
  putThread(thread: Thread): Promise<void>;
  /** Brings the comments of a thread in line with it. */
  join(threadId: string): Promise<void>;
  /** Comments that are shown in threads that are shown, oldest first. */
  page(query: CommentQuery): Promise<ShownComment[]>;
  count(bubbleId: string): Promise<number>;
  purge(bubbleId: string): Promise<void>;
}

export interface PeopleStore {
  /** Unless it has a newer revision already. `seq`: as of a card. */
  put(person: KnownPerson, seq: number): Promise<void>;
  /** Somebody as a recording named them: found by that name until the account is known. */
  mention(person: Pick<KnownPerson, 'id' | 'name'>, seq: number): Promise<void>;
  /** Accounts that identity told of. */
  byIds(ids: readonly string[]): Promise<Directory>;
}

export interface CardStore {
  /** Unless it has a newer revision already. Readers of it will look for numbers above those that they saw, with an overlap. */
  put(card: SearchCard, stamp: { readonly seq: number; readonly at: Date }): Promise<void>;
  /** Bubbles whose cards an older analyser wrote. */
  idsAnalysedBefore(limit: number): Promise<string[]>;
  /** How many cards of bubbles that were removed before were dropped. */
  dropRemovedBefore(at: Date): Promise<number>;
}

/** The readable bubbles of each caller by words; what it finds must be verified. */
export type SearchIndex = Pick<IndexCache, 'search'>;

/** How far a projection has been filled. */
export interface FillProgress {
  readonly after: string | null;
  readonly done: boolean;
}
export interface FillStore {
  get(): Promise<FillProgress>;
  put(progress: FillProgress): Promise<void>;
}

/** Identity's live word on who belongs where. */
export interface Memberships {
  /** A hidden guest does not belong to the team. Rejects with `unavailable`. */
  belongs(userId: string, teamId: string): Promise<boolean>;
}

/** Identity's snapshot of all accounts, page by page. */
export interface Accounts {
  /** In the order of their ids, after `after`; rejects with `unavailable`. */
  page(after: string | null): Promise<{ readonly people: readonly KnownPerson[]; readonly nextAfter: string | null }>;
}
