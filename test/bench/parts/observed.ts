import { startChild } from '../harness/children.ts';
import { assertionsOf, type Keys, makeKeys } from '../harness/credentials.ts';
import { type Dispatcher, type Receiver, startDispatcher } from '../harness/dispatcher.ts';
import { startLoadGenerator } from '../harness/load.ts';
import type { Cell, Part, Verdict } from '../harness/part.ts';
import { median, pairedRatio } from '../harness/statistics.ts';
import { startBubbles, startIdentity } from '../harness/world.ts';

const SEED = { bubbles: 6_000, users: 100, readersEach: 4, cards: false };
const LIST = '/v1/bubbles?limit=25';
const CONNECTIONS = 64;
const AN_HOUR_MS = 3_600_000;
/** Of requests and of deliveries a second. */
const MOST_COST = 0.03;

interface Round {
  readonly perSecond: number;
  /** Of a request or a delivery, in microseconds: unlike the rate, it hardly depends on who else uses the machine. */
  readonly cpuUs: number;
}

interface Rounds {
  readonly measured: readonly Round[];
  readonly unmeasured: readonly Round[];
}

/** One after the other, the first one by turns, so that neither has the quieter half of a round. */
const byTurns = async (count: number, run: (measured: boolean) => Promise<Round>): Promise<Rounds> => {
  const rounds = { measured: [] as Round[], unmeasured: [] as Round[] };
  for (let round = -1; round < count; round += 1)
    for (const measured of round % 2 === 0 ? [true, false] : [false, true]) {
      const figures = await run(measured);
      // The first round warms up.
      if (round >= 0) rounds[measured ? 'measured' : 'unmeasured'].push(figures);
    }
  return rounds;
};

const requests = async (keys: Keys, rounds: number, seconds: number): Promise<Rounds> => {
  const identity = await startIdentity(keys, { accounts: SEED.users });
  const identityUrl = identity.ready.url;
  const services = {
    measured: await startBubbles(keys, { seed: SEED, identityUrl, measured: true }),
    unmeasured: await startBubbles(keys, { seed: SEED, identityUrl }),
  };
  const load = await startLoadGenerator();
  const tokens = identity.ready.seeded.map(({ tokens: [token = ''] }) => token);
  const rates = await byTurns(rounds, async (measured) => {
    const child = services[measured ? 'measured' : 'unmeasured'];
    const origin = child.ready.url;
    const assertions = await assertionsOf(keys, { identityUrl, tokens });
    const asked = assertions.map((assertion) => ({ path: LIST, headers: { 'x-internal-assertion': assertion } }));
    const before = child.cpuMs();
    const { perSecond, answered, others } = await load.run({ connections: CONNECTIONS, seconds, origin, requests: asked });
    if (Object.keys(others).length > 0) throw new Error(`answers ${JSON.stringify(others)}`);
    return { perSecond, cpuUs: ((child.cpuMs() - before) * 1000) / answered };
  });
  await Promise.all([load, identity, services.measured, services.unmeasured].map((child) => child.stop()));
  return rates;
};

const deliveries = async (rounds: number, count: number): Promise<Rounds> => {
  const receiver: Receiver = await startChild({ module: 'processes/webhook-receiver.ts', core: 'rest' });
  const dispatchers: Readonly<Record<string, Dispatcher>> = {
    measured: await startDispatcher({ measured: true }),
    unmeasured: await startDispatcher(),
  };
  let round = 0;
  const rates = await byTurns(rounds, async (measured) => {
    const dispatcher = dispatchers[measured ? 'measured' : 'unmeasured'];
    if (dispatcher === undefined) throw new Error('there are two dispatchers');
    round += 1;
    await dispatcher.perform({ task: 'queue', owner: `round-${round}`, url: receiver.ready.url, count, dueInMs: AN_HOUR_MS });
    await dispatcher.perform({ task: 'put-forward', ms: AN_HOUR_MS });
    const { ms, cpuMs } = await dispatcher.perform({ task: 'work-off' });
    return { perSecond: (count * 1000) / ms, cpuUs: (cpuMs * 1000) / count };
  });
  await Promise.all([...Object.values(dispatchers), receiver].map((child) => child.stop()));
  return rates;
};

/** What the figures of store and broker cost: the same services with and without them, in one run. */
export const observed: Part = async ({ quick }) => {
  const listed = await requests(makeKeys(), quick ? 4 : 12, quick ? 2 : 5);
  const delivered = await deliveries(quick ? 4 : 10, quick ? 2000 : 6000);
  const rows: Cell[][] = [];
  const verdicts: Verdict[] = [];
  for (const [what, { measured, unmeasured }] of [
    ['list of 25', listed],
    ['delivery', delivered],
  ] as const) {
    const of = (rounds: readonly Round[], figure: keyof Round) => rounds.map((round) => round[figure]);
    const ratio = (figure: keyof Round) => pairedRatio(of(measured, figure), of(unmeasured, figure));
    const cells = (figure: keyof Round): Cell[] => [median(of(unmeasured, figure)), median(of(measured, figure)), ratio(figure)];
    rows.push([what, ...cells('perSecond'), ...cells('cpuUs')]);
    verdicts.push({ target: 'observed', what: `${what}, a second`, figure: ratio('perSecond'), limit: 1 - MOST_COST, wanted: 'least' });
    verdicts.push({ target: 'observed', what: `${what}, CPU`, figure: ratio('cpuUs'), limit: 1 + MOST_COST, wanted: 'most' });
  }
  const columns = ['', '/s without', '/s with', 'ratio', 'CPU us without', 'CPU us with', 'ratio'];
  return {
    tables: [{ title: 'The cost of the figures of store and broker', columns, rows }],
    verdicts,
    notes: [],
  };
};
