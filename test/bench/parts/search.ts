import { createCorpus } from '../../../services/bubbles-query/test/search/corpus.ts';
import { installBenchPackages } from '../harness/bench-packages.ts';
import { startChild } from '../harness/children.ts';
import { assertionsOf, makeKeys } from '../harness/credentials.ts';
import { type LoadGenerator, startLoadGenerator } from '../harness/load.ts';
import type { Cell, Part, Table, Verdict } from '../harness/part.ts';
import { percentile } from '../harness/statistics.ts';
import { startBubbles, startIdentity } from '../harness/world.ts';
import type { RecallFigures, SearchFigures, SearchSettings } from '../processes/search.ts';

const LARGE = 1_000_000;
/** Beyond it the library takes longer than a part may. */
const MINISEARCH_MOST = 10_000;
const WARM_P95: Readonly<Record<number, number>> = { 1000: 3, 10000: 8, 100000: 20, [LARGE]: 60 };
const LONG_P95: Readonly<Record<number, number>> = { 1000: 10, 10000: 25, 100000: 60, [LARGE]: 300 };
const COLD_P95: Readonly<Record<number, number>> = { 1000: 120, 10000: 400 };
const BUILD_MS: Readonly<Record<number, number>> = { 1000: 57, 10000: 900 };
const BYTES_EACH: Readonly<Record<number, number>> = { 1000: 1200, 100000: 320, [LARGE]: 320 };
const LONG = '256 characters';
const WARMING = 'warming up';

const run = async <R>(engine: SearchSettings['engine'], task: SearchSettings['task']): Promise<R> => {
  const nodeArguments = ['--expose-gc', '--max-old-space-size=12000'];
  const child = await startChild<R>({ module: 'processes/search.ts', settings: { engine, task }, nodeArguments });
  await child.stop();
  return child.ready;
};

const limited = (
  limits: Readonly<Record<number, number>>,
  count: number,
  verdict: Omit<Verdict, 'target' | 'limit' | 'wanted'>,
): readonly Verdict[] => {
  const limit = limits[count];
  return limit === undefined ? [] : [{ target: 'search', ...verdict, limit, wanted: 'most' }];
};

const ordinaryP95 = ({ kinds }: SearchFigures): number =>
  Object.entries(kinds).reduce((most, [kind, { p95 }]) => (kind === LONG || kind === WARMING ? most : Math.max(most, p95)), 0);

const engineVerdicts = (figures: SearchFigures): readonly Verdict[] => {
  const { count, kinds, buildMs, bytesEach } = figures;
  return [
    ...limited(WARM_P95, count, { what: `warm: ms of p95 of the slowest kind at ${count}`, figure: ordinaryP95(figures) }),
    ...limited(LONG_P95, count, { what: `warm: ms of p95 of ${LONG} at ${count}`, figure: kinds[LONG]?.p95 ?? Number.NaN }),
    ...limited(BUILD_MS, count, { what: `ms of the build from cards at ${count}`, figure: buildMs }),
    ...limited(BYTES_EACH, count, { what: `bytes a bubble at ${count}`, figure: bytesEach }),
  ];
};

const engineTable = (all: readonly { readonly ours: SearchFigures; readonly mini: SearchFigures | null }[]): Table => {
  const rows = all.flatMap(({ ours, mini }): readonly (readonly Cell[])[] => {
    const over = (own: number, other: number | undefined) => (other === undefined ? null : own / other);
    const kinds = Object.entries(ours.kinds).filter(([kind]) => kind !== WARMING);
    return [
      [`${ours.count}: build`, ours.buildMs, null, mini?.buildMs ?? null, over(ours.buildMs, mini?.buildMs)],
      [`${ours.count}: bytes a bubble`, ours.bytesEach, null, mini?.bytesEach ?? null, over(ours.bytesEach, mini?.bytesEach)],
      ...kinds.map(([kind, { p50, p95 }]) => {
        const other = mini?.kinds[kind]?.p95;
        return [`${ours.count}: ${kind}`, p50, p95, other ?? null, over(p95, other)];
      }),
    ];
  });
  return {
    title: 'The engine, warm, ms; MiniSearch on the same data and queries',
    columns: ['bubbles', 'p50', 'p95', 'MiniSearch p95', 'x MiniSearch'],
    rows,
  };
};

const RECALL_LIMIT = 0.945;

const measureRecall = async (most: number): Promise<{ readonly table: Table; readonly verdicts: readonly Verdict[] }> => {
  const rows: (readonly Cell[])[] = [];
  const verdicts: Verdict[] = [];
  for (const misspellings of ['wikipedia', 'cspell'] as const) {
    const ours = await run<RecallFigures>('ours', { misspellings, most });
    const mini = await run<RecallFigures>('minisearch', { misspellings, most });
    for (const [name, one] of Object.entries({ ours, MiniSearch: mini }))
      rows.push([`${misspellings}, ${one.pairs} of ${one.words} words`, name, one.anywhere, one.onFirstPage, one.p50]);
    verdicts.push({ target: 'search', what: `recall of ${misspellings}`, figure: ours.anywhere, limit: RECALL_LIMIT, wanted: 'least' });
    verdicts.push({
      target: 'search',
      what: `recall of ${misspellings} / MiniSearch`,
      figure: ours.anywhere / mini.anywhere,
      limit: 1,
      wanted: 'least',
    });
  }
  const columns = ['misspellings', 'found by', 'anywhere', 'first 25', 'p50 ms'];
  return { table: { title: 'Recall of real misspellings', columns, rows }, verdicts };
};

interface RoutePlan {
  readonly bubblesEach: number;
  readonly callers: number;
  readonly seconds: number;
}

/** The route of the service: the first search of each caller, then those of one that is warm. */
const measureRoute = async (load: LoadGenerator, { bubblesEach, callers, seconds }: RoutePlan) => {
  const keys = makeKeys();
  const identity = await startIdentity(keys, { accounts: callers });
  const identityUrl = identity.ready.url;
  const seed = { bubbles: bubblesEach * callers, users: callers, readersEach: 1, cards: true };
  const bubbles = await startBubbles(keys, { seed, identityUrl });
  const tokens = identity.ready.seeded.map(({ tokens: [first = ''] }) => first);
  const assertions = await assertionsOf(keys, { identityUrl, tokens });
  const queries = createCorpus(seed.bubbles).queries(20);
  const path = (q: string) => `/v1/bubbles/search?limit=25&q=${encodeURIComponent(q)}`;
  const cold: number[] = [];
  for (const [at, assertion] of assertions.entries()) {
    const began = performance.now();
    const answer = await fetch(`${bubbles.ready.url}${path(queries['one word']?.[at % 20] ?? '')}`, {
      headers: { 'x-internal-assertion': assertion },
    });
    await answer.arrayBuffer();
    cold.push(performance.now() - began);
    if (!answer.ok) throw new Error(`a search answers ${answer.status}`);
  }
  const headers = { 'x-internal-assertion': assertions[0] ?? '' };
  const rows: (readonly Cell[])[] = [];
  for (const [kind, texts] of Object.entries(queries)) {
    const { p50, p99 } = await load.run({
      origin: bubbles.ready.url,
      requests: texts.map((q) => ({ path: path(q), headers })),
      connections: 1,
      seconds,
    });
    if (kind !== WARMING) rows.push([`${bubblesEach}: ${kind}`, p50, p99]);
  }
  await Promise.all([bubbles.stop(), identity.stop()]);
  const figure = percentile(cold.slice(1), 0.95);
  return {
    rows: [
      [`${bubblesEach}: first of a caller (${callers})`, percentile(cold.slice(1), 0.5), figure],
      ...rows,
    ] as readonly (readonly Cell[])[],
    verdicts: limited(COLD_P95, bubblesEach, { what: `cold: ms of p95 at the route at ${bubblesEach}`, figure }),
  };
};

/** Searches: the engine beside MiniSearch, the route of the service, and how many real misspellings are found. */
export const searchPart: Part = async ({ quick, large }) => {
  installBenchPackages();
  const sizes = [1_000, 10_000, ...(quick ? [] : [100_000]), ...(large ? [LARGE] : [])];
  const all: { ours: SearchFigures; mini: SearchFigures | null }[] = [];
  for (const bubbles of sizes) {
    const task = { bubbles, rounds: quick ? 20 : 60 };
    const ours = await run<SearchFigures>('ours', task);
    const mini = bubbles <= (quick ? 1_000 : MINISEARCH_MOST) ? await run<SearchFigures>('minisearch', { ...task, rounds: 20 }) : null;
    all.push({ ours, mini });
  }
  const recall = await measureRecall(quick ? 300 : 1_500);
  const load = await startLoadGenerator();
  const plans = [{ bubblesEach: 1_000, callers: quick ? 3 : 12 }, ...(quick ? [] : [{ bubblesEach: 10_000, callers: 2 }])];
  const routes: Awaited<ReturnType<typeof measureRoute>>[] = [];
  for (const plan of plans) routes.push(await measureRoute(load, { ...plan, seconds: quick ? 0.1 : 0.4 }));
  await load.stop();
  const route = {
    title: 'The route of the service, ms',
    columns: ['bubbles', 'p50', 'p99 (cold: p95)'],
    rows: routes.flatMap(({ rows }) => rows),
  };
  return {
    tables: [engineTable(all), recall.table, route],
    verdicts: [...all.flatMap(({ ours }) => engineVerdicts(ours)), ...recall.verdicts, ...routes.flatMap(({ verdicts }) => verdicts)],
    notes: [],
  };
};
