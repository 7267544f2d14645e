/** node services/bubbles-query/test/search/bench.ts [bubbles…]: times and sizes of the search over generated bubbles. */
import { createCallerIndex } from '../../src/domain/search/caller-index.ts';
import { nameText } from '../../src/domain/search/card.ts';
import { createIndexBuild } from '../../src/domain/search/index-build.ts';
import { createNameBook } from '../../src/domain/search/name-book.ts';
import { parseQuery } from '../../src/domain/search/query-units.ts';
import { createCorpus } from './corpus.ts';
import { cardOf, NO_FILTERS } from './harness.ts';

const PAGE = 26;
const ROUNDS = 60;
const SIZES = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [1_000, 10_000, 100_000];

const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? 0;
const shown = (ms: number): string => ms.toFixed(2).padStart(8);

for (const size of SIZES) {
  const corpus = createCorpus(size);
  const build = createIndexBuild();
  const batches: number[] = [];
  let started = performance.now();
  for (let at = 0; at < size; at += 1000) {
    const rows = corpus.bubbles(at, Math.min(size, at + 1000)).map((bubble) => cardOf(bubble, 1));
    const begun = performance.now();
    build.add(rows);
    batches.push(performance.now() - begun);
  }
  started = performance.now();
  const built = build.finish();
  const finish = performance.now() - started;
  const names = createNameBook();
  names.follow(
    built.attributes.authors,
    built.attributes.authors.map((id) => ({ id, seq: 1, name: nameText(id) })),
  );
  const index = createCallerIndex(built, names);
  const adding = batches.reduce((total, ms) => total + ms, 0);
  process.stdout.write(
    `\n${size} bubbles: build ${(adding + finish).toFixed(0)} ms, ${(index.bytes() / size).toFixed(0)} B a bubble, ${built.terms.count} words\n`,
  );
  const all: number[] = [];
  for (const [kind, queries] of Object.entries(corpus.queries(ROUNDS))) {
    const times: number[] = [];
    let longest = 0;
    for (const q of queries) {
      const begun = performance.now();
      let breath = begun;
      let hits = 0;
      for (const hit of index.search({ query: parseQuery(q), filters: NO_FILTERS, after: null, nowMs: 0 })) {
        if (hit !== null && ++hits === PAGE) break;
        const now = performance.now();
        longest = Math.max(longest, now - breath);
        breath = now;
      }
      times.push(performance.now() - begun);
    }
    if (kind !== '256 characters') all.push(...times);
    process.stdout.write(
      `  ${kind.padEnd(18)} p50 ${shown(percentile(times, 0.5))}  p95 ${shown(percentile(times, 0.95))}  longest step ${shown(longest)}\n`,
    );
  }
  process.stdout.write(`  ${'all but the last'.padEnd(18)} p50 ${shown(percentile(all, 0.5))}  p95 ${shown(percentile(all, 0.95))}\n`);
}
