import { startChild } from '../harness/children.ts';
import { type Receiver, startDispatcher } from '../harness/dispatcher.ts';
import { startLoadGenerator } from '../harness/load.ts';
import type { Cell, Part, Verdict } from '../harness/part.ts';
import { median, medianInterval } from '../harness/statistics.ts';
import { startWorld } from '../harness/world.ts';

const SEED = { bubbles: 2_000, users: 100, readersEach: 4, cards: false };
const LIST = '/v1/bubbles?limit=25';
const CONNECTIONS = 64;
const AN_HOUR_MS = 3_600_000;
/** Of the CPU of a request and of a delivery. */
const MOST_COST = 0.03;

interface Round {
  readonly perSecond: number;
  /** Of a request or a delivery, in all processes that serve it: unlike the rate, it hardly depends on who else uses the machine. */
  readonly cpuUs: number;
}

interface Side {
  run(): Promise<Round>;
  stop(): Promise<void>;
}

/** Both sides of a round, without and with. */
type Pair = readonly [Round, Round];

interface Plan {
  /** Each with processes of its own, since two of the same kind differ a little for as long as they live. */
  readonly generations: number;
  readonly rounds: number;
}

/** Short rounds, the first side by turns, so that what disturbs the machine disturbs both alike. */
const compare = async ({ generations, rounds }: Plan, start: (observed: boolean) => Promise<Side>): Promise<readonly Pair[]> => {
  const pairs: Pair[] = [];
  for (let generation = 0; generation < generations; generation += 1) {
    // Which is started first changes too.
    const order = generation % 2 === 0 ? [false, true] : [true, false];
    const sides = new Map<boolean, Side>();
    for (const observed of order) sides.set(observed, await start(observed));
    for (let round = -1; round < rounds; round += 1) {
      const taken = new Map<boolean, Round>();
      for (const observed of round % 2 === 0 ? [true, false] : [false, true]) {
        const figures = await sides.get(observed)?.run();
        if (figures !== undefined) taken.set(observed, figures);
      }
      const [without, with_] = [taken.get(false), taken.get(true)];
      // The first round warms up.
      if (round >= 0 && without !== undefined && with_ !== undefined) pairs.push([without, with_]);
    }
    for (const side of sides.values()) await side.stop();
  }
  return pairs;
};

/** The path of T2: the gateway with a live check of each credential, and a list behind it. */
const requestSide =
  (seconds: number) =>
  async (observed: boolean): Promise<Side> => {
    const world = await startWorld({ accounts: SEED.users, seed: SEED, observed });
    const load = await startLoadGenerator();
    const processes = [world.gateway, world.identity, world.bubbles];
    const cpuMs = () => processes.reduce((sum, child) => sum + child.cpuMs(), 0);
    const asked = world.tokens.map((token) => ({ path: LIST, headers: { authorization: `Bearer ${token}` } }));
    return {
      async run() {
        const before = cpuMs();
        const plan = { connections: CONNECTIONS, seconds, origin: world.gateway.ready.url, requests: asked };
        const { perSecond, answered, others } = await load.run(plan);
        if (Object.keys(others).some((status) => status !== '429')) throw new Error(`answers ${JSON.stringify(others)}`);
        const all = answered + (others['429'] ?? 0);
        return { perSecond, cpuUs: ((cpuMs() - before) * 1000) / all };
      },
      stop: async () => {
        await Promise.all([load.stop(), world.stop()]);
      },
    };
  };

const deliverySide =
  (receiver: Receiver, count: number) =>
  async (observed: boolean): Promise<Side> => {
    const dispatcher = await startDispatcher({ observed });
    let round = 0;
    return {
      async run() {
        round += 1;
        await dispatcher.perform({ task: 'queue', owner: `round-${round}`, url: receiver.ready.url, count, dueInMs: AN_HOUR_MS });
        await dispatcher.perform({ task: 'put-forward', ms: AN_HOUR_MS });
        const { ms, cpuMs } = await dispatcher.perform({ task: 'work-off' });
        return { perSecond: (count * 1000) / ms, cpuUs: (cpuMs * 1000) / count };
      },
      stop: () => dispatcher.stop(),
    };
  };

const ratios = (pairs: readonly Pair[], figure: keyof Round): readonly number[] =>
  pairs.map(([without, with_]) => with_[figure] / without[figure]);

/** What traces and the figures of store and broker cost: the same processes with and without them, in one run. */
export const observed: Part = async ({ quick }) => {
  const plan = quick ? { generations: 2, rounds: 5 } : { generations: 6, rounds: 10 };
  const listed = await compare(plan, requestSide(1));
  const receiver: Receiver = await startChild({ module: 'processes/webhook-receiver.ts', core: 'rest' });
  const delivered = await compare(plan, deliverySide(receiver, quick ? 1000 : 2000));
  await receiver.stop();
  const rows: Cell[][] = [];
  const verdicts: Verdict[] = [];
  for (const [what, pairs] of [
    ['list of 25', listed],
    ['delivery', delivered],
  ] as const) {
    const cpu = ratios(pairs, 'cpuUs');
    const middle = (side: 0 | 1, figure: keyof Round) => median(pairs.map((pair) => pair[side][figure]));
    const cells = (['cpuUs', 'perSecond'] as const).flatMap((figure) => [
      middle(0, figure),
      middle(1, figure),
      median(ratios(pairs, figure)),
    ]);
    rows.push([what, pairs.length, ...cells, ...medianInterval(cpu)]);
    verdicts.push({ target: 'observed', what: `${what}: CPU with / without`, figure: median(cpu), limit: 1 + MOST_COST, wanted: 'most' });
  }
  const columns = ['', 'rounds', 'CPU us without', 'with', 'ratio', '/s without', 'with', 'ratio', 'CPU ratio from', 'to'];
  return {
    tables: [{ title: 'The cost of traces and of the figures of store and broker', columns, rows }],
    verdicts,
    notes: [
      'The last two columns hold the ratio with 95 % confidence. The CPU of a request is that of gateway, identity and bubbles-query.',
    ],
  };
};
