import { createCorpus } from '../../../services/bubbles-query/test/search/corpus.ts';
import { testBubble, uuidOf } from '../../../services/bubbles-query/test/search/harness.ts';
import { serveParent, settings, tellParent } from '../harness/in-child.ts';
import { cspellMisspellings, type Misspelling, wikipediaMisspellings } from '../harness/misspellings.ts';
import { percentile } from '../harness/statistics.ts';
import { fill, miniSearcher, ourSearcher, type Searcher } from './searcher.ts';

export interface SearchSettings {
  readonly engine: 'ours' | 'minisearch';
  /** A generated world of this number of bubbles, or the words of a list of misspellings. */
  readonly task:
    | { readonly bubbles: number; readonly rounds: number }
    | { readonly misspellings: 'wikipedia' | 'cspell'; readonly most: number };
}

export interface Timed {
  readonly p50: number;
  readonly p95: number;
}
export interface SearchFigures {
  readonly buildMs: number;
  readonly bytesEach: number;
  /** The first search after the build. */
  readonly firstMs: number;
  readonly kinds: Readonly<Record<string, Timed>>;
  readonly count: number;
}
export interface RecallFigures {
  readonly pairs: number;
  readonly words: number;
  /** Shares of the misspellings whose word was among the first 25, and anywhere. */
  readonly onFirstPage: number;
  readonly anywhere: number;
  readonly p50: number;
}

const PAGE = 26;
const FIRST_PAGE = 25;
/** Queries of each kind before any is timed. */
const WARMING = 20;

const { engine, task } = settings<SearchSettings>();
const searcher: Searcher = engine === 'ours' ? ourSearcher() : await miniSearcher();

const heldBytes = (): number => {
  for (let run = 0; run < 3; run += 1) globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
};

const timed = (queries: readonly string[]): number[] =>
  queries.map((q) => {
    const began = performance.now();
    searcher.search(q, PAGE);
    return performance.now() - began;
  });

const searchWorld = async (bubbles: number, rounds: number): Promise<SearchFigures> => {
  const corpus = createCorpus(bubbles);
  const before = heldBytes();
  const buildMs = await fill(searcher, bubbles, corpus.bubbles);
  const bytesEach = (heldBytes() - before) / bubbles;
  const queries = Object.entries(corpus.queries(rounds));
  const [firstMs = 0] = timed([queries[0]?.[1][0] ?? '']);
  for (const [, texts] of queries) timed(texts.slice(0, WARMING));
  const kinds = queries.map(([kind, texts]) => {
    const times = timed(texts);
    return [kind, { p50: percentile(times, 0.5), p95: percentile(times, 0.95) }] as const;
  });
  return { buildMs, bytesEach, firstMs, kinds: Object.fromEntries(kinds), count: bubbles };
};

/** Every n-th, so that all letters have their share. */
const some = (pairs: readonly Misspelling[], most: number): readonly Misspelling[] => {
  const step = Math.max(1, Math.floor(pairs.length / most));
  return pairs.filter((_, at) => at % step === 0);
};

/** A bubble for every word that was meant; a misspelling is found when a bubble of a word that was meant is. */
const recall = async (list: 'wikipedia' | 'cspell', most: number): Promise<RecallFigures> => {
  const all = list === 'wikipedia' ? wikipediaMisspellings() : cspellMisspellings();
  const words = [...new Set(all.flatMap(({ meant }) => meant))].toSorted();
  const ids = new Map(words.map((word, at) => [word, uuidOf(at + 1)]));
  await fill(searcher, words.length, (from, to) => words.slice(from, to).map((title) => testBubble({ id: ids.get(title) ?? '', title })));
  const pairs = some(all, most);
  const times: number[] = [];
  let [first, anywhere] = [0, 0];
  for (const { written, meant } of pairs) {
    const wanted = new Set(meant.map((word) => ids.get(word)));
    const began = performance.now();
    const found = searcher.search(written, Number.POSITIVE_INFINITY);
    times.push(performance.now() - began);
    const at = found.findIndex((id) => wanted.has(id));
    if (at !== -1) anywhere += 1;
    if (at !== -1 && at < FIRST_PAGE) first += 1;
  }
  return {
    pairs: pairs.length,
    words: words.length,
    onFirstPage: first / pairs.length,
    anywhere: anywhere / pairs.length,
    p50: percentile(times, 0.5),
  };
};

const figures = 'bubbles' in task ? await searchWorld(task.bubbles, task.rounds) : await recall(task.misspellings, task.most);
serveParent();
tellParent(figures);
