import { type CallerIndex, createCallerIndex, type SearchRequest } from './caller-index.ts';
import type { CardRow, PersonRow } from './card.ts';
import { freshRuns } from './fresh-runs.ts';
import type { BuiltIndex } from './index-build.ts';
import { type IndexBuilder, inlineBuilder } from './index-builder.ts';
import { createNameBook } from './name-book.ts';
import type { Position } from './rank.ts';
import { seqAt, withOverlap } from './seq.ts';
import { type Turns, takeTurns } from './turns.ts';

/** The search cards, as one caller sees them. */
export interface CardFeed {
  /** Every card the caller reads or ever read with a higher sequence number, as it is now, in batches by that number. */
  since(userId: string, seq: number): AsyncIterable<readonly CardRow[]>;
}

/** Names of people, with or without an account. */
export interface PeopleFeed {
  /** Those of these people that have a row. */
  named(ids: readonly string[]): Promise<readonly PersonRow[]>;
  since(seq: number): AsyncIterable<readonly PersonRow[]>;
}

export interface IndexCacheOptions extends Turns {
  readonly cards: CardFeed;
  readonly people: PeopleFeed;
  /** For builds too large for the event loop, and for merges. */
  readonly builder: IndexBuilder;
  readonly budgetBytes: number;
  readonly nowMs: () => number;
  /** Hears of a merge that failed; the caller's index is then built anew. */
  readonly onFault: (error: unknown) => void;
}

export interface IndexCache {
  /** Hits in order, as many as are pulled, over an index that holds all that was written before the call. */
  search(userId: string, request: SearchRequest): AsyncGenerator<Position>;
  /** Brings a caller's index up to date. */
  warm(userId: string): Promise<void>;
  bytes(): number;
  callers(): number;
}

interface Entry {
  readonly refresh: () => Promise<void>;
  index: CallerIndex | null;
  watermark: number;
  bytes: number;
  merge: Promise<void> | null;
}

/** So many cards are indexed on the event loop. */
export const INLINE_CARDS = 200;
const CARDS_A_TURN = 32;
/** Changes may gather up to here while a merge is on its way. */
const MAX_WAITING_CHANGES = 4096;

async function* chained(first: readonly CardRow[], rest: AsyncIterator<readonly CardRow[]>): AsyncGenerator<readonly CardRow[]> {
  yield first;
  for (;;) {
    const next = await rest.next();
    if (next.done === true) return;
    yield next.value;
  }
}

/** Reads ahead to learn whether the cards are few. */
const buildFrom = async (batches: AsyncIterable<readonly CardRow[]>, large: IndexBuilder): Promise<BuiltIndex> => {
  const iterator = batches[Symbol.asyncIterator]();
  const first: CardRow[] = [];
  while (first.length <= INLINE_CARDS) {
    const next = await iterator.next();
    if (next.done === true) return inlineBuilder().build(chained(first, iterator));
    first.push(...next.value);
  }
  return large.build(chained(first, iterator));
};

/** What a read has seen ends with its rows, and not before it began: the overlap is for those who wrote meanwhile. */
const latestOf = (rows: readonly { readonly seq: number }[], seen: number): number =>
  rows.reduce((latest, { seq }) => Math.max(latest, seq), seen);

const createNames = ({ people, nowMs }: IndexCacheOptions) => {
  const book = createNameBook();
  let watermark = seqAt(nowMs());
  const refresh = freshRuns(async () => {
    let seen = seqAt(nowMs());
    for await (const rows of people.since(withOverlap(watermark))) {
      book.update(rows);
      seen = latestOf(rows, seen);
    }
    watermark = Math.max(watermark, seen);
  });
  const follow = async (ids: readonly string[]): Promise<void> => {
    const unknown = ids.filter((id) => !book.has(id));
    if (unknown.length > 0) book.follow(unknown, await people.named(unknown));
  };
  return { book, refresh, follow };
};

type Names = ReturnType<typeof createNames>;

/** Keeps one caller's index up to date. */
const createEntry = (userId: string, names: Names, { options, drop }: { options: IndexCacheOptions; drop: () => void }): Entry => {
  const { cards, builder, nowMs, onFault } = options;

  const startMerge = (index: CallerIndex): void => {
    const task = entry.merge === null ? index.startMerge() : null;
    if (task === null) return;
    entry.merge = builder
      .merge(task)
      .then(index.adopt)
      .catch((error: unknown) => {
        drop();
        onFault(error);
      })
      .finally(() => {
        entry.merge = null;
      });
  };
  const apply = async (index: CallerIndex, rows: readonly CardRow[]): Promise<void> => {
    const breathe = takeTurns(options);
    for (let at = 0; at < rows.length; at += CARDS_A_TURN) {
      index.apply(rows.slice(at, at + CARDS_A_TURN));
      startMerge(index);
      if (entry.merge !== null && index.changes() > MAX_WAITING_CHANGES) await entry.merge;
      await breathe();
    }
  };
  async function* read(from: number): AsyncGenerator<readonly CardRow[]> {
    let seen = seqAt(nowMs());
    for await (const rows of cards.since(userId, from)) {
      seen = latestOf(rows, seen);
      yield rows;
    }
    entry.watermark = Math.max(entry.watermark, seen);
  }
  const update = async (): Promise<void> => {
    if (entry.index === null) entry.index = createCallerIndex(await buildFrom(read(0), builder), names.book);
    else for await (const rows of read(withOverlap(entry.watermark))) await apply(entry.index, rows);
    await names.follow(entry.index.authors());
    entry.bytes = entry.index.bytes();
  };
  const entry: Entry = { refresh: freshRuns(update), index: null, watermark: 0, bytes: 0, merge: null };
  return entry;
};

/** The indexes of the callers that searched last, within a budget of memory. None is trusted for access: hits are verified before they leave. */
export const createIndexCache = (options: IndexCacheOptions): IndexCache => {
  const names = createNames(options);
  /** Least recently used first. */
  const entries = new Map<string, Entry>();
  const bytes = (): number => [...entries.values()].reduce((total, entry) => total + entry.bytes, names.book.bytes());

  const touch = (userId: string): Entry => {
    const entry = entries.get(userId) ?? createEntry(userId, names, { options, drop: () => entries.delete(userId) });
    entries.delete(userId);
    entries.set(userId, entry);
    return entry;
  };
  const trim = (): void => {
    let total = bytes();
    for (const [userId, entry] of entries) {
      if (total <= options.budgetBytes || entries.size === 1) return;
      entries.delete(userId);
      total -= entry.bytes;
    }
  };
  const fresh = async (userId: string): Promise<CallerIndex> => {
    const entry = touch(userId);
    await Promise.all([names.refresh(), entry.refresh()]);
    trim();
    if (entry.index === null) throw new Error('an index that was built is not there');
    return entry.index;
  };
  return {
    async *search(userId, request) {
      const index = await fresh(userId);
      await options.nextTurn();
      const breathe = takeTurns(options);
      for (const hit of index.search(request)) {
        if (hit === null) await breathe();
        else yield hit;
      }
    },
    warm: async (userId) => {
      await fresh(userId);
    },
    bytes,
    callers: () => entries.size,
  };
};
