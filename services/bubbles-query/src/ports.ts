import type { OutgoingEvent } from '@bubbles/bus/outgoing.ts';
import type { CreatedPosition } from '@bubbles/kernel/cursors.ts';
import type { Changed } from '@bubbles/store/aggregates.ts';
import type { Bubble, BubbleType, Row } from './domain/bubble.ts';
import type { Comment, ShownComment, Thread } from './domain/comment.ts';
import type { Directory, KnownPerson } from './domain/person.ts';
import type { Position } from './domain/ranking.ts';
import type { CardRow, PersonRow, SearchCard } from './domain/search-card.ts';
import type { ParsedQuery } from './domain/search-query.ts';
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
   * Atomic, with its events in the same write. An unknown bubble begins empty. `change` runs again when another writer won; null leaves the bubble as it
   * is. Answers what is stored then.
   */
  change(id: string, change: (bubble: Bubble) => Changed<Bubble> | null): Promise<Bubble>;
  /** The rows that a user lists, newest first. */
  rows(query: RowQuery): Promise<ListRow[]>;
  /** The rows with these ids that the user lists, in any order. */
  rowsAmong(ids: readonly string[], query: Pick<RowQuery, 'userId' | 'filters' | 'now'>): Promise<ListRow[]>;
  byIds(ids: readonly string[]): Promise<Bubble[]>;
  /** Bubbles that have expired by then and still have readers. */
  idsToWithdraw(now: Date, limit: number): Promise<string[]>;
}

export interface TranscriptStore {
  get(bubbleId: string): Promise<Transcript | null>;
  /** Unless a newer revision is stored. */
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
  /** Unless a newer revision is stored. The comment is hidden until it has been joined with its thread: `join` follows. */
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
  /** Unless a newer revision is stored. `seq`: as of a card. */
  put(person: KnownPerson, seq: number): Promise<void>;
  /** A person as a recording named them: found by that name until the account is known. */
  mention(person: Pick<KnownPerson, 'id' | 'name'>, seq: number): Promise<void>;
  /** Accounts that identity told of. */
  byIds(ids: readonly string[]): Promise<Directory>;
  /** How far the accounts have been filled in the first time. */
  fillProgress(): Promise<FillProgress>;
  saveFillProgress(progress: FillProgress): Promise<void>;
}
export interface FillProgress {
  readonly after: string | null;
  readonly done: boolean;
}

export interface CardStore {
  /** Unless a newer revision is stored. Readers look for sequence numbers above those that they saw, with an overlap. */
  put(card: SearchCard, stamp: { readonly seq: number; readonly at: Date }): Promise<void>;
  /** Bubbles whose cards an older analyser wrote. */
  idsAnalysedBefore(limit: number): Promise<string[]>;
  /** How many cards of bubbles that were removed before were dropped. */
  dropRemovedBefore(at: Date): Promise<number>;
}

export interface SearchRequest {
  readonly query: ParsedQuery;
  readonly filters: ListFilters;
  readonly after: Position | null;
  readonly nowMs: number;
}

/** Finds the readable bubbles of each caller by words. It may be behind: what it finds must be verified. */
export interface SearchIndex {
  /** Hits in order, as many as are pulled, of all cards that were written before the call. */
  search(userId: string, request: SearchRequest): AsyncGenerator<Position>;
}

/** Sequence numbers above `after`, up to `upTo` if that is not null. */
export interface FeedSpan {
  readonly after: number;
  readonly upTo: number | null;
}

/** Rows that carry a new, higher sequence number with every change: what the search index follows. */
export interface FeedSource<R> {
  /** Those of a span as they are now, in batches by number. */
  read(span: FeedSpan): AsyncIterable<readonly R[]>;
  count(span: FeedSpan): Promise<number>;
}

export interface CardFeed {
  /** Every card that the caller reads or ever read. */
  of(userId: string): FeedSource<CardRow>;
}

export interface PeopleFeed {
  /** The rows of these people, with or without an account; those without a row are left out. */
  named(ids: readonly string[]): Promise<readonly PersonRow[]>;
  readonly all: FeedSource<PersonRow>;
}

/** Runs long work that yields where others may have a turn of the event loop. */
export type RunInSlices = <T>(work: Generator<null, T>) => Promise<T>;

/** What identity knows now. Every call rejects with `unavailable` when identity cannot be asked. */
export interface Identity {
  /** A hidden guest does not belong to the team. */
  belongs(userId: string, teamId: string): Promise<boolean>;
  /** A page of all accounts, in the order of their ids, after `after`. */
  accounts(after: string | null): Promise<{ readonly people: readonly KnownPerson[]; readonly nextAfter: string | null }>;
}
