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

interface Rates {
  readonly measured: readonly number[];
  readonly unmeasured: readonly number[];
}

/** One after the other, the first one by turns, so that neither has the quieter half of a round. */
const byTurns = async (rounds: number, run: (measured: boolean) => Promise<number>): Promise<Rates> => {
  const rates = { measured: [] as number[], unmeasured: [] as number[] };
  for (let round = -1; round < rounds; round += 1)
    for (const measured of round % 2 === 0 ? [true, false] : [false, true]) {
      const rate = await run(measured);
      // The first round warms up.
      if (round >= 0) rates[measured ? 'measured' : 'unmeasured'].push(rate);
    }
  return rates;
};

const requests = async (keys: Keys, rounds: number, seconds: number): Promise<Rates> => {
  const identity = await startIdentity(keys, { accounts: SEED.users });
  const identityUrl = identity.ready.url;
  const services = {
    measured: await startBubbles(keys, { seed: SEED, identityUrl, measured: true }),
    unmeasured: await startBubbles(keys, { seed: SEED, identityUrl }),
  };
  const load = await startLoadGenerator();
  const tokens = identity.ready.seeded.map(({ tokens: [token = ''] }) => token);
  const rates = await byTurns(rounds, async (measured) => {
    const { url: origin } = services[measured ? 'measured' : 'unmeasured'].ready;
    const assertions = await assertionsOf(keys, { identityUrl, tokens });
    const asked = assertions.map((assertion) => ({ path: LIST, headers: { 'x-internal-assertion': assertion } }));
    const { perSecond, others } = await load.run({ connections: CONNECTIONS, seconds, origin, requests: asked });
    if (Object.keys(others).length > 0) throw new Error(`answers ${JSON.stringify(others)}`);
    return perSecond;
  });
  await Promise.all([load, identity, services.measured, services.unmeasured].map((child) => child.stop()));
  return rates;
};

const deliveries = async (rounds: number, count: number): Promise<Rates> => {
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
    const { ms } = await dispatcher.perform({ task: 'work-off' });
    return (count * 1000) / ms;
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
    ['list of 25, requests a second', listed],
    ['deliveries a second', delivered],
  ] as const) {
    const ratio = pairedRatio(measured, unmeasured);
    rows.push([what, median(unmeasured), median(measured), ratio]);
    verdicts.push({ target: '14', what, figure: ratio, limit: 1 - MOST_COST, wanted: 'least' });
  }
  return {
    tables: [{ title: 'The cost of the figures of store and broker', columns: ['', 'without', 'with', 'ratio'], rows }],
    verdicts,
    notes: [],
  };
};
