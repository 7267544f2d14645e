import { assertionsOf, type Keys, makeKeys } from '../harness/credentials.ts';
import { type LoadGenerator, type LoadRequest, startLoadGenerator } from '../harness/load.ts';
import type { Cell, Part, Verdict } from '../harness/part.ts';
import { median, pairedRatio } from '../harness/statistics.ts';
import { startBubbles, startIdentity } from '../harness/world.ts';

const SIZES = [1_000, 10_000, 100_000];
const PAGE = 25;
const LONGEST_PAGE = 100;

const QUERIES = ['first page', 'deep page', 'by id', 'first page of a team'] as const;
type QueryName = (typeof QUERIES)[number];
const LIMITS: Readonly<Partial<Record<QueryName, number>>> = { 'first page': 1.3, 'deep page': 1.5, 'by id': 1.2 };

/** One caller who takes part in that many bubbles. */
interface Size {
  readonly bubbles: number;
  readonly origin: string;
  readonly paths: Readonly<Record<QueryName, readonly string[]>>;
  readonly memoryMb: number;
  stop(): Promise<void>;
}

/** Of the page in the middle. */
const deepCursor = async (origin: string, headers: Readonly<Record<string, string>>, pages: number): Promise<string> => {
  let cursor = '';
  for (let page = 0; page < pages; page += 1) {
    const answer = await fetch(`${origin}/v1/bubbles?limit=${LONGEST_PAGE}${cursor === '' ? '' : `&cursor=${cursor}`}`, { headers });
    const { next_cursor } = (await answer.json()) as { readonly next_cursor: string | null }; // A page of bubbles has it.
    cursor = next_cursor ?? cursor;
  }
  return cursor;
};

interface Callers {
  readonly keys: Keys;
  readonly identityUrl: string;
  readonly token: string;
}

/** Good for a minute. */
const freshHeaders = async ({ keys, identityUrl, token }: Callers): Promise<Readonly<Record<string, string>>> => {
  const [assertion = ''] = await assertionsOf(keys, { identityUrl, tokens: [token] });
  return { 'x-internal-assertion': assertion };
};

const startSize = async (bubbles: number, callers: Callers): Promise<Size> => {
  const { keys, identityUrl } = callers;
  const child = await startBubbles(keys, { seed: { bubbles, users: 1, readersEach: 1, cards: false }, identityUrl });
  const origin = child.ready.url;
  const cursor = await deepCursor(origin, await freshHeaders(callers), bubbles / 2 / LONGEST_PAGE);
  return {
    bubbles,
    origin,
    paths: {
      'first page': [`/v1/bubbles?limit=${PAGE}`],
      'deep page': [`/v1/bubbles?limit=${PAGE}&cursor=${cursor}`],
      'first page of a team': [`/v1/bubbles?limit=${PAGE}&team_id=team-1`],
      'by id': child.ready.seeded.ids.map((id) => `/v1/bubbles/${id}`),
    },
    memoryMb: child.memory().rssMb,
    stop: () => child.stop(),
  };
};

interface Plan {
  readonly callers: Callers;
  readonly rounds: number;
  readonly seconds: number;
}

/** p50 in milliseconds of every round, sizes next to each other. */
const measure = async (
  load: LoadGenerator,
  sizes: readonly Size[],
  { name, callers, rounds, seconds }: Plan & { readonly name: QueryName },
) => {
  const headers = await freshHeaders(callers);
  const times = sizes.map((): number[] => []);
  for (let round = -1; round < rounds; round += 1)
    for (const [at, { origin, paths }] of sizes.entries()) {
      const requests = paths[name].map((path): LoadRequest => ({ path, headers }));
      const { p50, others } = await load.run({ origin, requests, connections: 1, seconds });
      if (Object.keys(others).length > 0) throw new Error(`${name}: answers ${JSON.stringify(others)}`);
      if (round >= 0) times[at]?.push(p50);
    }
  return times;
};

/** Latency at the service, on the embedded engine or that of MONGODB_URL, as one caller's bubbles become more. */
export const listGrowth: Part = async ({ quick }) => {
  const plan = quick ? { rounds: 2, seconds: 0.25 } : { rounds: 5, seconds: 0.5 };
  const keys = makeKeys();
  const identity = await startIdentity(keys, { accounts: 1 });
  const token = identity.ready.seeded[0]?.tokens[0] ?? '';
  const callers = { keys, identityUrl: identity.ready.url, token };
  const sizes: Size[] = [];
  for (const bubbles of quick ? SIZES.slice(0, 2) : SIZES) sizes.push(await startSize(bubbles, callers));
  const load = await startLoadGenerator();
  const rows: (readonly Cell[])[] = [];
  const verdicts: Verdict[] = [];
  for (const name of QUERIES) {
    const times = await measure(load, sizes, { ...plan, callers, name });
    const [first = []] = times;
    rows.push([name, ...times.map(median), ...times.slice(1).map((one) => pairedRatio(one, first))]);
    const limit = LIMITS[name];
    if (limit === undefined) continue;
    for (const [at, one] of times.slice(1).entries()) {
      const what = `${name}: p50 at ${sizes[at + 1]?.bubbles} / at ${sizes[0]?.bubbles} bubbles`;
      verdicts.push({ target: 'T8', what, figure: pairedRatio(one, first), limit, wanted: 'most' });
    }
  }
  await Promise.all([load.stop(), identity.stop(), ...sizes.map((size) => size.stop())]);
  const growth = sizes.slice(1).map(({ bubbles }) => `${bubbles} / ${sizes[0]?.bubbles}`);
  const columns = ['query', ...sizes.map(({ bubbles }) => `p50 ms at ${bubbles}`), ...growth];
  const memory = sizes.map(({ bubbles, memoryMb }) => `${bubbles}: ${Math.round(memoryMb)} MB`).join(', ');
  return {
    tables: [{ title: 'Lists of one caller, c=1', columns, rows }],
    verdicts,
    notes: [`Resident memory of the process: ${memory}.`],
  };
};
