/** node services/bubbles-query/test/search/bench.ts [bubbles…]: times and sizes of the search over generated bubbles. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setImmediate } from 'node:timers/promises';
import { type CardRow, nameText } from '../../src/domain/search-card.ts';
import { parseQuery } from '../../src/domain/search-query.ts';
import { createAuthorNames } from '../../src/search/author-names.ts';
import { openThread, threadBuilder } from '../../src/search/build-threads.ts';
import { type CallerIndex, createCallerIndex } from '../../src/search/caller-index.ts';
import { inlineBuilder } from '../../src/search/index-build.ts';
import { timeSlicer } from '../../src/search/time-slices.ts';
import { createCorpus } from './corpus.ts';
import { cardOf, NO_FILTERS } from './harness.ts';

const PAGE = 26;
const ROUNDS = 60;
const BATCH = 500;
const INLINE = 200;
const CHANGES = 600;
const SIZES = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [1_000, 10_000, 100_000];
const LONG_QUERIES = '256 characters';

const elapsedMs = () => performance.now();
const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? 0;
const shown = (ms: number): string => ms.toFixed(2).padStart(8);
const print = (line: string): boolean => process.stdout.write(`${line}\n`);

type Corpus = ReturnType<typeof createCorpus>;

const cardsOf = (corpus: Corpus, from: number, to: number): CardRow[] => corpus.bubbles(from, to).map((bubble) => cardOf(bubble, 1));

/** Builds as the cache does, and answers how long that took apart from making the cards. */
const build = async (corpus: Corpus, size: number) => {
  const builder = size > INLINE ? threadBuilder(openThread, 1) : inlineBuilder();
  let making = 0;
  async function* batches() {
    for (let at = 0; at < size; at += BATCH) {
      const began = elapsedMs();
      const rows = cardsOf(corpus, at, Math.min(size, at + BATCH));
      making += elapsedMs() - began;
      yield rows;
      await setImmediate();
    }
  }
  const began = elapsedMs();
  const built = await builder.build(batches());
  const took = elapsedMs() - began - making;
  await builder.stop();
  const names = createAuthorNames();
  const { authors } = built.attributes;
  names.follow(
    authors,
    authors.map((id) => ({ id, rowVersion: 1, seq: 1, name: nameText(id) })),
  );
  return { index: createCallerIndex(built, names), took, words: built.terms.count };
};

const search = async (index: CallerIndex, q: string): Promise<number> => {
  const yieldToEventLoop = timeSlicer({ elapsedMs, nextTurn: setImmediate });
  const began = elapsedMs();
  let hits = 0;
  for (const hit of index.search({ query: parseQuery(q), filters: NO_FILTERS, after: null, nowMs: 0 })) {
    if (hit === null) await yieldToEventLoop();
    else if (++hits === PAGE) break;
  }
  return elapsedMs() - began;
};

const measure = async (size: number): Promise<void> => {
  const corpus = createCorpus(size);
  const { index, took, words } = await build(corpus, size);
  print(`\n${size} bubbles: build ${took.toFixed(0)} ms, ${(index.bytes() / size).toFixed(0)} B a bubble, ${words} words`);
  const all: number[] = [];
  for (const [kind, queries] of Object.entries(corpus.queries(ROUNDS))) {
    const delay = monitorEventLoopDelay({ resolution: 1 });
    await search(index, queries[0] ?? '');
    delay.enable();
    const times: number[] = [];
    for (const q of queries) times.push(await search(index, q));
    delay.disable();
    if (kind !== LONG_QUERIES) for (const one of times) all.push(one);
    const [p50, p95] = [percentile(times, 0.5), percentile(times, 0.95)];
    print(`  ${kind.padEnd(18)} p50 ${shown(p50)}  p95 ${shown(p95)}  event loop at most ${shown(delay.max / 1e6)}`);
  }
  print(`  ${'all but the last'.padEnd(18)} p50 ${shown(percentile(all, 0.5))}  p95 ${shown(percentile(all, 0.95))}`);
  const rows = cardsOf(corpus, size, size + CHANGES);
  const afterWrite: number[] = [];
  for (const row of rows.slice(0, 500)) {
    const began = elapsedMs();
    index.apply([row]);
    await search(index, 'kamiro');
    afterWrite.push(elapsedMs() - began);
  }
  print(`  write, then search  p50 ${shown(percentile(afterWrite, 0.5))}  p95 ${shown(percentile(afterWrite, 0.95))}`);
};

for (const size of SIZES) await measure(size);
