import { batchWhileBusy } from '@bubbles/kernel/concurrency.ts';
import type { CardRow } from '../domain/search-card.ts';
import { seqAt } from '../domain/search-card.ts';
import type { CardFeed, PeopleFeed, SearchIndex } from '../ports.ts';
import { createAuthorNames } from './author-names.ts';
import { type CallerIndex, createCallerIndex } from './caller-index.ts';
import { followFeed } from './followed-feed.ts';
import { type BuiltIndex, type IndexBuilder, inlineBuilder } from './index-build.ts';
import { type EventLoop, timeSlicer } from './time-slices.ts';

export interface IndexCacheOptions extends EventLoop {
  readonly cards: CardFeed;
  readonly people: PeopleFeed;
  /** For builds too large for the event loop, and for merges. */
  readonly builder: IndexBuilder;
  readonly budgetBytes: number;
  readonly nowMs: () => number;
  /** Hears of a merge that failed; the caller's index is then built again. */
  readonly onFault: (error: unknown) => void;
}

interface IndexCache extends SearchIndex {
  /** Brings a caller's index up to date. */
  warm(userId: string): Promise<void>;
  bytes(): number;
  callers(): number;
}

interface Entry {
  readonly refresh: () => Promise<void>;
  index: CallerIndex | null;
  bytes: number;
  merge: Promise<void> | null;
}

/** Up to this number cards are indexed on the event loop, unless their texts are long. */
export const INLINE_CARDS = 200;
const INLINE_CHARACTERS = 2 ** 17;
/** A card that is longer is no change to make on the event loop: the index is built again beside it. */
const LONG_CARD_CHARACTERS = 2 ** 14;
const CARDS_PER_SLICE = 32;
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
  let first: readonly CardRow[] = [];
  while (first.length <= INLINE_CARDS && charactersOf(first) <= INLINE_CHARACTERS) {
    const next = await iterator.next();
    if (next.done === true) return inlineBuilder().build(chained(first, iterator));
    first = first.concat(next.value);
  }
  return large.build(chained(first, iterator));
};

const charactersOf = (rows: readonly CardRow[]): number => rows.reduce((total, { title, notes }) => total + title.length + notes.length, 0);

/** Rows in order, in slices of `CARDS_PER_SLICE`, or of fewer when they are long. */
function* slicesOf(rows: readonly CardRow[]): Generator<readonly CardRow[]> {
  let [from, characters] = [0, 0];
  for (const [at, row] of rows.entries()) {
    characters += charactersOf([row]);
    if (at > from && (at - from === CARDS_PER_SLICE || characters > LONG_CARD_CHARACTERS)) {
      yield rows.slice(from, at);
      [from, characters] = [at, charactersOf([row])];
    }
  }
  if (from < rows.length) yield rows.slice(from);
}

/** The names of the authors in all indexes, followed as their rows change. */
const followNames = ({ people, nowMs }: IndexCacheOptions) => {
  const names = createAuthorNames();
  const feed = followFeed(people.all, { nowMs, from: seqAt(nowMs()) });
  const refresh = batchWhileBusy(async () => {
    for await (const rows of feed.changes()) names.update(rows);
  });
  const follow = async (ids: readonly string[]): Promise<void> => {
    const unknown = ids.filter((id) => !names.has(id));
    if (unknown.length > 0) names.follow(unknown, await people.named(unknown));
  };
  return { names, refresh, follow, bytes: () => names.bytes() + feed.bytes() };
};

type FollowedNames = ReturnType<typeof followNames>;

/** Keeps one caller's index up to date. */
const createEntry = (
  userId: string,
  followed: FollowedNames,
  { options, drop }: { options: IndexCacheOptions; drop: () => void },
): Entry => {
  const { cards, builder, nowMs, onFault } = options;
  const feed = followFeed(cards.of(userId), { nowMs });

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
    const yieldToEventLoop = timeSlicer(options);
    for (const slice of slicesOf(rows)) {
      index.apply(slice);
      startMerge(index);
      if (entry.merge !== null && index.changes() > MAX_WAITING_CHANGES) await entry.merge;
      await yieldToEventLoop();
    }
  };
  const build = async (): Promise<CallerIndex> => {
    feed.startOver();
    return createCallerIndex(await buildFrom(feed.changes(), builder), followed.names);
  };
  /** False when the index had better be built again. */
  const follow = async (index: CallerIndex): Promise<boolean> => {
    for await (const rows of feed.changes()) {
      if (rows.some((row) => charactersOf([row]) > LONG_CARD_CHARACTERS && index.isNews(row))) return false;
      await apply(index, rows);
    }
    return true;
  };
  const update = async (): Promise<void> => {
    if (entry.index === null || !(await follow(entry.index))) entry.index = await build();
    await followed.follow(entry.index.authors());
    entry.bytes = entry.index.bytes() + feed.bytes();
  };
  const entry: Entry = { refresh: batchWhileBusy(update), index: null, bytes: 0, merge: null };
  return entry;
};

/** The indexes of the callers that searched last, within a budget of memory. None is trusted for access: hits are verified before they leave. */
export const createIndexCache = (options: IndexCacheOptions): IndexCache => {
  const followed = followNames(options);
  /** Least recently used first. */
  const entries = new Map<string, Entry>();
  const bytes = (): number => [...entries.values()].reduce((total, entry) => total + entry.bytes, followed.bytes());

  const touch = (userId: string): Entry => {
    const entry = entries.get(userId) ?? createEntry(userId, followed, { options, drop: () => entries.delete(userId) });
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
    await Promise.all([followed.refresh(), entry.refresh()]);
    trim();
    if (entry.index === null) throw new Error('an index that was built is not there');
    return entry.index;
  };
  return {
    async *search(userId, request) {
      const index = await fresh(userId);
      await options.nextTurn();
      const yieldToEventLoop = timeSlicer(options);
      for (const hit of index.search(request)) {
        if (hit === null) await yieldToEventLoop();
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
