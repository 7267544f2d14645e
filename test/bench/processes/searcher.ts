import { setImmediate } from 'node:timers/promises';
import { nameText } from '@bubbles/bubbles-query/domain/search-card.ts';
import { parseQuery } from '@bubbles/bubbles-query/domain/search-query.ts';
import { createAuthorNames } from '@bubbles/bubbles-query/search/author-names.ts';
import { createCallerIndex } from '@bubbles/bubbles-query/search/caller-index.ts';
import { createIndexBuild } from '@bubbles/bubbles-query/search/index-build.ts';
import { cardOf, NO_FILTERS, type TestBubble } from '../../../services/bubbles-query/test/search/harness.ts';

/** Something that finds bubbles: ours, or what it is held against. */
export interface Searcher {
  /** What is to be added in its own form; adding it is what counts. */
  adding(bubbles: readonly TestBubble[]): () => void;
  /** After everything was added. */
  finish(): void;
  /** The ids of the best `limit`, best first. */
  search(q: string, limit: number): readonly string[];
}

const BATCH = 500;

export const ourSearcher = (): Searcher => {
  let build: ReturnType<typeof createIndexBuild> | null = createIndexBuild();
  let index: ReturnType<typeof createCallerIndex> | null = null;
  return {
    adding: (bubbles) => {
      const cards = bubbles.map((bubble) => cardOf(bubble, 1));
      return () => build?.add(cards);
    },
    finish: () => {
      const built = build?.finish();
      if (built === undefined) throw new Error('the index is built already');
      build = null;
      const names = createAuthorNames();
      const { authors } = built.attributes;
      names.follow(
        authors,
        authors.map((id) => ({ id, seq: 1, rowVersion: 1, name: nameText(id) })),
      );
      index = createCallerIndex(built, names);
    },
    search: (q, limit) => {
      const found: string[] = [];
      for (const hit of index?.search({ query: parseQuery(q), filters: NO_FILTERS, after: null, nowMs: 0 }) ?? []) {
        if (hit !== null && found.push(hit.id) === limit) break;
      }
      return found;
    },
  };
};

/** As its documentation recommends for search as one types, with the fields in our order of weight. */
const MINISEARCH = {
  fields: ['title', 'authorName', 'summary'],
  searchOptions: { prefix: true, fuzzy: 0.2, combineWith: 'AND', boost: { title: 4, authorName: 2 } },
};

interface MiniSearchIndex {
  addAll(documents: readonly TestBubble[]): void;
  search(q: string): readonly { readonly id: string }[];
}

export const miniSearcher = async (): Promise<Searcher> => {
  const name = 'minisearch';
  const { default: MiniSearch } = (await import(name)) as { readonly default: new (options: object) => MiniSearchIndex };
  const index = new MiniSearch(MINISEARCH);
  return {
    adding: (bubbles) => () => index.addAll(bubbles),
    finish: () => undefined,
    search: (q, limit) =>
      index
        .search(q)
        .slice(0, limit)
        .map(({ id }) => id),
  };
};

/** Adds what `make` makes, some at a time; answers how long the searcher itself took. */
export const fill = async (
  searcher: Searcher,
  count: number,
  make: (from: number, to: number) => readonly TestBubble[],
): Promise<number> => {
  let took = 0;
  for (let at = 0; at < count; at += BATCH) {
    const add = searcher.adding(make(at, Math.min(count, at + BATCH)));
    const began = performance.now();
    add();
    took += performance.now() - began;
    await setImmediate();
  }
  const began = performance.now();
  searcher.finish();
  return took + performance.now() - began;
};
