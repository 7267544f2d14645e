import { setImmediate } from 'node:timers/promises';
import type { CardRow, PersonRow } from '../../src/domain/search-card.ts';
import { nameText } from '../../src/domain/search-card.ts';
import { parseQuery } from '../../src/domain/search-query.ts';
import type { FeedSource, FeedSpan } from '../../src/ports.ts';
import { inlineBuilder } from '../../src/search/index-build.ts';
import { createIndexCache, type IndexCacheOptions } from '../../src/search/index-cache.ts';
import { createSeqSource } from '../../src/use-cases/feed.ts';
import { cardOf, NO_FILTERS, type TestBubble, testBubble, uuidOf } from './harness.ts';

export const START_MS = Date.UTC(2024, 5, 15);

/** Feeds over plain maps, as a store would serve them, with a count of the reads. */
export const world = () => {
  const cards = new Map<string, CardRow & { readonly ever: Set<string>; readonly readers: Set<string> }>();
  const people = new Map<string, PersonRow>();
  const reads: { userId: string; seq: number }[] = [];
  let nowMs = START_MS;
  const nextSeq = createSeqSource(() => nowMs);
  let fails = false;
  let [rowsRead, counts] = [0, 0];
  const put = (bubble: TestBubble, readers: readonly string[], seq = nextSeq()): void => {
    const known = cards.get(bubble.id);
    const ever = new Set([...(known?.ever ?? []), ...readers]);
    cards.set(bubble.id, { ...cardOf(bubble, (known?.rowVersion ?? 0) + 1), seq, ever, readers: new Set(readers) });
  };
  return {
    put,
    reads,
    /** Rows read and spans counted since the last time. */
    takeCosts: () => {
      const costs = { rowsRead, counts };
      [rowsRead, counts] = [0, 0];
      return costs;
    },
    pass: (ms: number) => {
      nowMs += ms;
    },
    fail: (on: boolean) => {
      fails = on;
    },
    name: (id: string, name: string, seq = nextSeq()) =>
      people.set(id, { id, rowVersion: (people.get(id)?.rowVersion ?? 0) + 1, seq, name: nameText(name) }),
    nowMs: () => nowMs,
    cards: {
      of: (userId: string): FeedSource<CardRow> => {
        const within = ({ after, upTo }: FeedSpan) =>
          [...cards.values()]
            .filter(({ ever, seq }) => ever.has(userId) && seq > after && (upTo === null || seq <= upTo))
            .sort((a, b) => a.seq - b.seq);
        return {
          async *read(span) {
            reads.push({ userId, seq: span.after });
            await Promise.resolve();
            if (fails) throw new Error('the store is away');
            const rows = within(span);
            rowsRead += rows.length;
            for (let at = 0; at < rows.length; at += 100) {
              yield rows.slice(at, at + 100).map((card) => ({ ...card, ever: null, readers: null, readable: card.readers.has(userId) }));
            }
          },
          count: (span) => {
            counts += 1;
            return Promise.resolve(within(span).length);
          },
        };
      },
    },
    people: {
      named: (ids: readonly string[]) => Promise.resolve(ids.flatMap((id) => people.get(id) ?? [])),
      all: {
        async *read({ after }: FeedSpan) {
          await Promise.resolve();
          yield [...people.values()].filter((row) => row.seq > after);
        },
        count: ({ after, upTo }: FeedSpan) =>
          Promise.resolve([...people.values()].filter(({ seq }) => seq > after && (upTo === null || seq <= upTo)).length),
      },
    },
  };
};

type World = ReturnType<typeof world>;

export const cacheOver = ({ cards, people, nowMs }: World, overrides: Partial<IndexCacheOptions> = {}) =>
  createIndexCache({
    cards,
    people,
    nowMs,
    builder: inlineBuilder(),
    budgetBytes: 1e9,
    elapsedMs: () => performance.now(),
    nextTurn: setImmediate,
    onFault: (error) => {
      throw error;
    },
    ...overrides,
  });

export const idsOf = async (cache: ReturnType<typeof cacheOver>, userId: string, q: string): Promise<string[]> => {
  const ids: string[] = [];
  const request = { query: parseQuery(q), filters: NO_FILTERS, after: null, nowMs: START_MS };
  for await (const hit of cache.search(userId, request)) ids.push(hit.id);
  return ids;
};

export const sprint = (number: number, overrides: Partial<TestBubble> = {}): TestBubble =>
  testBubble({ id: uuidOf(number), title: 'Sprint demo', createdMs: START_MS + number, ...overrides });
